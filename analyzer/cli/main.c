/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analyzer - reports what a recorded job did, and why its devices were idle.
 */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analyzer/cli/diff_run.h"
#include "analyzer/cli/info.h"
#include "analyzer/cli/command_line.h"
#include "analyzer/cli/output_file.h"
#include "analyzer/cli/output_folder.h"
#include "analyzer/cli/analysis.h"
#include "analyzer/cli/query.h"
#include "analyzer/cli/spill.h"
#include "analyzer/export/timeline/device_tracks.h"
#include "analyzer/export/export.h"
#include "analyzer/export/lake/lake.h"
#include "analyzer/import/own_export.h"
#include "analyzer/load/load_pbt.h"
#include "analyzer/model/translate.h"
#include "analyzer/view/overview.h"
#include "analyzer/view/render/utf8.h"
#include "analyzer/view/render/wrap.h"
#include "analyzer/view/render/written.h"
#include "analyzer/view/report.h"
#include "lib/base/duration.h"
#include "lib/base/progress.h"
#include "lib/base/ticker.h"

#define MEMORY (256u << 20) /* the default of --memory */
#define MEMORY_OTHER (88u << 20) /* part of it for the program's needs other than large blocks in memory */
#define PART_OTHER (56u << 20) /* the same if only rows around a part of the time are kept, which need less */
#define EMPTY_PART (-EDOM) /* error of check_window(): wrong usage that shows only when a recording's length is known */
#define PIDS_TOLD 8 /* number of the job's processes listed in the error for an unknown pid */
#define TOP_TEXT 10
#define TOP_JSON 1000 /* of lists without other limit */

static int fail(const char *error)
{
	if (*error)
		fprintf(stderr, "analyzer: %s\n", error);
	return EXIT_FAILURE;
}

static bool to_stdout(const struct options *options)
{
	return !options->output || strcmp(options->output, "-") == 0;
}

static void terminal_options(const struct options *options, struct report_options *report)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
	struct winsize size;

	if (!to_stdout(options) || !isatty(STDOUT_FILENO))
		return;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		report->width = size.ws_col;
	report->colour = (!no_color || !*no_color) && term && strcmp(term, "dumb") != 0;
}

/* Is the output the whole report on one screen? */
static bool is_overview(const struct options *options)
{
	return options->command == COMMAND_REPORT && options->format == FORMAT_TEXT &&
	       !options->full;
}

static struct report_options report_options(const struct options *options)
{
	struct report_options report = {
		.sections = options->sections, .named = options->named,
		.top = options->has_top ? options->top
		       : is_overview(options) ? OVERVIEW_ROWS
					: TOP_TEXT,
	};

	terminal_options(options, &report);
	return report;
}

/* Jobs of MindSpore name these points in the environment; older versions by the variable @older. */
static const char *point_of(const char *option, const char *variable, const char *older)
{
	const char *value = option ? option : getenv(variable);

	if (!value || !*value)
		value = getenv(older);
	return value && *value ? value : NULL;
}

static struct analysis_options analysis_options(const struct options *options,
						const struct model *model)
{
	uint64_t start_ns = model->info.session_start_ns;
	struct analysis_options analysis = {
		.pids = options->pids,
		.tids = options->tids,
		.tid_count = options->tid_count,
		.pid_count = options->pid_count,
		.subtract_probe_cost = options->subtract_probe_cost,
		.operators = options->operators,
		.fp_point = point_of(options->fp_point, "PROFILING_FP_START", "FP_POINT"),
		.bp_point = point_of(options->bp_point, "PROFILING_BP_END", "BP_POINT"),
		.has_steps = options->has_steps,
		.first_step = options->first_step,
		.last_step = options->last_step,
	};

	if (options->has_from &&
	    __builtin_add_overflow(start_ns, options->from_ns, &analysis.from_ns))
		analysis.from_ns = UINT64_MAX;
	if (options->has_to && __builtin_add_overflow(start_ns, options->to_ns, &analysis.to_ns))
		analysis.to_ns = UINT64_MAX;
	if (options->has_top)
		analysis.top = options->top ? options->top : UINT32_MAX;
	else if (options->command == COMMAND_EXPORT)
		analysis.top = UINT32_MAX; /* a timeline shows the causes of every gap */
	else
		analysis.top = options->format == FORMAT_TEXT ? TOP_TEXT : TOP_JSON;
	return analysis;
}

