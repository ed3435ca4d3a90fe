/**
 * Real servers and processes for tests: everything listens on the loopback interface
 * only, and nothing outlives the JVM that started it.
 */
@NullMarked
package io.github.singletonjob.servers;

import org.jspecify.annotations.NullMarked;
