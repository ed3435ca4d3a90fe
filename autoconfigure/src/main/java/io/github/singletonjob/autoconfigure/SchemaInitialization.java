package io.github.singletonjob.autoconfigure;

/**
 * Whether the tables are created at start.
 */
enum SchemaInitialization {

	/** A table that is missing is created. */
	ALWAYS,

	/** A table that is missing fails the start. */
	NEVER

}