static enum query_format query_format(enum format format)
{
	switch (format) {
	case FORMAT_JSON: return QUERY_JSON;
	case FORMAT_CSV: return QUERY_CSV;
	case FORMAT_MARKDOWN: return QUERY_MARKDOWN;
	default: return QUERY_TABLE;
	}
}

static bool is_part(const struct options *options)
{
	return options->has_from || options->has_to || options->has_steps;
}

static int write_query(FILE *out, const struct options *options, const struct analysis *analysis,
		       char *error, size_t error_size)
{
	const struct report_options report = report_options(options);
	const struct export_options wanted = { .part = is_part(options),
					       .pids = options->pids,
					       .pid_count = options->pid_count };
	struct table_data data;
	int err = table_data_init(&data, analysis->model, &analysis->results, &wanted);

	if (!err)
		err = query_run(out, &data, options->sql, query_format(options->format), &report,
				error, error_size);
	table_data_free(&data);
	return err;
}

/* Returns a negative errno, with the reason in @error unless writing failed. */
static int write_whole(FILE *out, const struct options *options, const struct analysis *analysis,
			  char *error, size_t error_size)
{
	struct report_options report = report_options(options);
	const struct results *results = &analysis->results;

	error[0] = '\0';
	if (options->command == COMMAND_DIFF)
		return diff_run(out, options, &report, error, error_size);
	if (options->command == COMMAND_QUERY)
		return write_query(out, options, analysis, error, error_size);
	if (options->command == COMMAND_INFO && options->format == FORMAT_JSON)
		return info_json(out, analysis->model, results);
	if (options->command == COMMAND_INFO)
		return info_text(out, analysis->model, results, &report);
	if (options->format == FORMAT_HTML)
		return report_html(out, analysis->model, results, &report);
	if (options->format == FORMAT_JSON)
		return report_json(out, analysis->model, results, &report);
	if (is_overview(options))
		return overview_text(out, analysis->model, results, &report);
	return report_text(out, analysis->model, results, &report);
}

/* Wraps prose at the terminal's width; tables do this themselves. */
static int write_document(FILE *out, const struct options *options, const struct analysis *analysis,
			  char *error, size_t error_size)
{
	unsigned int width = report_options(options).width;
	char *text = NULL;
	size_t size = 0;
	FILE *whole;
	int err;

	if (!width || options->format != FORMAT_TEXT || options->command == COMMAND_QUERY)
		return write_whole(out, options, analysis, error, error_size);
	whole = open_memstream(&text, &size);
	err = whole ? write_whole(whole, options, analysis, error, error_size) : -ENOMEM;
	if (whole && fclose(whole) != 0 && !err)
		err = -ENOMEM;
	if (!err)
		err = wrap_text(out, text, width);
	free(text);
	return err ? err : stream_flush(out);
}

static int write_to_file(const struct options *options, const struct analysis *analysis,
			 char *error, size_t error_size)
{
	struct output output;
	FILE *file = NULL;
	int err = output_begin(&output, options->output, error, error_size);

	if (err)
		return err;
	file = fopen(output.temporary, "w");
	if (!file) {
		err = -errno;
	} else {
		err = write_document(file, options, analysis, error, error_size);
		if (fclose(file) != 0 && !err)
			err = -errno;
	}
	if (err && !error[0])
		snprintf(error, error_size, "cannot write %s: %s", options->output, strerror(-err));
	else if (!err)
		err = output_commit(&output, error, error_size);
	output_end(&output);
	return err;
}

static int write_report(const struct options *options, const struct analysis *analysis, char *error,
			size_t error_size)
{
	int err;

	if (!to_stdout(options))
		return write_to_file(options, analysis, error, error_size);
	err = write_document(stdout, options, analysis, error, error_size);
	/* The reader closed the pipe: "analyzer report X | head". */
	if (err == -EPIPE)
		error[0] = '\0';
	else if (err && !error[0])
		snprintf(error, error_size, "cannot write to standard output: %s", strerror(-err));
	return err;
}

