/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/command_tables.h"

#define OPTION_OUTPUT                                                                   \
	{                                                                               \
		"output", 'o', "FILE", 0, "write to FILE instead of standard output", 0 \
	}
#define OPTION_FORMAT                                                              \
	{                                                                          \
		"format", KEY_FORMAT, "FORMAT", 0, "text (the default) or json", 0 \
	}
#define OPTION_STRICT                                                                      \
	{                                                                                  \
		"strict", KEY_STRICT, NULL, 0, "fail if any part of a trace or device file is damaged", 0 \
	}
#define OPTION_MEMORY                                                                         \
	{                                                                                     \
		"memory", KEY_MEMORY, "SIZE", 0,                                              \
			"limit of memory, about; further data are in temporary files, which " \
			"takes longer (256M)", 0                                              \
	}
#define OPTION_FROM                                                                      \
	{                                                                                \
		"from", KEY_FROM, "T", 0,                                                \
			"leave out events before T after the start: 1.5s, 200ms, 3us", 0 \
	}
#define OPTION_TO                                                         \
	{                                                                 \
		"to", KEY_TO, "T", 0, "leave out events at or after T", 0 \
	}
#define OPTION_DEVICE                                                                 \
	{                                                                             \
		"device", KEY_DEVICE, "PATH", 0,                                      \
			"also read a device file of another profiler (repeatable)", 0 \
	}
#define OPTION_PID                                                           \
	{                                                                    \
		"pid", KEY_PID, "PID[,PID...]", 0, "only these processes", 0 \
	}
#define OPTION_THREAD                                                                              \
	{                                                                                          \
		"thread", KEY_THREAD, "TID[,TID...]", 0,                                           \
			"report the waits of these threads instead of those chosen automatically", \
			0                                                                          \
	}

#define OPTION_STEP                                                                  \
	{                                                                            \
		"step", KEY_STEP, "A[..B]", 0, "only these steps of the training", 0 \
	}
#define OPTION_FP_POINT                                                             \
	{                                                                           \
		"fp-point", KEY_FP_POINT, "NAME", 0,                                \
			"the operator that begins the forward pass of each step", 0 \
	}
#define OPTION_BP_POINT                                                                            \
	{                                                                                          \
		"bp-point", KEY_BP_POINT, "NAME", 0, "the operator that ends the backward pass", 0 \
	}

static const struct argp_option REPORT_OPTIONS[] = {
	{ "format", KEY_FORMAT, "FORMAT", 0, "text (the default), json or html", 0 },
	OPTION_OUTPUT,
	{ "section", KEY_SECTION, "LIST", 0,
	  "only these sections: " SECTION_NAMES "; all but shapes if not given", 0 },
	{ "full", KEY_FULL, NULL, 0,
	  "print all sections but shapes in text, too, instead of a summary that fits on one screen", 0 },
	{ "top", KEY_TOP, "N", 0, "rows of each table, 0 for all (text: 10; one screen: 4)", 0 },
	{ "schema", KEY_SCHEMA, NULL, 0,
	  "describe the JSON report as a JSON Schema; no trace is needed", 0 },
	OPTION_FROM,
	OPTION_TO,
	OPTION_STEP,
	OPTION_FP_POINT,
	OPTION_BP_POINT,
	OPTION_PID,
	OPTION_THREAD,
	{ "subtract-probe-cost", KEY_SUBTRACT, NULL, 0,
	  "subtract the cost of probes from durations of calls", 0 },
	OPTION_STRICT,
	OPTION_MEMORY,
	OPTION_DEVICE,
	{ NULL, 0, NULL, 0, "Selection and order of operators:", 1 },
	{ "name", KEY_NAME, "WORDS", 0, "only those whose names contain these words, approximately",
	  1 },
	{ "type", KEY_TYPE, "LIST", 0,
	  "only these types of operators, kinds of tasks or cores; * and ? stand for others", 1 },
	{ "input-dtype", KEY_DTYPE, "TYPE", 0, "only those with an input of this shape", 1 },
	{ "aggregate-by", KEY_AGGREGATE_BY, "WHAT", 0,
	  "name (the default), type, core, shape (name and input shapes) or scope (first parts of "
	  "the name)",
	  1 },
	{ "scope-depth", KEY_SCOPE_DEPTH, "N", 0, "parts of a name that make a scope (2)", 1 },
	{ "aggregate", KEY_AGGREGATE, "FIGURE", 0,
	  "value of an operator, from those of its tasks: sum (the default), max, min or mean", 1 },
	{ "min-time", KEY_MIN_TIME, "T", 0, "only those whose value is T or more", 1 },
	{ "max-time", KEY_MAX_TIME, "T", 0, "only those whose value is T or less", 1 },
	{ "order-by", KEY_ORDER_BY, "[+]COLUMN", 0,
	  "value (the default), name, type, count, total, mean, min, max, flops, rate (flops per "
	  "second), utilization, bytes or bandwidth; with +, the smallest first",
	  1 },
	{ 0 },
};

