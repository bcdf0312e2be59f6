/* SPDX-License-Identifier: Apache-2.0 */
/* The list of sections. */
#include "analyzer/view/sections.h"

#include "analyzer/analyse/device/results.h"
#include "analyzer/view/report_device.h"
#include "analyzer/view/report_parts.h"

#define ARGUMENTS (report->out, report->model, report->results, report->options)

/* Sections that do without views: functions of their own write them. */
#define WRITTEN(name, wanted_by, text_wanted, json_wanted)                                   \
	static int name##_text(const struct report *report)                                  \
	{                                                                                    \
		return text_wanted ? text_##name ARGUMENTS : 0;                              \
	}                                                                                    \
	static void name##_json(const struct report *report)                                 \
	{                                                                                    \
		if (json_wanted)                                                             \
			json_##name##_section(report->json, report->model, report->results); \
	}                                                                                    \
	static const struct section section_##name = { wanted_by, name##_text, name##_json };

WRITTEN(verdict, SECTION_VERDICT, true, true)
WRITTEN(trace, SECTION_TRACE, true, true)
WRITTEN(capture, SECTION_CAPTURE, true, true)
WRITTEN(pipeline, SECTION_PIPELINE, true, true)
WRITTEN(waits, SECTION_WAITS, true, true)

/* The same of sections that are about devices. */
#define WRITTEN_OF_DEVICES(name, wanted_by)                                                        \
	static int name##_text(const struct report *report)                                        \
	{                                                                                          \
		const struct device_results *devices = report->results->devices;                   \
                                                                                                   \
		return devices ? report_text_##name(report->out, report->model, devices,           \
						    report->options)                               \
			       : 0;                                                                \
	}                                                                                          \
	static void name##_json(const struct report *report)                                       \
	{                                                                                          \
		if (report->results->devices)                                                      \
			report_json_##name(report->json, report->model, report->results->devices); \
	}                                                                                          \
	static const struct section section_##name = { wanted_by, name##_text, name##_json };

WRITTEN_OF_DEVICES(idle, SECTION_IDLE)

const struct section *const sections[] = {
	&section_verdict,   &section_trace,	&section_capture, &section_host,
	&section_processes, &section_pipeline,	&section_steps,	  &section_waits,
	&section_api,	    &section_ioctl,	&section_io,	  &section_devices,
	&section_join,	    &section_operators, &section_overlap, &section_communication,
	&section_idle,	    &section_cluster,	&section_shapes,  &section_memory,
	&section_stacks,    &section_advice,	&section_python,
};

const size_t section_count = sizeof(sections) / sizeof(sections[0]);
