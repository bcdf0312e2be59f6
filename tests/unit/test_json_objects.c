/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON reader: numbers outside of JSON, arrays as texts, and ends of the file's chunks anywhere. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "analyzer/import/readers/json_objects.h"

#define CHUNK (256u << 10) /* the reader's block size */

/* Objects as "a|b|c;", - for an absent value; objects whose a is "pad" are skipped. */
struct seen {
	char text[8192];
	unsigned int scalars;
};

static int on_object(void *context, const char *list, const struct json_value *values)
{
	struct seen *seen = context;
	size_t used = strlen(seen->text);

	if (values[0].text && strcmp(values[0].text, "pad") == 0)
		return 0;
	for (int i = 0; i < 3; i++) {
		if (values[i].text)
			assert_int_equal(strlen(values[i].text), values[i].length);
		used += (size_t)snprintf(seen->text + used, sizeof(seen->text) - used, "%s%c",
					 values[i].text ? values[i].text : "-", i == 2 ? ';' : '|');
		assert_true(used < sizeof(seen->text));
	}
	return 0;
}

static int on_scalar(void *context, const char *key, const struct json_value *value)
{
	struct seen *seen = context;

	seen->scalars++;
	return 0;
}

/* @objects: arrays are also requested if they contain objects. */
static int read_as(const char *text, bool objects, struct seen *seen)
{
	size_t size = strlen(text);
	const char *const keys[] = { "a", "b", objects ? "c.d[{}]" : "c.d[]", NULL };
	const struct json_reader reader = {
		.keys = keys, .object = on_object, .scalar = on_scalar, .context = seen
	};
	char path[] = "/tmp/test_json_objects.XXXXXX", error[256] = "";
	int fd = mkstemp(path), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), (ssize_t)size);
	close(fd);
	*seen = (struct seen){ 0 };
	err = json_objects_read(path, &reader, error, sizeof(error));
	unlink(path);
	assert_true(!err || error[0]);
	return err;
}

static int read_text(const char *text, struct seen *seen)
{
	return read_as(text, false, seen);
}

static int ignore(void *context, const char *list, const struct json_value *values)
{
	return 0;
}

/* Reads @begin, @size times @of, @end; compressed with gzip if @packed. Returns the reader's result and @error. */
static int read_large(const char *begin, char of, size_t size, const char *end, bool packed,
		      char *error, size_t error_size)
{
	static const char *const KEYS[] = { "a", NULL };
	const struct json_reader reader = { .keys = KEYS, .object = ignore };
	char path[] = "/tmp/test_json_objects.XXXXXX", block[1 << 16];
	int fd = mkstemp(path), err;
	gzFile file = gzdopen(fd, packed ? "wb1" : "wbT");

	assert_non_null(file);
	memset(block, of, sizeof(block));
	gzputs(file, begin);
	for (; size; size -= size < sizeof(block) ? size : sizeof(block))
		assert_true(gzwrite(file, block, size < sizeof(block) ? size : sizeof(block)) > 0);
	gzputs(file, end);
	assert_int_equal(gzclose(file), Z_OK);
	err = json_objects_read(path, &reader, error, error_size);
	unlink(path);
	return err;
}

/* A text without an end is refused long before it needs much time and memory. */
static void test_long_text(void **state)
{
	char error[256];

	for (int packed = 0; packed < 2; packed++) {
		assert_int_equal(read_large("[{\"a\":\"", 'x', JSON_TOKEN_BYTES + 4 * CHUNK, "\"}]",
					    packed, error, sizeof(error)),
				 -EBADMSG);
		assert_non_null(strstr(error, ": a text, number or space of more than 8 MiB"));
		assert_int_equal(strncmp(error, "byte ", 5), 0);
		assert_int_equal(read_large("[{\"a\":", '1', JSON_TOKEN_BYTES + 4 * CHUNK, "}]", packed,
					    error, sizeof(error)),
				 -EBADMSG);
		/* A shorter text is only left out. */
		assert_int_equal(read_large("[{\"a\":\"", 'x', JSON_TOKEN_BYTES - CHUNK, "\"}]",
					    packed, error, sizeof(error)),
				 0);
	}
}

