/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On the stored traces: the counts of a trace without its rows equal the sums of its rows; a section alone, for which
 * only the needed rows are loaded, equals the same section among all others; and so does a section of a part of the
 * time, for which only rows around the part are loaded.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/cli/info.h"
#include "analyzer/cli/analysis.h"

#define FOLDER "tests/data/traces"
#define TRACES_MIN 10
#define PARTS_MIN 10
/* Sections that depend on the part alone, and on nothing found in the whole recording. */
#define OF_THE_PART                                                                              \
	(SECTION_HOST | SECTION_PROCESSES | SECTION_API | SECTION_IOCTL | SECTION_IO |           \
	 SECTION_DEVICES | SECTION_OPERATORS | SECTION_OVERLAP | SECTION_COMMUNICATION |        \
	 SECTION_IDLE | SECTION_MEMORY | SECTION_STACKS | SECTION_PYTHON)

/* Totals of all traces and parts. */
static uint64_t rows_of_all, rows_of_part;
static uint32_t parts; /* parts for which only rows around them were loaded */

static char *info_of(struct analysis *analysis, int err, const char *trace)
{
	const struct analysis_options wanted = { 0 };
	char error[512] = "", *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	if (err || analysis_compute(analysis, &wanted, error, sizeof(error)))
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
	const struct analysis_wish few = { .sections = SECTION_TRACE | SECTION_CAPTURE };
	struct analysis loaded, surveyed;
	char error[512] = "", *whole, *counted;
	int err = analysis_load(&loaded, &trace, 1, false, error, sizeof(error));

	whole = info_of(&loaded, err, trace);
	err = analysis_load_for(&surveyed, &trace, 1, &few, false, error, sizeof(error));
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

static char *section_of(struct analysis *analysis, uint32_t section)
{
	const struct report_options options = { .sections = section };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(report_json(out, analysis->model, &analysis->results, &options), 0);
	fclose(out);
	return text;
}

static void compare_section(struct analysis *all, char *trace, uint32_t section)
{
	const struct analysis_options wanted = { 0 };
	const struct analysis_wish wish = { .sections = section };
	struct analysis alone;
	char error[512] = "", *expected = section_of(all, section), *got;

	if (analysis_load_for(&alone, &trace, 1, &wish, false, error, sizeof(error)) ||
	    analysis_compute(&alone, &wanted, error, sizeof(error)))
		fail_msg("%s: %s", trace, error);
	got = section_of(&alone, section);
	if (strcmp(got, expected) != 0)
		print_error("%s: section 0x%x\n", trace, section);
	assert_string_equal(got, expected);
	free(got);
	free(expected);
	analysis_free(&alone);
}

static void compare_sections(char *trace)
{
	const struct analysis_options wanted = { 0 };
	struct analysis all;
	char error[512] = "";

	if (analysis_load(&all, &trace, 1, false, error, sizeof(error)) ||
	    analysis_compute(&all, &wanted, error, sizeof(error)))
		fail_msg("%s: %s", trace, error);
	for (uint32_t section = 1; section & SECTION_ALL; section <<= 1)
		compare_section(&all, trace, section);
	analysis_free(&all);
}

static void same_threads(const struct model *all, const struct model *part)
{
	assert_int_equal(all->threads.count, part->threads.count);
	for (uint32_t i = 0; i < all->threads.count; i++) {
		assert_int_equal(part->threads.row[i].first_ns, all->threads.row[i].first_ns);
		assert_int_equal(part->threads.row[i].last_ns, all->threads.row[i].last_ns);
	}
}

/*
 * Compares the part of a trace between two percentages, from the rows around it and from all rows. Loops of calls and
 * feeders are searched for in that part, too.
 */
static void compare_part(char *trace, uint64_t lasted_ns, uint64_t from, uint64_t to, uint32_t sections)
{
	struct analysis_wish wish = { .sections = sections, .calls = sections == SECTION_ALL };
	struct analysis_options wanted = { 0 };
	struct analysis all, part;
	char error[512] = "";

	wish.from_ns = lasted_ns * from / 100;
	wish.to_ns = lasted_ns * to / 100;
	wish.margin_ns = 1;
	assert_int_equal(analysis_load_for(&all, &trace, 1, &wish, false, error, sizeof(error)), 0);
	wish.part = true;
	assert_int_equal(analysis_load_for(&part, &trace, 1, &wish, false, error, sizeof(error)),
			 0);
	all.model->survey.from_ns = part.model->survey.from_ns;
	all.model->survey.to_ns = part.model->survey.to_ns;
	all.model->survey.all_calls = part.model->survey.all_calls;
	parts += part.model->survey.to_ns != 0;
	same_threads(all.model, part.model);
	wanted.from_ns = all.model->info.session_start_ns + wish.from_ns;
	wanted.to_ns = all.model->info.session_start_ns + wish.to_ns;
	assert_int_equal(analysis_compute(&all, &wanted, error, sizeof(error)), 0);
	assert_int_equal(analysis_compute(&part, &wanted, error, sizeof(error)), 0);
	rows_of_all += all.model->calls.count + all.model->switches.count + all.model->ioctls.count;
	rows_of_part +=
		part.model->calls.count + part.model->switches.count + part.model->ioctls.count;
	for (uint32_t section = 1; section & SECTION_ALL; section <<= 1) {
		char *expected, *got;

		if (!(section & sections))
			continue;
		expected = section_of(&all, section);
		got = section_of(&part, section);
		if (strcmp(got, expected) != 0)
			print_error("%s: section 0x%x, %u to %u %%\n", trace, section,
				    (unsigned int)from, (unsigned int)to);
		assert_string_equal(got, expected);
		free(expected);
		free(got);
	}
	analysis_free(&all);
	analysis_free(&part);
}

static void compare_parts(char *trace)
{
	const struct analysis_wish few = { .sections = SECTION_TRACE };
	struct analysis brief;
	uint64_t lasted_ns;
	char error[512] = "";

	assert_int_equal(analysis_load_for(&brief, &trace, 1, &few, false, error, sizeof(error)),
			 0);
	lasted_ns = brief.model->info.session_end_ns - brief.model->info.session_start_ns;
	analysis_free(&brief);
	for (int i = 0; i < 2; i++) {
		uint32_t sections = i ? OF_THE_PART : SECTION_ALL;

		compare_part(trace, lasted_ns, 0, 10, sections);
		compare_part(trace, lasted_ns, 30, 40, sections);
		compare_part(trace, lasted_ns, 50, 51, sections);
		compare_part(trace, lasted_ns, 70, 100, sections);
	}
}

/* A pipe cannot be read twice, whatever rows turn out to be needed. */
static void take_from_pipe(char *trace)
{
	const struct analysis_wish wish = { .sections = SECTION_ALL, .to_ns = 1000000, .part = true };
	char bytes[65536], path[32], *name = path, error[512] = "";
	FILE *file = fopen(trace, "re");
	struct analysis analysis;
	size_t size;
	int ends[2];

	assert_non_null(file);
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	assert_true(size && size < sizeof(bytes));
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], bytes, size), size);
	close(ends[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	if (analysis_load_for(&analysis, &name, 1, &wish, false, error, sizeof(error)))
		fail_msg("%s: %s", trace, error);
	assert_int_equal(analysis.model->survey.to_ns, 0);
	analysis_free(&analysis);
	close(ends[0]);
}

static void each_trace(void (*check)(char *trace))
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
		check(path);
		traces++;
	}
	closedir(folder);
	assert_true(traces >= TRACES_MIN);
}

static void counts_are_those_of_rows(void **state)
{
	(void)state;
	each_trace(compare);
}

static void sections_alone_are_the_same(void **state)
{
	(void)state;
	each_trace(compare_sections);
}

static void parts_are_those_of_the_whole(void **state)
{
	(void)state;
	each_trace(compare_parts);
	assert_true(parts >= PARTS_MIN);
}

static void parts_come_through_pipes(void **state)
{
	(void)state;
	each_trace(take_from_pipe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_those_of_rows),
		cmocka_unit_test(sections_alone_are_the_same),
		cmocka_unit_test(parts_are_those_of_the_whole),
		cmocka_unit_test(parts_come_through_pipes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
