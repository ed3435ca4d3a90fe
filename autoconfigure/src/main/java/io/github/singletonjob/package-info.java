/**
 * What the author of a job types: the annotation {@link SingletonJob}, the current
 * {@link JobRun}, {@link SingletonJobs} for code without the annotation, and the two
 * exceptions by which a run is told that it is over.
 */
@NullMarked
package io.github.singletonjob;

import org.jspecify.annotations.NullMarked;