static struct export_options export_options(const struct options *options,
					    const struct analysis *analysis)
{
	const struct model *model = analysis->model;
	const struct results *results = &analysis->results;
	bool part = is_part(options);

	return (struct export_options){
		.start_ns = part && results->from_ns > model->info.start_ns ? results->from_ns
									    : model->info.start_ns,
		.end_ns = part && results->to_ns < model->info.end_ns ? results->to_ns
								      : model->info.end_ns,
		.part = part,
		.pids = options->pids,
		.pid_count = options->pid_count,
		.steps = analysis->results.device_steps,
		.scope_depth = options->has_scope_depth ? options->operators.scope_depth
							: SCOPE_DEPTH_DEFAULT,
		.stacks = options->stacks,
		.each_slice = options->no_merge,
	};
}

/* Reports device tasks outside of the trace's time: a device file may cover the whole job. */
static void tell_outside(const struct options *options, const struct analysis *analysis)
{
	const struct model *model = analysis->model;
	struct export_options window = export_options(options, analysis);
	uint32_t outside = 0;

	for (uint32_t i = 0; i < model->tasks.count && options->exporter->cut; i++) {
		const struct device_task *task = &model->tasks.row[i];

		outside += !(task->flags & MODEL_TASK_UNTIMED) &&
			   (task->start_ns >= window.end_ns || task->end_ns <= window.start_ns);
	}
	if (outside && !is_part(options))
		fprintf(stderr,
			"analyzer: %u of %u device tasks are outside of the recording and not in %s\n",
			outside, model->tasks.count, options->output);
}

static void tell_merged(const struct options *options, const char *what, const struct sliver_counts *merged)
{
	if (merged->runs)
		fprintf(stderr,
			"analyzer: %" PRIu64 " %s that are shorter than %" PRIu64
			" us are %" PRIu64 " slices of %s; with --no-merge each is one\n",
			merged->runs, what, merged->resolution_ns / 1000, merged->slices,
			options->output);
}

/* Writes several files into a folder of their own. */
static int export_folder(const struct options *options, const struct analysis *analysis,
			 char *error, size_t error_size)
{
	struct export_options to = export_options(options, analysis);
	struct output_folder folder;
	struct ticker ticker;
	int err = output_folder_begin(&folder, options->output, error, error_size);

	ticker_begin(&ticker, stderr);
	ticker_say(&ticker, "writing %s", options->output);
	if (!err)
		err = options->exporter->write(analysis->model, &analysis->results,
					       folder.temporary, &to, error, error_size);
	ticker_end(&ticker);
	if (!err)
		err = output_folder_mark(&folder, OWN_EXPORT_MARK, error, error_size);
	if (!err)
		err = output_folder_commit(&folder, error, error_size);
	output_folder_end(&folder);
	return err;
}

static int export_file(const struct options *options, const struct analysis *analysis, char *error,
		       size_t error_size)
{
	struct export_options to = export_options(options, analysis);
	struct export_told told = { 0 };
	struct output output;
	struct ticker ticker;
	int err = output_begin(&output, options->output, error, error_size);

	to.told = &told;
	ticker_begin(&ticker, stderr);
	ticker_watch(&ticker, output.temporary, "writing %s", options->output);
	if (!err)
		err = options->exporter->write(analysis->model, &analysis->results,
					       output.temporary, &to, error, error_size);
	ticker_end(&ticker);
	if (!err)
		err = output_commit(&output, error, error_size);
	output_end(&output);
	if (err)
		return err;
	tell_merged(options, "runs on CPUs", &told.slivers);
	tell_merged(options, "calls", &told.calls);
	tell_merged(options, "tasks of devices", &told.tasks);
	return err;
}

static int export_all(const struct options *options, const struct analysis *analysis, char *error,
		      size_t error_size)
{
	int err = options->exporter->folder ? export_folder(options, analysis, error, error_size)
					    : export_file(options, analysis, error, error_size);

	if (!err)
		tell_outside(options, analysis);
	return err;
}

/* Is the output limited to the requested part of the time and results computed around it? */
static bool writes_part(const struct options *options, const struct analysis_wish *wish)
{
	if (options->device_count || !(options->has_from || options->has_to))
		return false;
	if (options->command == COMMAND_EXPORT)
		return options->exporter->of_window;
	/* Tables of all rows contain facts of the whole trace, such as when threads were last seen. */
	return (options->command == COMMAND_REPORT || options->command == COMMAND_QUERY) &&
	       wish->rows != LOAD_ALL;
}

