/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_roots.h - the roots of idle time (analyse/idle_roots.h) in the report.
 */
#ifndef PROFBPF_ANALYZER_VIEW_REPORT_ROOTS_H
#define PROFBPF_ANALYZER_VIEW_REPORT_ROOTS_H

#include <stdio.h>

#include "analyzer/analyse/idle/idle_roots.h"
#include "analyzer/analyse/idle/root_text.h"
#include "analyzer/analyse/host/syscall_class.h"
#include "analyzer/model/model.h"
#include "analyzer/view/render/json.h"
#include "analyzer/view/report.h"

/*
 * report_text_roots - a table of roots under a heading, @time "idle" or what else it is; 0 or a negative errno
 * report_json_roots - an array of the open map
 */
int report_text_roots(FILE *out, const struct model *model, const struct idle_roots *roots,
		      const char *heading, const char *time, const struct report_options *options);
void report_json_roots(struct json *json, const char *key, const struct model *model,
		       const struct idle_roots *roots);

/*
 * report_json_root - one root as a map
 * report_root_text - who, where, for what, and back to the thread that submitted, cut to @size
 *
 * "reader 17: read: /data/train.bin on vda <- decoder 12 <- main 10"
 */
void report_json_root(struct json *json, const char *key, const struct model *model,
		      struct syscall_table *syscalls, const struct idle_roots *roots,
		      const struct idle_root *row);
void report_root_text(const struct model *model, struct syscall_table *syscalls,
		      const struct idle_roots *roots, const struct idle_root *row, char *text,
		      size_t size);

#endif /* PROFBPF_ANALYZER_VIEW_REPORT_ROOTS_H */
