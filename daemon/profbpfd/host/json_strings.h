/* SPDX-License-Identifier: Apache-2.0 */
/* json_strings.h - the strings at known places of a JSON text. */
#ifndef PROFBPF_DAEMON_PROFBPFD_HOST_JSON_STRINGS_H
#define PROFBPF_DAEMON_PROFBPFD_HOST_JSON_STRINGS_H

#include <stdbool.h>
#include <stddef.h>

struct json_place {
	const char *path; /* keys from the root, separated by '/'; "*" for an element of an array */
	char *into; /* "" before; the first string at the path, with a NUL, if it fits */
	size_t size;
};

struct json_strings {
	const struct json_place *places;
	size_t count;
	/* Called at the end of each object whose path is @each; NULL: of none. */
	const char *each;
	void (*ended)(void *context);
	void *context;
};

/*
 * json_strings_find - fill the places of @strings from @text, @size bytes
 *
 * Takes bounded memory whatever the text is; does not look at strings deeper than 16 levels. Returns false if the text is
 * no JSON, also if a part of it was; what stands before the error is filled.
 */
bool json_strings_find(const struct json_strings *strings, const char *text, size_t size);

#endif /* PROFBPF_DAEMON_PROFBPFD_HOST_JSON_STRINGS_H */
