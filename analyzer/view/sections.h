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
	uint32_t wanted_by; /* enum report_section */
	/* Heading, prose and tables. Returns 0 or a negative errno. */
	int (*text)(const struct report *report);
	/* Its keys of the open map; NULL: its views, one after the other. */
	void (*json)(const struct report *report);
	const struct view *const *views; /* of the JSON report, up to NULL */
	const char *key; /* the map that they are in, if they are in one */
};

/* In the order in which they appear. */
extern const struct section *const sections[];
extern const size_t section_count;

extern const struct section section_steps;
extern const struct section section_api;
extern const struct section section_ioctl;
extern const struct section section_io;
extern const struct section section_memory;
extern const struct section section_overlap;
extern const struct section section_devices;
extern const struct section section_join;
extern const struct section section_operators;
extern const struct section section_communication;
extern const struct section section_advice;
extern const struct section section_cluster;
extern const struct section section_shapes;
extern const struct section section_host;
extern const struct section section_processes;
extern const struct section section_python;
extern const struct section section_stacks;

#endif /* PROFBPF_ANALYZER_VIEW_SECTIONS_H */
