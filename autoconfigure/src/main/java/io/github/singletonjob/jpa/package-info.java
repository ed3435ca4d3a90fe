/**
 * The token in rows that JPA writes: an attribute of an entity that Hibernate sets, and
 * that never goes down.
 */
@NullMarked
package io.github.singletonjob.jpa;

import org.jspecify.annotations.NullMarked;
