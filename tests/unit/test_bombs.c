/* SPDX-License-Identifier: Apache-2.0 */
/* Small files that expand to much memory or time: gzip, zlib, long texts. */
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

#include "analyzer/import/readers/csv_table.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/readers/input_file.h"
#include "analyzer/import/readers/proto_fields.h"

#define BLOCK (1u << 20)

struct bomb {
	char path[32];
	size_t size; /* size of the file */
};

/* Compresses @begin and then @blocks blocks of byte @of with gzip. */
static struct bomb make_bomb(const char *begin, char of, size_t blocks)
{
	struct bomb bomb = { .path = "/tmp/test_bombs.XXXXXX" };
	char *block = malloc(BLOCK);
	int fd = mkstemp(bomb.path);
	FILE *there;
	gzFile file = gzdopen(fd, "wb9");

	assert_true(file && block);
	memset(block, of, BLOCK);
	gzputs(file, begin);
	for (size_t i = 0; i < blocks; i++)
		assert_int_equal(gzwrite(file, block, BLOCK), BLOCK);
	assert_int_equal(gzclose(file), Z_OK);
	free(block);
	there = fopen(bomb.path, "r");
	assert_true(there && !fseek(there, 0, SEEK_END));
	bomb.size = (size_t)ftell(there);
	fclose(there);
	return bomb;
}

static int ignore_field(void *context, const struct proto_field *field)
{
	return 0;
}

/* A protobuf text of 100 MiB in 100 KiB: no more than the limit is unpacked, and the reason is reported. */
static void test_gzip(void **state)
{
	struct bomb bomb = make_bomb("\x0a\x80\x80\x80\x32", 'x', 100);
	char error[256] = "", *bytes = malloc(BLOCK);
	struct input_file file;
	uint64_t total = 0;
	int got;

	assert_non_null(bytes);
	assert_int_equal(input_file_open(&file, bomb.path, error, sizeof(error)), 0);
	while ((got = input_file_read(&file, bytes, BLOCK, error, sizeof(error))) > 0)
		total += (uint64_t)got;
	input_file_close(&file);
	free(bytes);
	assert_int_equal(got, -EBADMSG);
	assert_non_null(strstr(error, "unpacks to more than 100 times its size"));
	assert_non_null(strstr(error, "gunzip"));
	assert_in_range(total, INPUT_UNPACKED_FREE, input_unpacked_max(bomb.size));
	assert_int_equal(proto_file_each(bomb.path, ignore_field, NULL, error, sizeof(error)),
			 -EBADMSG);
	assert_non_null(strstr(error, "byte 0: unpacks to more than 100 times its size"));
	unlink(bomb.path);
}

/* A file that unpacks to less than the limit is imported, however small it is. */
static void test_gzip_small(void **state)
{
	struct bomb bomb = make_bomb("\x0a\x80\x80\x80\x04", 'x', 8);
	char error[256] = "";

	assert_in_range(bomb.size, 1, 32768);
	assert_int_equal(proto_file_each(bomb.path, ignore_field, NULL, error, sizeof(error)), 0);
	unlink(bomb.path);
}

static int ignore_row(void *context, const struct csv_value *values)
{
	return 0;
}

static void test_csv_row(void **state)
{
	static const char *const COLUMNS[] = { "a", NULL };
	const struct csv_reader reader = { .columns = COLUMNS, .row = ignore_row };
	struct bomb bomb = make_bomb("a\n1\n\"", 'x', 40);
	char error[256] = "";

	assert_int_equal(csv_table_read(bomb.path, &reader, error, sizeof(error)), -EBADMSG);
	assert_non_null(strstr(error, "byte 4: a row of more than 8 MiB"));
	unlink(bomb.path);
}

static size_t put_length(uint8_t *to, uint8_t tag, size_t length)
{
	size_t used = 0;

	to[used++] = tag;
	for (; length >= 0x80; length >>= 7)
		to[used++] = (uint8_t)(length | 0x80);
	to[used++] = (uint8_t)length;
	return used;
}

/* Compressed packets of a Perfetto trace, each expanding to 32 MiB of zeros. */
static void test_perfetto(void **state)
{
	const size_t size = 32u << 20;
	uint8_t *zeros = calloc(1, size), *packed = malloc(compressBound(size)), head[16];
	uLongf length = compressBound(size);
	struct model *model = model_new();
	char path[] = "/tmp/test_bombs.XXXXXX", error[1024];
	FILE *file = fdopen(mkstemp(path), "w");
	bool told = false;

	assert_true(zeros && packed && model && file);
	assert_int_equal(compress2(packed, &length, zeros, size, 9), Z_OK);
	for (int i = 0; i < 8; i++) {
		uint8_t inner[16];
		/* Field 50 has a two-byte tag. */
		size_t inner_size = 1 + put_length(inner + 1, 0x03, length);

		inner[0] = 0x92;
		fwrite(head, 1, put_length(head, 0x0a, inner_size + length), file);
		fwrite(inner, 1, inner_size, file);
		fwrite(packed, 1, length, file);
	}
	assert_int_equal(fclose(file), 0);
	import_as(&import_perfetto, model, path, true, error, sizeof(error));
	for (uint32_t i = 0; i < model->findings.count; i++)
		told |= strstr(model_text(model, model->findings.row[i].what),
			       "100 times the file") != NULL;
	assert_true(told);
	unlink(path);
	model_free(model);
	free(zeros);
	free(packed);
}

static void test_text(void **state)
{
	struct model *model = model_new();
	size_t size = 4 * MODEL_TEXT_MAX;
	char *text = malloc(size + 1);
	uint32_t id;

	assert_true(model && text);
	memset(text, 'x', size);
	text[size] = '\0';
	id = model_string(model, text);
	assert_int_equal(strlen(model_text(model, id)), MODEL_TEXT_MAX);
	assert_int_equal(model_string(model, NULL), 0);
	free(text);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gzip),	cmocka_unit_test(test_gzip_small),
		cmocka_unit_test(test_csv_row), cmocka_unit_test(test_perfetto),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
