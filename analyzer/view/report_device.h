/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_device.h - sections of the report that are about devices and are not made of views yet.
 */
#ifndef PROFBPF_ANALYZER_VIEW_REPORT_DEVICE_H
#define PROFBPF_ANALYZER_VIEW_REPORT_DEVICE_H

#include <stdio.h>

#include "analyzer/analyse/device/results.h"
#include "analyzer/model/model.h"
#include "analyzer/view/render/json.h"
#include "analyzer/view/report.h"

int report_text_idle(FILE *out, const struct model *model, const struct device_results *devices,
		     const struct report_options *options);

void report_json_idle(struct json *json, const struct model *model,
		      const struct device_results *devices);

#endif /* PROFBPF_ANALYZER_VIEW_REPORT_DEVICE_H */