static const struct argp_option EXPORT_OPTIONS[] = {
	/* This "--to" names a format; other commands have a "--to" that is a time. */
	{ "to", KEY_AS, "FORMAT", 0, EXPORT_NAMES, 0 },
	{ "output", 'o', "PATH", 0, "where to write", 0 },
	OPTION_FROM,
	{ "until", KEY_TO, "T", 0, "leave out events at or after T", 0 },
	{ "kind", KEY_KIND, "KIND", 0,
	  "for folded, speedscope and pprof: on-cpu (the default), off-cpu or device", 0 },
	{ "gil", KEY_GIL, NULL, 0,
	  "for folded, speedscope and pprof: only samples of threads that held their Python interpreter's lock", 0 },
	OPTION_STEP,
	OPTION_FP_POINT,
	OPTION_BP_POINT,
	{ "scope-depth", KEY_SCOPE_DEPTH, "N", 0,
	  "levels of scopes (first parts of operators' names) that timelines show, 0 for none (3)",
	  0 },
	{ "no-merge", KEY_NO_MERGE, NULL, 0,
	  "for chrome: write each run on a CPU, call and task, even if they are short and many", 0 },
	OPTION_PID,
	OPTION_STRICT,
	OPTION_MEMORY,
	OPTION_DEVICE,
	{ 0 },
};

static const struct argp_option DIFF_OPTIONS[] = {
	{ "format", KEY_FORMAT, "FORMAT", 0, "text (the default), json or html", 0 },
	OPTION_OUTPUT,
	{ "top", KEY_TOP, "N", 0,
	  "number of changes listed; 0 lists all figures, also unchanged ones (text: 10)", 0 },
	{ "before", KEY_BEFORE, "T..T", 0, "only this part of A: 0s..10s", 0 },
	{ "after", KEY_AFTER, "T..T", 0, "only this part of B, or of A if B is not given", 0 },
	OPTION_STRICT,
	OPTION_MEMORY,
	{ 0 },
};

static const struct argp_option LAKE_OPTIONS[] = {
	{ "output", 'o', "DIR", 0, "the lake; it is created if it does not exist", 0 },
	{ "schema", KEY_SCHEMA, "TABLE", OPTION_ARG_OPTIONAL,
	  "list the lake's tables and their columns, or those of TABLE; no trace is needed", 0 },
	{ "format", KEY_FORMAT, "FORMAT", 0, "with --schema: table (the default), csv or json", 0 },
	{ "rank", KEY_RANK, "N", 0,
	  "rank of the first device whose rank no file has; further ones are numbered on", 0 },
	OPTION_STEP,
	OPTION_FP_POINT,
	OPTION_BP_POINT,
	OPTION_STRICT,
	OPTION_MEMORY,
	OPTION_DEVICE,
	{ 0 },
};

static const struct argp_option INFO_OPTIONS[] = {
	OPTION_FORMAT, OPTION_OUTPUT, OPTION_STRICT, OPTION_MEMORY, OPTION_DEVICE, { 0 },
};

