/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/ascend/ascend_raw.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/readers/input_file.h"

#define RECORDS 1024 /* records read at a time */
#define SLICES_MAX 100000 /* maximum of a log */
#define DAMAGED "damaged: what follows was not read; copy or export the file again"

uint64_t ascend_raw_device(const char *path)
{
	const char *slice = strstr(path, ".slice_"), *start = slice;
	unsigned int device;

	while (start > path && start[-1] != '.')
		start--;
	return slice && sscanf(start, "%u.slice_", &device) == 1 ? device : 0;
}

/* Writes the path of slice @number of the same log; returns false if @path is not that of a slice. */
static bool slice_path(const char *path, uint64_t number, char *into)
{
	const char *slice = NULL, *next = path;

	while ((next = strstr(next, ".slice_")))
		slice = next++;
	return slice && strspn(slice + 7, "0123456789") == strlen(slice + 7) && slice[7] &&
	       snprintf(into, PATH_MAX, "%.*s.slice_%" PRIu64, (int)(slice - path), path, number) <
		       PATH_MAX;
}

/* The number of a slice; returns false if @path is not that of a slice. */
static bool slice_number(const char *path, uint64_t *number)
{
	const char *digits = strrchr(path, '_');
	char ignored[PATH_MAX];

	return slice_path(path, 0, ignored) &&
	       decimal_unsigned(digits + 1, strlen(digits + 1), number) && *number < SLICES_MAX;
}

/* The range (end exclusive) of consecutive slices that contains @path. */
static void slices_of(const char *path, uint64_t *first, uint64_t *end)
{
	char other[PATH_MAX];
	uint64_t number = 0;

	*first = 0;
	*end = 1;
	if (!slice_number(path, &number))
		return;
	for (*first = number; *first && slice_path(path, *first - 1, other) && !access(other, R_OK);)
		--*first;
	for (*end = number + 1;
	     *end < SLICES_MAX && slice_path(path, *end, other) && !access(other, R_OK);)
		++*end;
}

bool ascend_raw_is_part(const char *path, const char *log)
{
	const char *name = strrchr(path, '/');
	uint64_t number, first, end;

	name = name ? name + 1 : path;
	if (strncmp(name, log, strlen(log)) != 0 || !slice_number(path, &number))
		return false;
	slices_of(path, &first, &end);
	return first < number;
}

/* Was the log already read, with another of its slices? */
static bool was_read(const struct import *import, uint64_t first, uint64_t end)
{
	const struct model *model = import->model;
	char path[PATH_MAX];

	for (uint64_t slice = first; slice < end; slice++) {
		if (!slice_path(import->path, slice, path) || strcmp(path, import->path) == 0)
			continue;
		for (uint32_t i = 0; i < import->file && i < model->imports.count; i++) {
			if (strcmp(model_text(model, model->imports.row[i].path), path) == 0)
				return true;
		}
	}
	return false;
}

/* Buffer for records, which may begin in one slice and end in the next. */
struct raw_log {
	struct import *import;
	size_t size; /* of a record */
	int (*record)(void *context, const uint8_t *bytes);
	void *context;
	uint8_t *chunk; /* RECORDS records */
	size_t have; /* bytes in it */
};

static int hand_out(struct raw_log *log)
{
	size_t at = 0;
	int err = 0;

	for (; !err && at + log->size <= log->have; at += log->size)
		err = log->record(log->context, log->chunk + at);
	log->have -= at;
	memmove(log->chunk, log->chunk + at, log->have);
	return err;
}

static int read_slice(struct raw_log *log, const char *path)
{
	size_t room = RECORDS * log->size;
	struct input_file file;
	char words[256];
	int length = 1, err = input_file_open(&file, path, words, sizeof(words));

	if (err)
		return import_fail(log->import, err, "%s", words);
	while (!err && length > 0) {
		length = input_file_read(&file, log->chunk + log->have, room - log->have, words,
					 sizeof(words));
		log->have += length > 0 ? (size_t)length : 0;
		err = hand_out(log);
	}
	if (!err && length < 0)
		err = import_damage(log->import, DAMAGED, words);
	input_file_close(&file);
	return err;
}

int ascend_raw_read(struct import *import, size_t size,
		    int (*record)(void *context, const uint8_t *bytes), void *context)
{
	struct raw_log log = {
		.import = import, .size = size, .record = record, .context = context
	};
	uint64_t first, end;
	char path[PATH_MAX];
	int err;

	slices_of(import->path, &first, &end);
	if (was_read(import, first, end))
		return import_finding(import, "a slice of a log that was read with another of its",
				      NULL);
	log.chunk = malloc(RECORDS * size);
	err = log.chunk ? 0 : -ENOMEM;
	for (uint64_t slice = first; slice < end && !err; slice++)
		err = read_slice(&log, slice_path(import->path, slice, path) ? path : import->path);
	if (!err && log.have)
		err = import_damage(import, DAMAGED, "it ends inside a record");
	free(log.chunk);
	return err;
}
