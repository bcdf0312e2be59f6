/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_objects.h - streams through a JSON file that is a list of objects, plain or gzip.
 *
 * What device profilers write as JSON is a root array of objects, or a root
 * object with such arrays ("traceEvents") and a few values of its own; some
 * have the arrays deeper. The reader hands out one object at a time with the
 * values of the keys that the caller wants, so that memory does not grow with
 * the file. Numbers come as their text. NaN and Infinity, which JSON does not know and Python writes,
 * are taken as null.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_JSON_OBJECTS_H
#define PROFBPF_ANALYZER_IMPORT_READERS_JSON_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_OBJECT_KEYS 48 /* most that may be wanted */
#define JSON_OBJECT_BYTES (1u << 20) /* longest texts of one object; what exceeds it is left out */
#define JSON_TOKEN_BYTES (8u << 20) /* longest text or number; a file with a longer one is refused there */

struct json_value {
	const char *text; /* NUL-terminated; NULL = not there. true, false, null as these words */
	size_t length;
	bool quoted; /* was a string */
};

struct json_reader {
	/*
	 * Wanted keys of objects, NULL-terminated; "args.stream" is key stream of the object
	 * under key args. "args.shape[]" is an array as one text of JSON without blanks, if there
	 * are no objects in it, and "args.shape[{}]" one that may have objects; what is inside an array cannot be wanted otherwise.
	 */
	const char *const *keys;
	/*
	 * Arrays whose objects are handed out, NULL-terminated, by the keys that lead to them:
	 * "tool.records.kernels", whatever arrays are in between. NULL: the root array, or every
	 * array that stands in the root object.
	 */
	const char *const *lists;
	/*
	 * An object of array @list ("" for the root array); values[i] belongs to keys[i] and is
	 * valid during the call. A negative errno ends the reading.
	 */
	int (*object)(void *context, const char *list, const struct json_value *values);
	/*
	 * A scalar of the root object; with @lists each one outside of them, by the keys that
	 * lead to it, also if it stands in an array. May be NULL.
	 */
	int (*scalar)(void *context, const char *key, const struct json_value *value);
	void *context;
};

/*
 * json_objects_read - read @path to its end
 *
 * Returns 0; -EBADMSG with @error (place and reason) for what is no JSON, ends too early, has too long a
 * text, or unpacks to too much (input_file.h), after all objects before that place were handed out; a negative errno of the file, or what a
 * callback returned.
 */
int json_objects_read(const char *path, const struct json_reader *reader, char *error,
		      size_t error_size);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_JSON_OBJECTS_H */