static void check(const char *text, const char *expected)
{
	struct seen seen;

	assert_int_equal(read_text(text, &seen), 0);
	assert_string_equal(seen.text, expected);
}

static void test_literals(void **state)
{
	struct seen seen;

	check("[{\"a\":NaN,\"b\":1}]", "null|1|-;");
	check("[{\"a\":-Infinity,\"b\":Infinity},{\"a\":2,\"b\":nan}]", "null|null|-;2|null|-;");
	/* In unwanted values; in arrays; texts that contain such words stay unchanged. */
	check("[{\"a\":1,\"x\":[NaN,{\"y\":inf}]},{\"a\":\"NaN\",\"b\":\"\\\",NaN,\"}]",
	      "1|-|-;NaN|\",NaN,|-;");
	/* Values from before the first object are not passed on again. */
	assert_int_equal(
		read_text("{\"n\":1,\"l\":[{\"a\":1}],\"m\":2,\"k\":[{\"a\":NaN}]}", &seen), 0);
	assert_string_equal(seen.text, "1|-|-;null|-|-;");
	assert_int_equal(seen.scalars, 2);
	/* Other words are not valid. */
	assert_int_equal(read_text("[{\"a\":NaNa}]", &seen), -EBADMSG);
	assert_int_equal(read_text("[{\"a\":nothing}]", &seen), -EBADMSG);
}

static void test_literal_at_chunk_end(void **state)
{
	static const char rest[] = "{\"a\":-Infinity,\"b\":7}]";
	char *text = malloc(CHUNK + 64);
	struct seen seen;

	assert_non_null(text);
	for (size_t shift = 0; shift < sizeof(rest); shift++) {
		size_t used = (size_t)sprintf(text, "[{\"a\":\"pad\"},");

		memset(text + used, ' ', CHUNK - shift - used);
		strcpy(text + CHUNK - shift, rest);
		assert_int_equal(read_text(text, &seen), 0);
		assert_string_equal(seen.text, "null|7|-;");
	}
	free(text);
}

/* An object that the end of a chunk splits, anywhere; and invalid JSON after thousands of objects. */
static void test_object_at_chunk_end(void **state)
{
	static const char rest[] = "{\"a\":\"x\\\"y\",\"b\":-1.5e3,\"c\":{\"d\":[true,10]}}]";
	char *text = malloc(CHUNK + 128);
	struct seen seen;

	assert_non_null(text);
	for (size_t shift = 0; shift < sizeof(rest); shift++) {
		size_t used = (size_t)sprintf(text, "[{\"a\":\"pad\"},");

		memset(text + used, ' ', CHUNK - shift - used);
		strcpy(text + CHUNK - shift, rest);
		assert_int_equal(read_text(text, &seen), 0);
		assert_string_equal(seen.text, "x\"y|-1.5e3|[true,10];");
		text[strlen(text) - 1] = '}';
		assert_int_equal(read_text(text, &seen), -EBADMSG);
		assert_string_equal(seen.text, "x\"y|-1.5e3|[true,10];");
	}
	free(text);
}

static void test_arrays(void **state)
{
	check("[{\"a\":1,\"c\":{\"d\":[[2, 3],[],[4]]}}]", "1|-|[[2,3],[],[4]];");
	check("[{\"c\":{\"d\":[\"x\", null, true, 1.5]},\"a\":2}]", "2|-|[\"x\",null,true,1.5];");
	check("[{\"a\":[1],\"c\":{\"d\":[]},\"b\":3}]", "-|3|[];");
	/* An array with an object in it has no text; nor has a scalar. */
	check("[{\"c\":{\"d\":[1,{\"a\":9}]},\"a\":2}]", "2|-|-;");
	check("[{\"c\":{\"d\":5},\"a\":2}]", "2|-|-;");
}

static void check_objects(const char *text, const char *expected)
{
	struct seen seen;

	assert_int_equal(read_as(text, true, &seen), 0);
	assert_string_equal(seen.text, expected);
}

