/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_scan.h - calls yajl's callbacks for plain JSON, several times faster than yajl.
 *
 * yajl took half of the time of importing a large device file. Rare constructs are left to yajl: text that is not
 * plain and valid here is "strange", and the caller lets yajl read the file again, which reports the error and its
 * place. The scanner must therefore accept only text that yajl accepts (without validating UTF-8), and call the
 * same callbacks.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_JSON_SCAN_H
#define PROFBPF_ANALYZER_IMPORT_READERS_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yajl/yajl_parse.h>

#include "analyzer/import/readers/input_file.h"

#define JSON_SCAN_DEPTH 512 /* deeper nesting is strange */

struct json_scan {
	const yajl_callbacks *on; /* all callbacks but integer and double */
	void *context;
	uint8_t state; /* for json_scan.c */
	unsigned int depth;
	bool object[JSON_SCAN_DEPTH + 1]; /* by depth */
};

void json_scan_begin(struct json_scan *scan, const yajl_callbacks *on, void *context);

/*
 * json_scan_part - scans the next bytes; texts are unescaped in place
 *
 * The buffer must have room for one more byte, which is written. *@left: the number of bytes at the end that belong
 * to an incomplete token: the caller passes them again, followed by more. Returns 0, -EAGAIN for strange text, or
 * -ECANCELED if a callback returned 0.
 */
int json_scan_part(struct json_scan *scan, unsigned char *bytes, size_t size, size_t *left);

/* json_scan_end - returns 0 if exactly one value was read; else -EAGAIN */
int json_scan_end(const struct json_scan *scan);

/*
 * json_scan_file - scans a whole file. Returns as json_scan_part(), or -ENOMEM. A read error, or a token larger
 * than a part, is strange.
 */
int json_scan_file(struct input_file *file, const yajl_callbacks *on, void *context);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_JSON_SCAN_H */
