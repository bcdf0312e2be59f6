/* SPDX-License-Identifier: Apache-2.0 */
/* What is counted of a trace without its rows is what its rows add up to: of the stored traces. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/info.h"
#include "analyzer/pipeline.h"

#define FOLDER "tests/data/traces"
#define TRACES_MIN 10

static char *info_of(struct analysis *analysis, int err, const char *trace)
{
	const struct analysis_options wanted = { 0 };
	char error[512] = "", *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	if (err || analysis_compute_capture(analysis, &wanted, error, sizeof(error)))
		fail_msg("%s: %s", trace, error);
	assert_int_equal(info_json(out, analysis->model, &analysis->results), 0);
	fclose(out);
	return text;
}

static void check_rows_are_not_kept(const struct model *model)
{
	assert_int_equal(model->calls.count, 0);
	assert_int_equal(model->ioctls.count, 0);
	assert_int_equal(model->switches.count, 0);
	assert_int_equal(model->wakes.count, 0);
	assert_int_equal(model->tasks.count, 0);
}

static void compare(char *trace)
{
	struct analysis loaded, surveyed;
	char error[512] = "", *whole, *counted;
	int err = analysis_load(&loaded, &trace, 1, false, error, sizeof(error));

	whole = info_of(&loaded, err, trace);
	err = analysis_survey(&surveyed, trace, false, error, sizeof(error));
	counted = info_of(&surveyed, err, trace);
	check_rows_are_not_kept(surveyed.model);
	if (strcmp(whole, counted) != 0)
		print_error("%s\n", trace);
	assert_string_equal(counted, whole);
	free(whole);
	free(counted);
	analysis_free(&loaded);
	analysis_free(&surveyed);
}

static void stored_traces(void **state)
{
	DIR *folder = opendir(FOLDER);
	int traces = 0;

	assert_non_null(folder);
	for (struct dirent *entry; (entry = readdir(folder));) {
		const char *suffix = strrchr(entry->d_name, '.');
		char path[512];

		if (!suffix || strcmp(suffix, ".pbt") != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", FOLDER, entry->d_name);
		compare(path);
		traces++;
	}
	closedir(folder);
	assert_true(traces >= TRACES_MIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(stored_traces) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
