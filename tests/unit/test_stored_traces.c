/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The traces in tests/data/traces, from this build and earlier ones, are reported as ever: each value of a stored
 * report is unchanged in the current one, which may have more keys.
 *
 * With PROFBPF_STORE_REPORTS=1 the report of each trace without one is stored. A stored report never changes: if it
 * has to, a promise is broken.
 */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "tests/unit/report_of.h"

#define FOLDER "tests/data/traces"
#define TRACES_MIN 10
#define REPORT_MAX (8u << 20)
#define PATH_LEN 512
#define TOLERANCE 1e-9 /* for numbers with a decimal point: compilers differ in their last digits */

/* ---- Comparison */

struct place {
	const char *trace;
	char path[PATH_LEN];
	size_t differences;
};

static void differs(struct place *place, const char *what)
{
	if (place->differences++ < 20)
		print_error("%s: %s: %s\n", place->trace, place->path, what);
}

static void compare(struct place *place, yajl_val stored, yajl_val now);

static size_t enter(struct place *place, const char *name)
{
	size_t length = strlen(place->path);

	snprintf(place->path + length, sizeof(place->path) - length, ".%s", name);
	return length;
}

static void compare_objects(struct place *place, yajl_val stored, yajl_val now)
{
	for (size_t i = 0; i < stored->u.object.len; i++) {
		const char *key = stored->u.object.keys[i], *path[] = { key, NULL };
		size_t length = enter(place, key);
		yajl_val value = yajl_tree_get(now, path, yajl_t_any);

		if (value)
			compare(place, stored->u.object.values[i], value);
		else
			differs(place, "is not there any more");
		place->path[length] = '\0';
	}
}

static void compare_arrays(struct place *place, yajl_val stored, yajl_val now)
{
	if (stored->u.array.len != now->u.array.len) {
		differs(place, "has another number of entries");
		return;
	}
	for (size_t i = 0; i < stored->u.array.len; i++) {
		char number[32];
		size_t length;

		snprintf(number, sizeof(number), "%zu", i);
		length = enter(place, number);
		compare(place, stored->u.array.values[i], now->u.array.values[i]);
		place->path[length] = '\0';
	}
}

static bool same_number(const char *stored, const char *now)
{
	double a, b;

	if (strcmp(stored, now) == 0)
		return true;
	if (!strpbrk(stored, ".eE"))
		return false;
	a = strtod(stored, NULL);
	b = strtod(now, NULL);
	return fabs(a - b) <= TOLERANCE * fmax(fabs(a), fabs(b));
}

static void compare(struct place *place, yajl_val stored, yajl_val now)
{
	if (stored->type != now->type)
		differs(place, "is of another type");
	else if (YAJL_IS_OBJECT(stored))
		compare_objects(place, stored, now);
	else if (YAJL_IS_ARRAY(stored))
		compare_arrays(place, stored, now);
	else if (YAJL_IS_STRING(stored) && strcmp(stored->u.string, now->u.string) != 0)
		differs(place, now->u.string);
	else if (YAJL_IS_NUMBER(stored) && !same_number(stored->u.number.r, now->u.number.r))
		differs(place, now->u.number.r);
}

/* ---- Reports */

static char *report_now(char *trace)
{
	const struct report_options options = ALL_ROWS;
	const struct analysis_options wanted = { .top = UINT32_MAX };
	char error[512] = "", *text = NULL;
	struct analysis analysis;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	if (analysis_load(&analysis, &trace, 1, false, error, sizeof(error)) ||
	    analysis_compute(&analysis, &wanted, error, sizeof(error)))
		fail_msg("%s: %s", trace, error);
	assert_int_equal(report_json(out, analysis.model, &analysis.results, &options), 0);
	fclose(out);
	analysis_free(&analysis);
	return text;
}

/* Writes the report's path: that of the trace, with .json.gz for .pbt. */
static void report_path(const char *trace, char *path, size_t size)
{
	snprintf(path, size, "%.*s.json.gz", (int)(strlen(trace) - strlen(".pbt")), trace);
}

static char *report_stored(const char *path)
{
	char *text = malloc(REPORT_MAX);
	gzFile file = gzopen(path, "rb");
	int size;

	if (!file)
		fail_msg("%s is missing; PROFBPF_STORE_REPORTS=1 stores reports of new traces",
			 path);
	assert_non_null(text);
	size = gzread(file, text, REPORT_MAX - 1);
	assert_in_range(size, 1, REPORT_MAX - 2);
	text[size] = '\0';
	gzclose(file);
	return text;
}

/* Never overwrites an existing report. */
static void store(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	gzFile file;

	if (fd < 0)
		return;
	file = gzdopen(fd, "wb9");
	assert_non_null(file);
	assert_int_equal(gzwrite(file, text, (unsigned int)strlen(text)), strlen(text));
	assert_int_equal(gzclose(file), 0);
	print_message("stored %s\n", path);
}

static size_t compare_trace(char *trace)
{
	struct place place = { .trace = trace };
	char path[PATH_LEN], *text = report_now(trace);
	yajl_val stored, now = json_parse(text);

	report_path(trace, path, sizeof(path));
	if (getenv("PROFBPF_STORE_REPORTS"))
		store(path, text);
	free(text);
	text = report_stored(path);
	stored = json_parse(text);
	compare(&place, stored, now);
	yajl_tree_free(stored);
	yajl_tree_free(now);
	free(text);
	return place.differences;
}

static int is_trace(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return end && strcmp(end, ".pbt") == 0;
}

static void reports_stay_equal(void **state)
{
	struct dirent **names;
	int count = scandir(FOLDER, &names, is_trace, alphasort);
	size_t differences = 0;

	assert_in_range(count, TRACES_MIN, 1000);
	for (int i = 0; i < count; i++) {
		char trace[PATH_LEN];

		snprintf(trace, sizeof(trace), FOLDER "/%s", names[i]->d_name);
		differences += compare_trace(trace);
		free(names[i]);
	}
	free(names);
	assert_int_equal(differences, 0);
}

/* The comparison itself: keys may be added, values may not change. */
static void what_may_change(void **state)
{
	static const struct {
		const char *stored, *now;
		size_t differences;
	} cases[] = {
		{ "{\"a\":[1,{\"b\":\"x\"}]}", "{\"new\":0,\"a\":[1,{\"c\":2,\"b\":\"x\"}]}", 0 },
		{ "{\"a\":1}", "{\"b\":1}", 1 },
		{ "{\"a\":1}", "{\"a\":2}", 1 },
		{ "{\"a\":1}", "{\"a\":\"1\"}", 1 },
		{ "{\"a\":true}", "{\"a\":false}", 1 },
		{ "{\"a\":[1,2]}", "{\"a\":[1,2,3]}", 1 },
		{ "{\"a\":9007199254740993}", "{\"a\":9007199254740992}", 1 },
		{ "{\"a\":0.5000000000001}", "{\"a\":0.5}", 0 },
		{ "{\"a\":0.5001,\"b\":\"x\"}", "{\"a\":0.5,\"b\":\"y\"}", 2 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		yajl_val stored = json_parse(cases[i].stored), now = json_parse(cases[i].now);
		struct place place = { .trace = "case", .differences = 100 }; /* no messages */

		compare(&place, stored, now);
		assert_int_equal(place.differences - 100, cases[i].differences);
		yajl_tree_free(stored);
		yajl_tree_free(now);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_may_change),
		cmocka_unit_test(reports_stay_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