static const struct argp_option QUERY_OPTIONS[] = {
	{ "format", KEY_FORMAT, "FORMAT", 0, "table (the default), csv or json", 0 },
	{ "schema", KEY_SCHEMA, "TABLE", OPTION_ARG_OPTIONAL,
	  "list the tables and their columns, or those of TABLE (--schema=calls); no trace is "
	  "needed",
	  0 },
	OPTION_OUTPUT,
	OPTION_FROM,
	OPTION_TO,
	OPTION_STEP,
	OPTION_PID,
	OPTION_STRICT,
	OPTION_MEMORY,
	OPTION_DEVICE,
	{ 0 },
};

const struct command_help command_table[] = {
	{ "report",
	  COMMAND_REPORT,
	  { REPORT_OPTIONS, NULL, "[TRACE...]",
	    "Report what a recorded job and its machine did, and why its devices were idle.", NULL,
	    NULL, NULL } },
	{ "export",
	  COMMAND_EXPORT,
	  { EXPORT_OPTIONS, NULL, "[TRACE...]", "Write a trace in another tool's format.", NULL,
	    NULL, NULL } },
	{ "query",
	  COMMAND_QUERY,
	  { QUERY_OPTIONS, NULL, "[TRACE...] SQL",
	    "Run one SELECT of SQLite's SQL on the tables of a trace; the trace is not changed.",
	    NULL, NULL, NULL } },
	{ "diff",
	  COMMAND_DIFF,
	  { DIFF_OPTIONS, NULL, "A [B]",
	    "Report what changed between two recordings, or two parts of one, beyond their noise. "
	    "A and B are traces or device files.",
	    NULL, NULL, NULL } },
	{ "lake",
	  COMMAND_LAKE,
	  { LAKE_OPTIONS, NULL, "[TRACE...]",
	    "Add the data for the comparison of ranks to a directory of Parquet files that all hosts of a job share.",
	    NULL, NULL, NULL } },
	{ "info",
	  COMMAND_INFO,
	  { INFO_OPTIONS, NULL, "[TRACE...]",
	    "Print the contents of a trace: header, clocks, sources, losses, damage; and those of "
	    "a device file, with the data in it that could not be interpreted.",
	    NULL, NULL, NULL } },
};

const size_t command_count = sizeof(command_table) / sizeof(command_table[0]);

const char command_general_help[] =
	"usage: analyzer report [TRACE...] [--device PATH]... [--format text|json|html] [-o FILE]\n"
	"                       [--full | --section LIST]\n"
	"                       [--top N] [--from T --to T | --step A..B] [--pid LIST]\n"
	"                       [--subtract-probe-cost] [--strict] [--memory SIZE]\n"
	"       analyzer report --schema\n"
	"       analyzer export [TRACE...] [--device PATH]... -o PATH\n"
	"                       --to FORMAT [--pid LIST] [--strict] [--memory SIZE]\n"
	"       analyzer query  [TRACE...] [--device PATH]... [--format table|csv|json] [-o FILE]\n"
	"                       [--pid LIST] SQL\n"
	"       analyzer query  --schema[=TABLE]\n"
	"       analyzer diff   A [B] [--before T..T] [--after T..T] [--format text|json|html]\n"
	"                       [-o FILE] [--top N] [--strict] [--memory SIZE]\n"
	"       analyzer lake   [TRACE...] [--device PATH]... -o DIR [--rank N] [--strict]\n"
	"                       [--memory SIZE]\n"
	"       analyzer info   [TRACE...] [--device PATH]... [--format text|json] [-o FILE]\n"
	"                       [--strict] [--memory SIZE]\n"
	"\n"
	"TRACE is a .pbt file that profctl recorded, or - for standard input. PATH is what "
	"another\n"
	"profiler wrote of a device; without a TRACE the report is on that alone.\n"
	"analyzer COMMAND --help explains the options of a command.\n";
