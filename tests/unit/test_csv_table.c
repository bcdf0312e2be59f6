/* SPDX-License-Identifier: Apache-2.0 */
/* The CSV reader: contents of a field, ends of rows, and that the limits of chunks do not matter. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/import/readers/csv_table.h"

#define CHUNK (256u << 10) /* the reader's block size */

/* Columns A and B of the rows as "[a|b]", - for an absent value; of rows that begin with x only the last. */
struct rows {
	char text[4096];
	bool found[2];
};

static int on_header(void *context, const bool *found)
{
	struct rows *rows = context;

	memcpy(rows->found, found, sizeof(rows->found));
	return 0;
}

static int on_row(void *context, const struct csv_value *values)
{
	struct rows *rows = context;
	size_t used = strlen(rows->text);

	for (int i = 0; i < 2; i++) {
		if (values[i].text)
			assert_int_equal(strlen(values[i].text), values[i].length);
	}
	if (values[0].text && values[0].text[0] == 'x')
		return 0;
	snprintf(rows->text + used, sizeof(rows->text) - used, "[%s|%s]",
		 values[0].text ? values[0].text : "-", values[1].text ? values[1].text : "-");
	return 0;
}

static int read_text(const char *text, size_t size, struct rows *rows)
{
	static const char *const columns[] = { "A|Alpha", "B", NULL };
	struct csv_reader reader = {
		.columns = columns, .header = on_header, .row = on_row, .context = rows
	};
	char path[] = "/tmp/test_csv.XXXXXX", error[256];
	int fd = mkstemp(path), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), (ssize_t)size);
	close(fd);
	*rows = (struct rows){ 0 };
	err = csv_table_read(path, &reader, error, sizeof(error));
	unlink(path);
	return err;
}

static void test_fields(void **state)
{
	static const struct {
		const char *text;
		const char *rows;
	} CASES[] = {
		{ "A,C,B\n1,2,3\n", "[1|3]" },
		{ "A,C,B\r\n1,2,3\r\n4,5,6", "[1|3][4|6]" },
		{ " B , A \n 1 ,\t2\t\n", "[2|1]" },
		{ "\"A\",\"B\"\n\"1\",\"2\"\n", "[1|2]" },
		{ "\xef\xbb\xbf" "A,B\n1,2\n", "[1|2]" },
		{ "A,B\n\"a,b\nc\",2\n", "[a,b\nc|2]" },
		{ "A,B\n\"\"\"8,2048\"\"\",\"\"\n", "[\"8,2048\"|]" },
		{ "A,B\n\"1.5\t\" ,2\n", "[1.5\t|2]" },
		{ "A,B\n1\n\n\n,\n3,4,5,6\n", "[1|-][3|4]" },
		{ "A,B\n1,\n,2", "[1|][|2]" },
		{ "Alpha,B,A\n1,2,3\n", "[3|2]" },
		{ "A,B\nab\"c,2\n", "[ab\"c|2]" },
		{ "A,B\n\"ab\"c,\"2\n3\n\"", NULL },
		{ "", "" },
		{ "\n\r\n", "" },
		{ "A,B", "" },
	};
	struct rows rows;

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		int err = read_text(CASES[i].text, strlen(CASES[i].text), &rows);

		if (!CASES[i].rows)
			continue;
		assert_int_equal(err, 0);
		assert_string_equal(rows.text, CASES[i].rows);
	}
	assert_int_equal(read_text("B\n1\n", 4, &rows), 0);
	assert_false(rows.found[0]);
	assert_true(rows.found[1]);
}

static void test_unfinished(void **state)
{
	struct rows rows;

	assert_int_equal(read_text("A,B\n1,2\n\"3", 10, &rows), -EBADMSG);
	assert_string_equal(rows.text, "[1|2]");
}

