package io.github.singletonjob.etcd;

/**
 * The names of the keys of one job.
 *
 * @param lease there while the job is held
 * @param offset what is added to the revision that is the token
 * @param record fire times, and how the last holder left the job
 * @param queue what the keys of those who stand by begin with
 */
record JobKeys(String lease, String offset, String record, String queue) {

}
