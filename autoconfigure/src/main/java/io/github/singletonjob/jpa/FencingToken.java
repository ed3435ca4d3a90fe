package io.github.singletonjob.jpa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.github.singletonjob.LeaseLostException;
import io.github.singletonjob.StaleTokenException;
import org.hibernate.annotations.ValueGenerationType;

/**
 * Marks the attribute of an entity that keeps the token of its last writer. It is of type
 * {@code long}, and stands beside a plain {@code @Version}:
 *
 * <pre>
 * private &#64;Version long version;
 * private &#64;FencingToken &#64;Column(nullable = false) long fence;
 * </pre>
 *
 * Hibernate sets it as it writes the row.
 * <ul>
 * <li><b>Inside a run</b> it becomes the run's token, on insert and on update. If the row
 * that was read carries a greater one, then a newer run has written it, and neither an
 * update nor a delete is done: {@link StaleTokenException}. If the run is known to be
 * over, nothing is written either: {@link LeaseLostException}.
 * <li><b>A row that was read before the newer run wrote it</b> still looks right here.
 * The version stops it: {@code OptimisticLockException}. An entity without one is refused
 * at start.
 * <li><b>Outside of any run</b> the row's value stays, also if the entity comes from
 * elsewhere with another one, as a detached entity does; an insert writes 0.
 * <li><b>In nested runs</b> the innermost counts, unless a job is named.
 * </ul>
 * The value that the entity itself brings does not count: a row that was not read, as in
 * a {@code StatelessSession}, is read before the update. To change a token, use SQL.
 * <p>
 * Tokens of different jobs cannot be compared: let one job write a row, or name the one
 * that does. Hibernate does not see rows that a bulk statement or plain SQL writes; such
 * a statement compares the token itself, and raises the version, so that entities that
 * were read before are refused. A row that the newer run has not written yet is not
 * protected, and neither is one that does not exist yet. A {@code StatelessSession}
 * compares the token of the entity in a delete, and refuses an upsert.
 */
@Documented
@Target({ ElementType.FIELD, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@ValueGenerationType(generatedBy = FencingTokenGenerator.class)
public @interface FencingToken {

	/**
	 * The job whose token counts, without the namespace. It is looked for among the
	 * current run and those around it; where it is not, the row is written as outside of
	 * any run.
	 * @return a name, or empty for the innermost run
	 */
	String job() default "";

}
