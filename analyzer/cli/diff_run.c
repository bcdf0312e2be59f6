/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/diff_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cli/analysis.h"
#include "analyzer/view/diff.h"
#include "lib/base/duration.h"
#include "lib/base/progress.h"
#include "lib/base/ticker.h"
#include "lib/trace/pbt.h"

#define SHORTEST_NS 1000000 /* of a side; too short to contain comparable parts */

/* The sections that compute the compared figures. */
#define DIFF_SECTIONS                                                                           \
	(SECTION_HOST | SECTION_PROCESSES | SECTION_API | SECTION_DEVICES | SECTION_OPERATORS | \
	 SECTION_IDLE | SECTION_PIPELINE | SECTION_STEPS | SECTION_WAITS)

static bool is_trace(const char *path)
{
	char start[PBT_MARK_SIZE];
	FILE *file = fopen(path, "rb");
	size_t got = file ? fread(start, 1, sizeof(start), file) : 0;

	if (file)
		fclose(file);
	return !got || (got == sizeof(start) && memcmp(start + PBT_MARK_SIZE - PBT_SYNC_SIZE,
						       PBT_SYNC, PBT_SYNC_SIZE) == 0);
}

static int load_side(struct analysis *analysis, char *path, bool strict, char *error,
		     size_t error_size)
{
	struct progress progress;
	const struct analysis_wish wish = {
		.sections = DIFF_SECTIONS, .calls = true, .progress = &progress
	};
	bool trace = is_trace(path);
	int err;

	progress_begin(&progress, stderr);
	err = analysis_load_for(analysis, &path, trace, &wish, strict, error, error_size);
	progress_wipe(&progress);
	return err;
}

/* The time with any data: the recording's session, or its devices' windows. */
static void whole(const struct analysis *analysis, uint64_t *from_ns, uint64_t *to_ns)
{
	const struct device_results *devices = analysis->results.devices;

	*from_ns = analysis->model->info.session_start_ns;
	*to_ns = analysis->model->info.session_end_ns;
	if (*to_ns > *from_ns)
		return;
	*from_ns = UINT64_MAX;
	for (uint32_t i = 0; devices && i < devices->device_count; i++) {
		const struct device_usage *usage = &devices->devices[i];

		if (!usage->window_ns)
			continue;
		if (usage->window_start_ns < *from_ns)
			*from_ns = usage->window_start_ns;
		if (usage->window_start_ns + usage->window_ns > *to_ns)
			*to_ns = usage->window_start_ns + usage->window_ns;
	}
}

static int check_part(const struct diff_side *side, uint64_t lasted_ns, char *error,
		      size_t error_size)
{
	char lasted[32];

	if (side->to_ns > side->from_ns && side->to_ns - side->from_ns >= SHORTEST_NS)
		return 0;
	snprintf(error, error_size,
		 "%s: that part has nothing to compare: the recording lasted %s", side->name,
		 duration_format(lasted_ns, lasted, sizeof(lasted)));
	return -EINVAL;
}

static int take_parts(struct analysis *analysis, uint64_t start_ns, const struct diff_side *side,
		      struct figures *parts, char *error, size_t error_size)
{
	uint64_t length_ns = (side->to_ns - side->from_ns) / CHANGE_PARTS;
	struct analysis_options options = { .top = UINT32_MAX };
	int err = 0;

	for (unsigned int i = 0; i < CHANGE_PARTS && !err; i++) {
		options.from_ns = start_ns + side->from_ns + i * length_ns;
		options.to_ns = options.from_ns + length_ns;
		err = analysis_repeat(analysis, &options, error, error_size);
		if (!err)
			err = figures_take(analysis->model, &analysis->results, &parts[i]);
	}
	return err;
}

static int take_side(char *path, const struct diff_range *range, bool strict,
		     struct diff_side *side, struct figures *parts, char *error, size_t error_size)
{
	struct analysis_options options = { .top = 1 };
	struct analysis analysis = { 0 };
	uint64_t from_ns = 0, to_ns = 0;
	struct ticker ticker;
	int err = load_side(&analysis, path, strict, error, error_size);

	ticker_begin(&ticker, stderr);
	analysis.ticker = &ticker;
	if (!err)
		err = analysis_import(&analysis, &path, !is_trace(path), true, strict, error,
				      error_size);
	if (!err)
		err = analysis_compute(&analysis, &options, error, error_size);
	if (!err) {
		whole(&analysis, &from_ns, &to_ns);
		to_ns = to_ns > from_ns ? to_ns - from_ns : 0;
		*side = (struct diff_side){ path, range->from_ns, to_ns };
		if (range->given && range->to_ns < to_ns)
			side->to_ns = range->to_ns;
		err = check_part(side, to_ns, error, error_size);
	}
	if (!err)
		err = take_parts(&analysis, from_ns, side, parts, error, error_size);
	ticker_end(&ticker);
	analysis_free(&analysis);
	return err;
}

int diff_run(FILE *out, const struct options *options, const struct report_options *report,
	     char *error, size_t error_size)
{
	char *after_path = options->traces[options->trace_count - 1];
	struct figures before[CHANGE_PARTS] = { 0 }, after[CHANGE_PARTS] = { 0 };
	struct diff diff = { 0 };
	int err = take_side(options->traces[0], &options->before, options->strict, &diff.before,
			    before, error, error_size);

	if (!err)
		err = take_side(after_path, &options->after, options->strict, &diff.after, after,
				error, error_size);
	if (!err)
		err = changes_find(before, after, &diff.changes);
	if (!err) {
		error[0] = '\0';
		err = options->format == FORMAT_JSON   ? diff_json(out, &diff)
		      : options->format == FORMAT_HTML ? diff_html(out, &diff)
						       : diff_text(out, &diff, report);
	}
	free(diff.changes.row);
	for (unsigned int i = 0; i < CHANGE_PARTS; i++) {
		figures_free(&before[i]);
		figures_free(&after[i]);
	}
	return err;
}
