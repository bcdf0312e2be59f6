/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_device.h - the sections of a report that are about devices.
 */
#ifndef PROFBPF_ANALYZER_WRITE_REPORT_REPORT_DEVICE_H
#define PROFBPF_ANALYZER_WRITE_REPORT_REPORT_DEVICE_H

#include <stdio.h>

#include "analyzer/analyse/results.h"
#include "analyzer/model/model.h"
#include "analyzer/write/json.h"
#include "analyzer/write/report/report.h"

/*
 * report_text_device_sections - those of them that options->sections wants
 *
 * Each has a heading and says what there is to say, also if that is nothing. Returns 0 or a
 * negative errno.
 */
int report_text_device_sections(FILE *out, const struct model *model,
				const struct device_results *devices,
				const struct report_options *options);

/*
 * report_json_device_sections - their keys ("devices", "join", ...) of the open map
 *
 * As far as options->sections wants them. Returns 0; errors of @json are sticky.
 */
int report_json_device_sections(struct json *json, const struct model *model,
				const struct device_results *devices,
				const struct report_options *options);

/* The text sections one by one; return 0 or a negative errno. */
int report_text_operators(FILE *out, const struct model *model,
			  const struct device_results *devices,
			  const struct report_options *options);
int report_text_overlap(FILE *out, const struct model *model, const struct device_results *devices,
			const struct report_options *options);
int report_text_communication(FILE *out, const struct model *model,
			      const struct device_results *devices,
			      const struct report_options *options);
int report_text_idle(FILE *out, const struct model *model, const struct device_results *devices,
		     const struct report_options *options);

/* The JSON sections one by one, each with its key. */
void report_json_operators(struct json *json, const struct model *model,
			   const struct device_results *devices);
void report_json_overlap(struct json *json, const struct model *model,
			 const struct device_results *devices);
void report_json_communication(struct json *json, const struct model *model,
			       const struct device_results *devices);

#endif /* PROFBPF_ANALYZER_WRITE_REPORT_REPORT_DEVICE_H */
