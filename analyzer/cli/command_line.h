/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_line.h - the command line of analyzer.
 */
#ifndef PROFBPF_ANALYZER_CLI_COMMAND_LINE_H
#define PROFBPF_ANALYZER_CLI_COMMAND_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/cli/command_tables.h"
#include "analyzer/export/export.h"
#include "analyzer/export/lake/lake.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_HTML, FORMAT_CSV, FORMAT_MARKDOWN };

#define EXIT_USAGE 2 /* wrong usage; 1 is "something failed" */

/* A part of a recording, since its beginning. */
struct diff_range {
	bool given;
	uint64_t from_ns;
	uint64_t to_ns;
};

struct options {
	enum command command;
	char **traces; /* not owned */
	unsigned int trace_count;
	char **devices; /* --device PATH; the array is owned */
	unsigned int device_count;
	enum format format;
	const struct exporter *exporter; /* export only */
	bool has_stacks;
	bool gil; /* exports of stacks: STACKS_GIL */
	enum stacks_kind stacks; /* exports of stacks; on-cpu unless has_stacks */
	const char *output; /* NULL or "-": standard output */
	const char *sql; /* query only; NULL: list the tables */
	const char *schema_of; /* with schema: only this table; NULL: all tables */
	bool schema;
	uint32_t sections; /* a set of enum report_section */
	bool full; /* text only: these sections instead of an overview */
	bool named; /* sections were asked for by name */
	bool has_top;
	uint32_t top; /* 0 = all */
	bool has_from;
	bool has_to;
	uint64_t from_ns; /* since the session's start */
	uint64_t to_ns;
	uint32_t *pids;
	uint32_t pid_count;
	uint32_t *tids;
	uint32_t tid_count;
	struct diff_range before, after; /* diff only; trace_count is 1 or 2 */
	bool subtract_probe_cost;
	bool strict;
	uint64_t memory; /* bytes; 0 = the default */
	struct operator_options operators;
	bool has_scope_depth;
	bool no_merge; /* do not merge short slices */
	struct lake_options lake;
	const char *fp_point;
	const char *bp_point;
	bool has_steps;
	uint64_t first_step;
	uint64_t last_step;
};

/*
 * options_parse - read the command line
 *
 * Prints help, version and usage errors itself and then exits with status 0 or EXIT_USAGE. The
 * caller calls options_free().
 */
void options_parse(int argc, char **argv, struct options *options);
void options_free(struct options *options);

/*
 * parse_operator_by, parse_operator_value, parse_operator_order - how operators are summed up and sorted
 *
 * "name", "type", "core", "shape", "scope"; "sum", "max", "min", "mean"; a column, with a leading + for ascending
 * order. Return false if @text is none of these.
 */
bool parse_operator_by(const char *text, struct operator_options *options);
bool parse_operator_value(const char *text, struct operator_options *options);
bool parse_operator_order(const char *text, struct operator_options *options);

/* parse_steps - "3" or "3..5"; returns false if @text is neither */
bool parse_steps(const char *text, uint64_t *first, uint64_t *last);

/* parse_numbers - numbers separated by commas; the caller frees *numbers. Returns false if @text is not such a list. */
bool parse_numbers(const char *text, uint32_t **numbers, uint32_t *count);

/* parse_sections - names of sections separated by commas to a set of enum report_section */
bool parse_sections(const char *text, uint32_t *sections);

#endif /* PROFBPF_ANALYZER_CLI_COMMAND_LINE_H */
