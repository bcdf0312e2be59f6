/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analyzer - says what a recorded job did, and why its devices were idle.
 */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analyzer/info.h"
#include "analyzer/options.h"
#include "analyzer/output.h"
#include "analyzer/pipeline.h"
#include "analyzer/write/export.h"
#include "analyzer/write/report.h"

#define TOP_TEXT 10
#define TOP_JSON 1000 /* of lists that could be endless */

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

static struct report_options report_options(const struct options *options)
{
	struct report_options report = {
		.sections = options->sections,
		.top = options->has_top ? options->top : TOP_TEXT,
	};

	terminal_options(options, &report);
	return report;
}

static struct analysis_options analysis_options(const struct options *options,
						const struct model *model)
{
	uint64_t start_ns = model->info.session_start_ns;
	struct analysis_options analysis = {
		.pids = options->pids,
		.pid_count = options->pid_count,
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
		analysis.top = options->format == FORMAT_JSON ? TOP_JSON : TOP_TEXT;
	return analysis;
}

static int write_document(FILE *out, const struct options *options, const struct analysis *analysis)
{
	struct report_options report = report_options(options);
	const struct results *results = &analysis->results;

	if (options->command == COMMAND_INFO && options->format == FORMAT_JSON)
		return info_json(out, analysis->model, results);
	if (options->command == COMMAND_INFO)
		return info_text(out, analysis->model, results, &report);
	if (options->format == FORMAT_JSON)
		return report_json(out, analysis->model, results, &report);
	return report_text(out, analysis->model, results, &report);
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
		err = write_document(file, options, analysis);
		if (fclose(file) != 0 && !err)
			err = -errno;
	}
	if (err)
		snprintf(error, error_size, "cannot write %s: %s", options->output, strerror(-err));
	else
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
	err = write_document(stdout, options, analysis);
	/* Who reads has seen enough: "analyzer report X | head". */
	if (err == -EPIPE)
		error[0] = '\0';
	else if (err)
		snprintf(error, error_size, "cannot write to standard output: %s", strerror(-err));
	return err;
}

static int export(const struct options *options, const struct analysis *analysis, char *error,
		  size_t error_size)
{
	const struct model *model = analysis->model;
	struct export_options to = {
		.start_ns = model->info.start_ns,
		.end_ns = model->info.end_ns,
		.pids = options->pids,
		.pid_count = options->pid_count,
	};
	struct output output;
	int err = output_begin(&output, options->output, error, error_size);

	if (err)
		return err;
	if (options->export_to == EXPORT_PERFETTO)
		err = write_perfetto(model, analysis->results.devices, output.temporary, &to, error,
				     error_size);
	else
		err = write_chrome(model, analysis->results.devices, output.temporary, &to, error,
				   error_size);
	if (!err)
		err = output_commit(&output, error, error_size);
	output_end(&output);
	return err;
}

static int run(const struct options *options, struct analysis *analysis, char *error,
	       size_t error_size)
{
	struct analysis_options wanted;
	int err = analysis_load(analysis, options->traces, options->trace_count, options->strict,
				error, error_size);

	if (err)
		return err;
	wanted = analysis_options(options, analysis->model);
	err = analysis_compute(analysis, &wanted, error, error_size);
	if (err)
		return err;
	if (options->command == COMMAND_EXPORT)
		return export(options, analysis, error, error_size);
	return write_report(options, analysis, error, error_size);
}

int main(int argc, char **argv)
{
	struct analysis analysis = { 0 };
	struct options options;
	char error[1024] = "failed";
	int status = EXIT_SUCCESS;

	/* Widths of names in tables depend on it; digits and dots must not. */
	setlocale(LC_CTYPE, "");
	/* An error to clean up after, not a signal that leaves files behind. */
	signal(SIGPIPE, SIG_IGN);
	options_parse(argc, argv, &options);
	if (run(&options, &analysis, error, sizeof(error)) != 0)
		status = fail(error);
	analysis_free(&analysis);
	options_free(&options);
	return status;
}
