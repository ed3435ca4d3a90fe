/**
 * What only the etcd store has to fulfil.
 */
@NullMarked
package io.github.singletonjob.etcd;

import org.jspecify.annotations.NullMarked;
