/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_roots.h - the roots of idle time (analyse/idle_roots.h) in words.
 *
 * Texts are "" where there is nothing to say; they are cut to fit and always terminated.
 */
#ifndef PROFBPF_ANALYZER_WRITE_REPORT_REPORT_ROOTS_H
#define PROFBPF_ANALYZER_WRITE_REPORT_REPORT_ROOTS_H

#include <stddef.h>
#include <stdio.h>

#include "analyzer/analyse/idle_roots.h"
#include "analyzer/analyse/syscall_class.h"
#include "analyzer/model/model.h"
#include "analyzer/write/json.h"
#include "analyzer/write/report/report.h"

/* "reader 4711", "thread 4711" */
void root_thread_text(const struct model *model, uint32_t thread, char *text, size_t size);

/* "reader 4711", "ffmpeg of process 17", "an idle CPU" */
void root_who_text(const struct model *model, const struct root *root, char *text, size_t size);

/* "clFinish", "read", "page fault", "train.py:19 noise", "libtorch_cpu.so at::native::copy_" */
void root_place_text(const struct model *model, struct syscall_table *syscalls,
		     const struct root *root, char *text, size_t size);

/* "/data/train.bin on /dev/vda", "a pipe", "/dev/nvidia0 NV_ESC_IOCTL_XFER_CMD", "/jobs/train" */
void root_object_text(const struct model *model, const struct root *root, char *text, size_t size);

/* The thread whose pid and tid a row bears: who, if that is one, else the one at which the walk ended. */
uint32_t root_subject(const struct root *root);

/*
 * report_text_roots - the table of the section idle; 0 or a negative errno
 * report_json_roots - the array "roots" of the open map
 */
int report_text_roots(FILE *out, const struct model *model, const struct idle_roots *roots,
		      const struct report_options *options);
void report_json_roots(struct json *json, const struct model *model,
		       const struct idle_roots *roots);

#endif /* PROFBPF_ANALYZER_WRITE_REPORT_REPORT_ROOTS_H */
