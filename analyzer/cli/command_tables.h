/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_tables.h - commands, their options and their help texts.
 *
 * Options are identified by their keys; command_line.c reads them.
 */
#ifndef PROFBPF_ANALYZER_CLI_COMMAND_TABLES_H
#define PROFBPF_ANALYZER_CLI_COMMAND_TABLES_H

#include <argp.h>
#include <stddef.h>

#include "analyzer/export/export.h"
#include "analyzer/view/report.h"

enum command {
	COMMAND_REPORT,
	COMMAND_EXPORT,
	COMMAND_INFO,
	COMMAND_QUERY,
	COMMAND_DIFF,
	COMMAND_LAKE
};

#define FIRST_SECTION(NAME, name) #name
#define NEXT_SECTION(NAME, name) ", " #name
#define SECTION_NAMES SECTIONS(FIRST_SECTION, NEXT_SECTION)

#define FIRST_EXPORTER(name) #name
#define NEXT_EXPORTER(name) ", " #name
#define EXPORT_NAMES EXPORTERS(FIRST_EXPORTER, NEXT_EXPORTER)

enum key {
	KEY_FORMAT = 0x100,
	KEY_SECTION,
	KEY_TOP,
	KEY_FROM,
	KEY_TO,
	KEY_PID,
	KEY_THREAD,
	KEY_STRICT,
	KEY_MEMORY,
	KEY_SUBTRACT,
	KEY_AS,
	KEY_DEVICE,
	KEY_NAME,
	KEY_TYPE,
	KEY_DTYPE,
	KEY_MIN_TIME,
	KEY_MAX_TIME,
	KEY_AGGREGATE,
	KEY_AGGREGATE_BY,
	KEY_ORDER_BY,
	KEY_SCOPE_DEPTH,
	KEY_NO_MERGE,
	KEY_KIND,
	KEY_GIL,
	KEY_STEP,
	KEY_FP_POINT,
	KEY_BP_POINT,
	KEY_SCHEMA,
	KEY_BEFORE,
	KEY_AFTER,
	KEY_FULL,
	KEY_RANK,
};

/* A command and its argp description; command_line.c sets the parser. */
struct command_help {
	const char *name;
	enum command command;
	struct argp argp;
};

extern const struct command_help command_table[];
extern const size_t command_count;

/* The output of analyzer --help. */
extern const char command_general_help[];

#endif /* PROFBPF_ANALYZER_CLI_COMMAND_TABLES_H */
