/* SPDX-License-Identifier: Apache-2.0 */
/* reader_place.h - where a reader is in its file, for messages about what it passes on. */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_READER_PLACE_H
#define PROFBPF_ANALYZER_IMPORT_READERS_READER_PLACE_H

#include <stdint.h>

/* Zeroed: nowhere. A reader sets it before each callback of a row or an object, and zeroes it at its end. */
struct reader_place {
	const char *path; /* of the file */
	uint64_t line; /* of the row's begin, from 1; 0 = no row */
	const char *list; /* keys of the object's list, "" for the root array; NULL = no object */
	uint64_t object; /* index of the object in its array, from 0 */
};

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_READER_PLACE_H */