/* A row after so many others that the chunk ends at each of its bytes; the same for a header. */
static void test_chunks(void **state)
{
	static const char row[] = "\"a \"\"b\"\"\r\n,c\" ,\"\"\r\n\r\n1,2\r\n";
	size_t length = strlen(row);
	char *text = malloc(2 * CHUNK);
	struct rows rows;

	for (size_t at = 0; at <= length; at++) {
		size_t used = (size_t)sprintf(text, "A,B\n");

		while (used < CHUNK - at - 80)
			used += (size_t)sprintf(text + used, "x23456,\"8901\"\n");
		used += (size_t)sprintf(text + used, "x%0*d\n", (int)(CHUNK - at - used - 2), 0);
		assert_int_equal(used, CHUNK - at);
		strcpy(text + used, row);
		assert_int_equal(read_text(text, used + length, &rows), 0);
		assert_string_equal(rows.text, "[a \"b\"\r\n,c|][1|2]");
	}
	memset(text, 'z', CHUNK - 3);
	strcpy(text + CHUNK - 3, ",\"A\" ,B\n0,1,2\n");
	assert_int_equal(read_text(text, CHUNK - 3 + 14, &rows), 0);
	assert_string_equal(rows.text, "[1|2]");
	free(text);
}

/* A field that spans many chunks. */
static void test_long_field(void **state)
{
	size_t size = 5 * CHUNK + 77;
	char *text = malloc(size + 64);
	struct rows rows;
	size_t used = (size_t)sprintf(text, "A,B\nx,\"");

	memset(text + used, '\n', size);
	strcpy(text + used + size, "\"\n1,2\n");
	assert_int_equal(read_text(text, used + size + 6, &rows), 0);
	assert_string_equal(rows.text, "[1|2]");
	free(text);
}

/* Columns that are not requested by name: those that begin with m, in their order. */
static bool on_more(void *context, uint32_t index, const char *name, size_t length)
{
	uint32_t *count = context;

	if (!length || name[0] != 'm')
		return false;
	*count = index + 1;
	return true;
}

static int on_all(void *context, const struct csv_value *values)
{
	uint32_t *count = context;

	assert_int_equal(*count, 2);
	assert_string_equal(values[0].text, "2");
	assert_string_equal(values[1].text, "1");
	assert_string_equal(values[2].text, "4");
	*count = 99;
	return 0;
}

static void test_more(void **state)
{
	static const char *const columns[] = { "A", NULL };
	char path[] = "/tmp/test_csv.XXXXXX", error[256];
	uint32_t count = 0;
	struct csv_reader reader = {
		.columns = columns, .more = on_more, .row = on_all, .context = &count
	};
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "m1,A,B,m2\n1,2,3,4\n", 18), 18);
	close(fd);
	assert_int_equal(csv_table_read(path, &reader, error, sizeof(error)), 0);
	assert_int_equal(count, 99);
	unlink(path);
}

static bool on_any(void *context, uint32_t index, const char *name, size_t length)
{
	uint32_t *count = context;

	(void)name;
	(void)length;
	*count = index + 1;
	return true;
}

static int on_some(void *context, const struct csv_value *values)
{
	uint32_t *count = context, there = 0;

	assert_string_equal(values[0].text, "7");
	for (uint32_t i = 0; i < *count; i++)
		there += values[1 + i].text != NULL;
	*count = there;
	return 0;
}

/*
 * Regression: empty fields before the header were taken for names, and columns that the header lacks for existing
 * ones.
 */
static void test_more_of_blank_row(void **state)
{
	static const char *const columns[] = { "A", NULL };
	/* The first text leaves values behind that the second must not see. */
	static const char *const texts[] = { "A,b,c,d\n7,8,9,10\n", ",,,\nA\n7\n" };
	static const uint32_t there[] = { 3, 0 };

	for (size_t i = 0; i < 2; i++) {
		char path[] = "/tmp/test_csv.XXXXXX", error[256];
		uint32_t count = 0;
		struct csv_reader reader = {
			.columns = columns, .more = on_any, .row = on_some, .context = &count
		};
		int fd = mkstemp(path);

		assert_true(fd >= 0);
		assert_int_equal(write(fd, texts[i], strlen(texts[i])), strlen(texts[i]));
		close(fd);
		assert_int_equal(csv_table_read(path, &reader, error, sizeof(error)), 0);
		assert_int_equal(count, there[i]);
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_long_field),
		cmocka_unit_test(test_more),
		cmocka_unit_test(test_more_of_blank_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
