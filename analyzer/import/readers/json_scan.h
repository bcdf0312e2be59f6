/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_scan.h - yajl's callbacks for plain JSON, at several times its pace.
 *
 * yajl took half of the time in which a large device file becomes the model. What is rare is left to it: what is not
 * plain and right here is "strange", and the caller has yajl read the file anew, which says what is wrong, and where. So
 * only what yajl accepts (without validating UTF-8) may be accepted, and with the same callbacks.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_JSON_SCAN_H
#define PROFBPF_ANALYZER_IMPORT_READERS_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yajl/yajl_parse.h>

#include "analyzer/import/readers/input_file.h"

#define JSON_SCAN_DEPTH 512 /* what is nested deeper is strange */

struct json_scan {
	const yajl_callbacks *on; /* all of them but integer and double */
	void *context;
	uint8_t state; /* for json_scan.c */
	unsigned int depth;
	bool object[JSON_SCAN_DEPTH + 1]; /* by depth */
};

void json_scan_begin(struct json_scan *scan, const yajl_callbacks *on, void *context);

/*
 * json_scan_part - the next bytes; texts are unescaped in their place
 *
 * Behind them must be room for a byte, which is written. *@left: how many bytes at the end are part of something whose end is not here: they are to
 * come again, with what follows. Returns 0, -EAGAIN for what is strange, or -ECANCELED if a callback returned 0.
 */
int json_scan_part(struct json_scan *scan, unsigned char *bytes, size_t size, size_t *left);

/* json_scan_end - 0 if one value, and nothing else, was read; else -EAGAIN */
int json_scan_end(const struct json_scan *scan);

/* json_scan_file - all of a file. Returns as json_scan_part(); -ENOMEM. What cannot be read, or is larger than a part, is strange. */
int json_scan_file(struct input_file *file, const yajl_callbacks *on, void *context);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_JSON_SCAN_H */
