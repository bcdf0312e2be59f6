/* SPDX-License-Identifier: Apache-2.0 */
/* The list of sections. */
#include "analyzer/view/sections.h"

#include "analyzer/view/report_parts.h"

#define ARGUMENTS (report->out, report->model, report->results, report->options)

/* Sections that do without views: functions of their own write them. */
#define WRITTEN(name, text_wanted, json_wanted)                                   \
	static int name##_text(const struct report *report)                                  \
	{                                                                                    \
		return text_wanted ? text_##name ARGUMENTS : 0;                              \
	}                                                                                    \
	static void name##_json(const struct report *report)                                 \
	{                                                                                    \
		if (json_wanted)                                                             \
			json_##name##_section(report->json, report->model, report->results); \
	}                                                                                    \
	const struct section section_##name = { name##_text, name##_json };

WRITTEN(verdict, true, true)

#define SECTION_POINTER(NAME, name) [SECTION_NUMBER_##NAME] = &section_##name,
const struct section *const sections[SECTION_COUNT] = { SECTIONS(SECTION_POINTER, SECTION_POINTER) };
