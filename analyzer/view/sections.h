/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sections.h - the sections of the report, a file each (section_*.c).
 */
#ifndef PROFBPF_ANALYZER_VIEW_SECTIONS_H
#define PROFBPF_ANALYZER_VIEW_SECTIONS_H

#include "analyzer/view/view.h"

/* For section.views. */
#define VIEWS(...) ((const struct view *const[]){ __VA_ARGS__, NULL })

struct section {
	/* Heading, prose and tables. Returns 0 or a negative errno. */
	int (*text)(const struct report *report);
	/* Its keys of the open map; NULL: its views, one after the other, in the map that key names. */
	void (*json)(const struct report *report);
	const struct view *const *views; /* of the JSON report, up to NULL */
	const char *key; /* the map that they are in, if they are in one */
};

/* section_json - its keys, into the open map */
void section_json(const struct report *report, const struct section *section);

#define SECTION_EXTERN(NAME, name) extern const struct section section_##name;
SECTIONS(SECTION_EXTERN, SECTION_EXTERN)
#undef SECTION_EXTERN

/* By enum section_number. */
extern const struct section *const sections[SECTION_COUNT];

#endif /* PROFBPF_ANALYZER_VIEW_SECTIONS_H */
