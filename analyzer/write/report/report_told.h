/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_told.h - what device files say in sum, in the sections that it belongs to.
 *
 * Nothing is written where no file says anything. Text returns 0 or a negative errno.
 */
#ifndef PROFBPF_ANALYZER_WRITE_REPORT_REPORT_TOLD_H
#define PROFBPF_ANALYZER_WRITE_REPORT_REPORT_TOLD_H

#include <stdio.h>

#include "analyzer/model/model.h"
#include "analyzer/write/json.h"
#include "analyzer/write/report/report.h"

/* Devices as a whole: key "device_facts". */
int text_device_facts(FILE *out, const struct model *model, const struct report_options *options);
void json_device_facts(struct json *json, const struct model *model);

/*
 * Sums of operators, key "operator_sums", and what was fused into one, key "fused_operators". In text the
 * sums are those of devices whose tasks nobody told, and those by shape or with times of the host: others say
 * nothing new.
 */
int text_told_operators(FILE *out, const struct model *model, const struct report_options *options);
void json_told_operators(struct json *json, const struct model *model);

/* What other profilers advise: key "told_advice". */
int text_told_advice(FILE *out, const struct model *model, const struct report_options *options);
void json_told_advice(struct json *json, const struct model *model);

#endif /* PROFBPF_ANALYZER_WRITE_REPORT_REPORT_TOLD_H */
