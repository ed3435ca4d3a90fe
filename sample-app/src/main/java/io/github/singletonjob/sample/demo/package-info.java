/**
 * Stages the company: a Postgres, a card network and a mail provider, two server
 * processes, and a terminal that tells what happens. Not meant to be copied.
 */
@NullMarked
package io.github.singletonjob.sample.demo;

import org.jspecify.annotations.NullMarked;
