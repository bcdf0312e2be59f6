/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_objects.h - streams through a JSON file that is a list of objects, plain or gzip.
 *
 * Device profilers write JSON as a root array of objects, or as a root object with such arrays ("traceEvents") and
 * a few values of its own; in some files the arrays are nested deeper. The reader passes one object at a time to
 * the caller, with the values of the wanted keys, so that memory does not grow with the file. Numbers are passed as
 * their text. NaN and Infinity, which are not valid JSON but which Python writes, are read as null.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_JSON_OBJECTS_H
#define PROFBPF_ANALYZER_IMPORT_READERS_JSON_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/import/readers/reader_place.h"

#define JSON_OBJECT_KEYS 48 /* maximum number of wanted keys */
#define JSON_OBJECT_BYTES (1u << 20) /* total size of the texts of one object; texts beyond it are dropped */
#define JSON_TOKEN_BYTES (8u << 20) /* longest text or number; reading fails at a longer one */

struct json_value {
	const char *text; /* NUL-terminated; NULL = absent. true, false, null as these words */
	size_t length;
	bool quoted; /* the value was a string */
};

struct json_reader {
	/*
	 * Wanted keys of objects, NULL-terminated; "args.stream" is key stream of the object under key args.
	 * "args.shape[]" is an array as one JSON text without blanks, if it contains no objects, and
	 * "args.shape[{}]" an array that may contain objects; elements of arrays cannot be wanted otherwise.
	 */
	const char *const *keys;
	/*
	 * Arrays whose objects are passed to object(), NULL-terminated, by the keys of their path:
	 * "tool.records.kernels", whatever arrays are in between. NULL: the root array, or every array that is a
	 * member of the root object.
	 */
	const char *const *lists;
	bool documents; /* the file may have several JSON texts, one after the other: their lists are as one */
	/*
	 * Called for each object of array @list ("" for the root array); values[i] belongs to keys[i] and is valid
	 * during the call. A negative errno ends the reading.
	 */
	int (*object)(void *context, const char *list, const struct json_value *values);
	/*
	 * Called for each scalar of the root object; with @lists for each scalar outside of them, by the keys of
	 * its path, also if it is in an array. May be NULL.
	 */
	int (*scalar)(void *context, const char *key, const struct json_value *value);
	void *context;
	/*
	 * Unit of the time of each of keys[], enum decimal_unit (decimal_ns.h); NULL = no times. An object with a
	 * time of which digits were rounded away is passed to rounded() instead of object(), with a text that names
	 * the key and the value.
	 */
	const uint8_t *units;
	int (*rounded)(void *rounded_context, const char *what);
	void *rounded_context;
	struct reader_place *place; /* gets the object's place; may be NULL */
};

/*
 * json_objects_read - read @path to its end
 *
 * Returns 0; a negative errno of the file or a callback; -EBADMSG with @error (place and reason), after all objects
 * before that place were passed to the callbacks, if the file is no JSON, is truncated, has too long a text, or
 * decompresses to too much (input_file.h).
 */
int json_objects_read(const char *path, const struct json_reader *reader, char *error,
		      size_t error_size);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_JSON_OBJECTS_H */
