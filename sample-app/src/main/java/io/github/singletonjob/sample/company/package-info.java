/**
 * A company that sells subscriptions: what an application looks like that uses singleton
 * jobs. Nothing in here knows of the demo.
 */
@NullMarked
package io.github.singletonjob.sample.company;

import org.jspecify.annotations.NullMarked;