/* Finds what a statement reads; steps need everything. */
static int wish_of_query(const struct options *options, struct analysis_wish *wish, char *error,
			 size_t error_size)
{
	struct query_needs needs;
	int err = query_needs_of(options->sql, &needs, error, error_size);

	if (err || options->has_steps)
		return err;
	wish->sections = needs.sections;
	wish->rows = needs.rows;
	/* Analyses cover all of the time, or the part that options select. */
	wish->instants = !options->has_from && !options->has_to && !options->device_count &&
			 needs.sections == SECTION_TRACE && needs.rows &&
			 needs.part.from_ns < needs.part.to_ns &&
			 (needs.part.from_ns > 0 || needs.part.to_ns < UINT64_MAX);
	if (wish->instants) {
		wish->from_ns = needs.part.from_ns;
		wish->to_ns = needs.part.to_ns;
	}
	return 0;
}

/* Finds what the options need; an export needs everything. */
static int wish_of(const struct options *options, struct analysis_wish *wish, char *error,
		   size_t error_size)
{
	int err = 0;

	*wish = (struct analysis_wish){ .sections = SECTION_ALL };
	if (options->command == COMMAND_INFO)
		wish->sections = SECTION_TRACE | SECTION_CAPTURE;
	else if (options->command == COMMAND_REPORT && !options->has_steps)
		wish->sections = options->sections;
	else if (options->command == COMMAND_QUERY)
		err = wish_of_query(options, wish, error, error_size);
	wish->calls = options->pid_count || options->has_from || options->has_to ||
		      options->subtract_probe_cost;
	wish->part = wish->instants || writes_part(options, wish);
	if (!wish->instants) {
		wish->from_ns = options->has_from ? options->from_ns : 0;
		wish->to_ns = options->has_to ? options->to_ns : UINT64_MAX;
	}
	return err;
}

static int load_all(const struct options *options, struct analysis *analysis, char *error,
		    size_t error_size)
{
	struct analysis_wish wanted;
	struct progress progress;
	int err = wish_of(options, &wanted, error, error_size);

	progress_begin(&progress, stderr);
	wanted.progress = &progress;
	if (!err)
		err = analysis_load_for(analysis, options->traces, options->trace_count, &wanted,
					options->strict, error, error_size);
	progress_wipe(&progress);
	return err;
}

/* Refuses an empty window: the empty report would look like a job that did nothing. */
static int check_window(const struct options *options, const struct analysis *analysis, char *error,
			size_t error_size)
{
	const struct trace_info *info = &analysis->model->info;
	uint64_t lasted_ns = info->session_end_ns - info->session_start_ns;
	char from[32], lasted[32];

	duration_format(lasted_ns, lasted, sizeof(lasted));
	if (options->has_to && options->to_ns == 0)
		snprintf(error, error_size, "%s 0 selects nothing: times count from the beginning%s%s",
			 options->command == COMMAND_EXPORT ? "--until" : "--to",
			 options->trace_count ? ", and the recording lasted " : "",
			 options->trace_count ? lasted : "");
	else if (options->trace_count && options->has_from && options->from_ns >= lasted_ns)
		snprintf(error, error_size, "--from %s is beyond the end: the recording lasted %s",
			 duration_format(options->from_ns, from, sizeof(from)), lasted);
	else
		return 0;
	return EMPTY_PART;
}

/*
 * Refuses unknown processes. The error lists the job's processes, because pids are looked up elsewhere, and mistyped.
 */
static int check_pids(const struct options *options, const struct model *model, char *error,
		      size_t error_size)
{
	uint32_t missing = 0, listed = 0;
	char name[64]; /* any bytes: a process sets its name itself */
	int used;

	while (missing < options->pid_count && model_has_pid(model, options->pids[missing]))
		missing++;
	if (missing == options->pid_count || !model->processes.count)
		return 0;
	used = snprintf(error, error_size, "--pid: process %u does not exist; those of the job are",
			options->pids[missing]);
	for (uint32_t i = 0; i < model->processes.count && listed < PIDS_TOLD; i++) {
		if (!model->processes.row[i].target || used < 0 || (size_t)used >= error_size)
			continue;
		used += snprintf(error + used, error_size - (size_t)used, "%s %u %s", listed++ ? "," : "",
				 model->processes.row[i].pid,
				 printable(model_text(model, model->processes.row[i].name), name, sizeof(name)));
	}
	if (!listed)
		snprintf(error, error_size, "--pid: process %u does not exist; --section processes lists them",
			 options->pids[missing]);
	return EMPTY_PART;
}

