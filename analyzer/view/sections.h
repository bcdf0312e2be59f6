/* SPDX-License-Identifier: Apache-2.0 */
/* sections.h - the sections of the report, one file each (section_*.c). */
#ifndef PROFBPF_ANALYZER_VIEW_SECTIONS_H
#define PROFBPF_ANALYZER_VIEW_SECTIONS_H

#include "analyzer/view/view.h"

/* For section.views. */
#define VIEWS(...) ((const struct view *const[]){ __VA_ARGS__, NULL })

struct section {
	/* Writes heading, prose and tables. Returns 0 or a negative errno. */
	int (*text)(const struct report *report);
	/*
	 * Writes its keys into the open map; NULL: section_json() writes its views in succession, into the map that
	 * key names.
	 */
	void (*json)(const struct report *report);
	const struct view *const *views; /* views of the JSON report, up to NULL */
	const char *key; /* the map that contains the views; NULL: the open map */
	/* Would the text only say that there is nothing? Then it is left out unless asked for by name. NULL: never. */
	bool (*empty)(const struct report *report);
};

/* section_json - writes the section's keys into the open map */
void section_json(const struct report *report, const struct section *section);

#define SECTION_EXTERN(NAME, name) extern const struct section section_##name;
SECTIONS(SECTION_EXTERN, SECTION_EXTERN)
#undef SECTION_EXTERN

/* Indexed by enum section_number. */
extern const struct section *const sections[SECTION_COUNT];

#endif /* PROFBPF_ANALYZER_VIEW_SECTIONS_H */
