/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/ascend_raw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/input_file.h"

#define RECORDS 1024 /* read at a time */

uint64_t ascend_raw_device(const char *path)
{
	const char *slice = strstr(path, ".slice_"), *start = slice;
	unsigned int device;

	while (start > path && start[-1] != '.')
		start--;
	return slice && sscanf(start, "%u.slice_", &device) == 1 ? device : 0;
}

static int read_log(struct import *import, struct input_file *log, size_t size,
		    int (*record)(void *, const uint8_t *), void *context)
{
	uint8_t *chunk = malloc(RECORDS * size);
	int whole = (int)(RECORDS * size), length = whole, err = chunk ? 0 : -ENOMEM;
	char words[256];

	while (!err && length == whole) {
		length = input_file_read(log, chunk, RECORDS * size, words, sizeof(words));
		for (int at = 0; !err && at + (int)size <= length; at += (int)size)
			err = record(context, chunk + at);
	}
	if (!err && (length < 0 || length % (int)size))
		err = import_finding(import, "damaged: what follows was not read",
				     length < 0 ? words : "it ends inside a record");
	free(chunk);
	return err;
}

int ascend_raw_read(struct import *import, size_t size,
		    int (*record)(void *context, const uint8_t *bytes), void *context)
{
	struct input_file log;
	char words[256];
	int err = input_file_open(&log, import->path, words, sizeof(words));

	if (err)
		return import_fail(import, err, "%s", words);
	err = read_log(import, &log, size, record, context);
	input_file_close(&log);
	return err;
}