/* Reads and analyses, with a line of progress. */
static int analyse(const struct options *options, struct analysis *analysis, char *error,
		   size_t error_size)
{
	struct analysis_options wanted;
	struct ticker ticker;
	int err = load_all(options, analysis, error, error_size);

	ticker_begin(&ticker, stderr);
	analysis->ticker = &ticker;
	if (!err)
		err = analysis_import(analysis, options->devices, options->device_count,
				      options->trace_count == 0, options->strict, error, error_size);
	if (!err)
		err = check_window(options, analysis, error, error_size);
	if (!err && options->command != COMMAND_INFO)
		err = check_pids(options, analysis->model, error, error_size);
	if (!err) {
		wanted = analysis_options(options, analysis->model);
		err = analysis_compute(analysis, &wanted, error, error_size);
	}
	analysis->ticker = NULL;
	ticker_end(&ticker);
	return err;
}

static int run(const struct options *options, struct analysis *analysis, char *error,
	       size_t error_size)
{
	int err;

	/* diff reads two recordings, one after the other. */
	if (options->command == COMMAND_DIFF)
		return write_report(options, analysis, error, error_size);
	err = analyse(options, analysis, error, error_size);
	if (err)
		return err;
	if (options->command == COMMAND_LAKE)
		return write_lake(analysis->model, &analysis->results, options->output,
				  &options->lake, error, error_size);
	if (options->command == COMMAND_EXPORT)
		return export_all(options, analysis, error, error_size);
	return write_report(options, analysis, error, error_size);
}

/* Prints descriptions of the output, without a trace. */
static int describe(const struct options *options, char *error, size_t error_size)
{
	const enum query_format format = query_format(options->format);
	int err = options->command == COMMAND_REPORT ? report_schema(stdout)
		  : options->command == COMMAND_LAKE ? lake_schema(stdout, options->schema_of, format)
						     : query_schema(stdout, options->schema_of, format);

	if (err == -ENOENT)
		snprintf(error, error_size,
			 "unknown table '%s'; analyzer %s --schema lists the tables",
			 options->schema_of,
			 options->command == COMMAND_LAKE ? "lake" : "query");
	else if (err == -EPIPE)
		error[0] = '\0';
	else if (err)
		snprintf(error, error_size, "cannot write to standard output: %s", strerror(-err));
	return err;
}

/* Sets the folders for rows that exceed the memory: the folders in which SQLite puts its files as well. */
static void spill_rows(uint64_t memory, bool part)
{
	const uint64_t other = part ? PART_OTHER : MEMORY_OTHER;
	static const char *folders[5];
	const char *variables[] = { "SQLITE_TMPDIR", "TMPDIR" };

	for (size_t i = 0; i < 2; i++) {
		const char *folder = getenv(variables[i]);

		folders[i] = folder ? folder : "";
	}
	folders[2] = "/var/tmp";
	folders[3] = "/tmp";
	if (!memory)
		memory = MEMORY;
	spill_into(folders, memory > other ? memory - other : 0);
}

int main(int argc, char **argv)
{
	struct analysis analysis = { 0 };
	struct options options;
	char error[1024] = "failed";
	int status = EXIT_SUCCESS, err;

	/* The width of names in tables depends on the locale; number formats must not. */
	setlocale(LC_CTYPE, "");
	/* Makes a closed pipe an error with clean-up, not a signal that leaves files behind. */
	signal(SIGPIPE, SIG_IGN);
	options_parse(argc, argv, &options);
	/* The verdict alone is the output of profctl why. */
	if (options.command == COMMAND_REPORT && options.format == FORMAT_TEXT &&
	    (is_overview(&options) || options.sections == SECTION_VERDICT))
		translate_begin();
	spill_rows(options.memory, options.has_from || options.has_to);
	err = options.schema ? describe(&options, error, sizeof(error))
			     : run(&options, &analysis, error, sizeof(error));
	if (err)
		status = fail(error);
	if (err == EMPTY_PART)
		status = EXIT_USAGE;
	analysis_free(&analysis);
	options_free(&options);
	return status;
}
