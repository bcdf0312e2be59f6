/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_text.h - the roots of idle time (idle_roots.h) in words, for advice and reports.
 *
 * Texts are "" if nothing is known; they are cut to fit and always terminated.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_ROOT_TEXT_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_ROOT_TEXT_H

#include <stddef.h>

#include "analyzer/analyse/idle/root_walk.h"
#include "analyzer/analyse/host/syscall_class.h"
#include "analyzer/model/model.h"

/* "reader 4711", "thread 4711" */
void root_thread_text(const struct model *model, uint32_t thread, char *text, size_t size);

/* "reader 4711", "ffmpeg of process 17", "an idle CPU" */
void root_who_text(const struct model *model, const struct root *root, char *text, size_t size);

/* "clFinish", "read", "page fault", "train.py:19 noise", "libtorch_cpu.so at::native::copy_" */
void root_place_text(const struct model *model, struct syscall_table *syscalls,
		     const struct root *root, char *text, size_t size);

/* "/data/train.bin on /dev/vda", "a pipe", "/dev/nvidia0 NV_ESC_IOCTL_XFER_CMD", "/jobs/train" */
void root_object_text(const struct model *model, const struct root *root, char *text, size_t size);

/* Returns the thread whose pid and tid a row shows: who, if it is a thread, else the thread at which the walk ended. */
uint32_t root_subject(const struct root *root);

/* root_work_text - the function to make cheaper: the place, or the function that called it if it has no name */
void root_work_text(const struct model *model, const struct root *root, char *text, size_t size);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_ROOT_TEXT_H */