static void test_arrays_of_objects(void **state)
{
	check_objects("[{\"c\":{\"d\":[1, {\"a\" : 9, \"b\":[{\"\":\"x:\"}, {}]}, []]},\"a\":2}]",
		      "2|-|[1,{\"a\":9,\"b\":[{\"\":\"x:\"},{}]},[]];");
	check_objects("[{\"a\":[{\"a\":1}],\"c\":{\"d\":[[\"[\"],\"{\"],\"x\":[{\"d\":1}]},\"b\":3}]",
		      "-|3|[[\"[\"],\"{\"];");
	check_objects("[{\"c\":{\"d\":{\"a\":1}},\"a\":2},{\"c\":{\"d\":[]}}]", "2|-|-;-|-|[];");
}

/* A key counts only in its own object. */
static void test_inner_objects(void **state)
{
	check("[{\"x\":{\"a\":1,\"c\":{\"d\":[1]}},\"a\":2}]", "2|-|-;");
	check("[{\"c\":{\"a\":1,\"b\":2,\"x\":{\"d\":[3]},\"d\":[4]},\"b\":5}]", "-|5|[4];");
	check("[{\"a\":{\"a\":1},\"d\":[2],\"\":3,\"c\":{\"\":{},\"d\":[5]}}]", "-|-|[5];");
	check("[{\"c\":[{\"d\":[1]}],\"c.d\":[2],\"b\":3}]", "-|3|-;");
	/* Of two equal keys the last one counts. */
	check("[{\"a\":1,\"c\":{\"d\":[1]},\"a\":2,\"c\":{\"d\":[3]}}]", "2|-|[3];");
}

/* Adds the place and a of an object, as "list[2]=a;". */
struct places {
	struct reader_place place;
	char text[512];
};

static int on_placed(void *context, const char *list, const struct json_value *values)
{
	struct places *places = context;
	size_t used = strlen(places->text);

	assert_string_equal(places->place.list, list);
	snprintf(places->text + used, sizeof(places->text) - used, "%s[%u]=%s;", list,
		 (unsigned int)places->place.object, values[0].text);
	return 0;
}

static void check_places(const char *text, const char *const *lists, const char *expected)
{
	static const char *const KEYS[] = { "a", NULL };
	struct places places = { .text = "" };
	const struct json_reader reader = { .keys = KEYS,
					    .lists = lists,
					    .object = on_placed,
					    .context = &places,
					    .place = &places.place };
	char path[] = "/tmp/test_json_objects.XXXXXX", error[256] = "";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	assert_int_equal(json_objects_read(path, &reader, error, sizeof(error)), 0);
	unlink(path);
	assert_string_equal(places.text, expected);
}

/* An object's index counts all elements of its array, and those of no other array. */
static void test_places(void **state)
{
	static const char *const LISTS[] = { "t.k", "t.m", NULL };

	check_places("[1,{\"a\":1,\"x\":[2,{}]},null,[3,{}],\"x\",{\"a\":2}]", NULL, "[1]=1;[5]=2;");
	check_places("{\"n\":1,\"l\":[{\"a\":1},0,{\"a\":2}],\"m\":[0,{\"a\":NaN}],\"l\":[{\"a\":4}]}", NULL,
		     "l[0]=1;l[2]=2;m[1]=null;l[0]=4;");
	/* rocprof's: the same list once for each process. */
	check_places("{\"t\":[{\"k\":[{\"a\":1},{\"a\":2}],\"m\":[{\"a\":3}]},"
		     "{\"k\":[null,{\"a\":4}],\"y\":[{}],\"m\":[]},{\"m\":[[],{\"a\":5}]}]}",
		     LISTS, "t.k[0]=1;t.k[1]=2;t.m[0]=3;t.k[1]=4;t.m[1]=5;");
}

static void test_long_array(void **state)
{
	size_t size = (2u << 20) + 64, used;
	char *text = malloc(size);
	struct seen seen;

	assert_non_null(text);
	used = (size_t)sprintf(text, "[{\"c\":{\"d\":[");
	while (used < size - 64)
		used += (size_t)sprintf(text + used, "1000,");
	used += (size_t)sprintf(text + used, "1]},\"a\":4}]");
	assert_int_equal(read_text(text, &seen), 0);
	assert_string_equal(seen.text, "4|-|-;");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_literals),
		cmocka_unit_test(test_literal_at_chunk_end),
		cmocka_unit_test(test_object_at_chunk_end),
		cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_arrays_of_objects),
		cmocka_unit_test(test_inner_objects),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_long_array),
		cmocka_unit_test(test_long_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
