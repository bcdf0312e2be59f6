/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_device.h - the sections devices, join, operators and idle of a report.
 */
#ifndef PROFBPF_ANALYZER_WRITE_REPORT_DEVICE_H
#define PROFBPF_ANALYZER_WRITE_REPORT_DEVICE_H

#include <stdint.h>
#include <stdio.h>
#include <yajl/yajl_gen.h>

#include "analyzer/analyse/results.h"
#include "analyzer/model/model.h"

/*
 * Text sections, one function each: a heading and what there is to say, also if
 * that is nothing. Return 0 or a negative errno.
 */
int report_text_devices(FILE *out, const struct model *model, const struct device_results *results);
int report_text_join(FILE *out, const struct model *model, const struct device_results *results);
int report_text_operators(FILE *out, const struct model *model,
			  const struct device_results *results, uint32_t top);
int report_text_idle(FILE *out, const struct model *model, const struct device_results *results,
		     uint32_t top);

/*
 * JSON sections: each writes the value only ("devices" an array, ...); the caller
 * has written the key. Return 0 or a negative errno.
 */
int report_json_devices(yajl_gen json, const struct model *model,
			const struct device_results *results);
int report_json_join(yajl_gen json, const struct model *model,
		     const struct device_results *results);
int report_json_operators(yajl_gen json, const struct model *model,
			  const struct device_results *results);
int report_json_idle(yajl_gen json, const struct model *model,
		     const struct device_results *results);

#endif /* PROFBPF_ANALYZER_WRITE_REPORT_DEVICE_H */
