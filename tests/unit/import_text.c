/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/import_text.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "analyzer/import/importer.h"
#include "analyzer/join/clock/device_clock.h"
#include "analyzer/join/launch/launches.h"

#define CUTS 400 /* maximum number of lengths at which a file is truncated */

static char root[64];

int import_root_make(void **state)
{
	(void)state;
	strcpy(root, "/tmp/import_root.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

int import_root_remove(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

const char *import_root(void)
{
	return root;
}

const char *import_in_root(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	return path;
}

const char *import_make_folder(const char *name)
{
	const char *path = import_in_root(name);
	char command[320];

	snprintf(command, sizeof(command), "mkdir -p %s", path);
	assert_int_equal(system(command), 0);
	return path;
}

static void join(struct model *model)
{
	struct device_clock *clocks = calloc(model->devices.count + 1, sizeof(*clocks));
	struct launch_join launches;

	assert_int_equal(device_clocks_join(model, clocks), 0);
	assert_int_equal(launches_join(model, &launches), 0);
	free(clocks);
}

static struct model *take(const char *name, const void *text, size_t size, bool packed, int *error)
{
	char folder[] = "/tmp/import_text.XXXXXX", path[256], words[1024] = "";
	struct model *model = model_new();
	gzFile file;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = gzopen(path, packed ? "wb1" : "wbT");
	assert_non_null(file);
	assert_int_equal(gzwrite(file, text, (unsigned int)size), (int)size);
	gzclose(file);
	*error = import_device_file(model, path, true, words, sizeof(words));
	assert_int_equal(import_finish(model, true), 0);
	unlink(path);
	rmdir(folder);
	if (*error)
		assert_non_null(strstr(words, path));
	join(model);
	return model;
}

struct model *import_text(const char *name, const void *text, size_t size, int *error)
{
	return take(name, text, size, false, error);
}

void import_write(const char *folder, const char *name, const void *bytes, size_t size)
{
	char path[256];
	FILE *file;

	assert_true(snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path));
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

void import_write_text(const char *folder, const char *name, const char *text)
{
	import_write(folder, name, text, strlen(text));
}

struct model *import_words(const char *name, const char *text)
{
	struct model *model;
	int error;

	model = import_text(name, text, strlen(text), &error);
	assert_int_equal(error, 0);
	return model;
}

const struct device_fact *import_fact(const struct model *model, const char *topic, const char *name)
{
	for (uint32_t i = 0; i < model->device_facts.count; i++) {
		const struct device_fact *row = &model->device_facts.row[i];

		if ((!topic || strcmp(model_text(model, row->topic), topic) == 0) &&
		    strcmp(model_text(model, row->name), name) == 0)
			return row;
	}
	return NULL;
}

struct model *import_take(const char *path)
{
	struct model *model = model_new();
	char words[1024];

	assert_int_equal(import_device_file(model, path, true, words, sizeof(words)), 0);
	assert_int_equal(import_finish(model, true), 0);
	return model;
}

uint64_t import_busy(const struct model *model, uint32_t device, uint8_t kind)
{
	uint64_t busy = 0, end = 0;

	/* The join has sorted the tasks by device and start. */
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];
		uint64_t start = task->start_ns > end ? task->start_ns : end;

		if (task->device != device || task->kind != kind || task->end_ns <= start)
			continue;
		busy += task->end_ns - start;
		end = task->end_ns;
	}
	return busy;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char *import_list(const struct model *model, int64_t shift_ns)
{
	char **lines = calloc(model->tasks.count + 1, sizeof(*lines)), *list;
	size_t size;
	FILE *out = open_memstream(&list, &size);

	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];

		assert_true(asprintf(&lines[i],
				     "%" PRIu32 " %" PRIx64 " %u %" PRId64 " %" PRIu64 " %s\n",
				     model->devices.row[task->device].id, task->stream, task->kind,
				     (int64_t)task->start_ns - shift_ns,
				     task->end_ns - task->start_ns,
				     model_text(model, task->name)) > 0);
	}
	qsort(lines, model->tasks.count, sizeof(*lines), by_text);
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		fputs(lines[i], out);
		free(lines[i]);
	}
	free(lines);
	fclose(out);
	return list;
}

static void check_same(const char *expected, const char *name, const void *text, size_t size,
		       bool packed)
{
	struct model *model;
	char *list;
	int error;

	model = take(name, text, size, packed, &error);
	assert_int_equal(error, 0);
	list = import_list(model, 0);
	assert_string_equal(list, expected);
	free(list);
	model_free(model);
}

static void check_crlf(const char *expected, const char *name, const char *text, size_t size)
{
	char *windows = malloc(2 * size + 1), *to = windows;

	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\n')
			*to++ = '\r';
		*to++ = text[i];
	}
	check_same(expected, name, windows, (size_t)(to - windows), false);
	free(windows);
}

/* As PowerShell and spreadsheets save a text: with a byte order mark, and in UTF-16. Other than ASCII is left out. */
static void check_marks(const char *expected, const char *name, const char *text, size_t size)
{
	char *marked = malloc(2 * size + 3);

	memcpy(marked, "\xef\xbb\xbf", 3);
	memcpy(marked + 3, text, size);
	check_same(expected, name, marked, size + 3, false);
	memcpy(marked, "\xff\xfe", 2);
	for (size_t i = 0; i < size; i++) {
		if (text[i] & 0x80) {
			free(marked);
			return;
		}
		marked[2 + 2 * i] = text[i];
		marked[3 + 2 * i] = '\0';
	}
	check_same(expected, name, marked, 2 * size + 2, true);
	free(marked);
}

static void check_zstd(const char *expected, const char *name, const void *bytes, size_t size)
{
	size_t room = ZSTD_compressBound(size), packed;
	char *frame = malloc(room);

	packed = ZSTD_compress(frame, room, bytes, size, 1);
	assert_false(ZSTD_isError(packed));
	check_same(expected, name, frame, packed, false);
	free(frame);
}

void import_same(const char *name, const void *text, size_t size, bool lines)
{
	size_t step = size / CUTS + 1;
	struct model *model;
	char *expected;
	int error;

	model = take(name, text, size, false, &error);
	assert_int_equal(error, 0);
	expected = import_list(model, 0);
	model_free(model);
	check_same(expected, name, text, size, true);
	check_zstd(expected, name, text, size);
	if (lines) {
		check_crlf(expected, name, text, size);
		check_marks(expected, name, text, size);
	}
	free(expected);
	for (size_t cut = 1; cut < size; cut += step) {
		model = take(name, text, cut, false, &error);
		model_free(model);
	}
}
