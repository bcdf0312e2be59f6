/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ioctl_ends.h - the minimal duration of ioctls whose return was not recorded.
 *
 * Hooks on the function that implements the system call see a return only if they saw the entry. A thread that slept
 * in an ioctl when recording began was in it until that sleep ended, and for an unknown time afterwards.
 */
#ifndef PROFBPF_ANALYZER_JOIN_THREAD_IOCTL_ENDS_H
#define PROFBPF_ANALYZER_JOIN_THREAD_IOCTL_ENDS_H

#include "analyzer/model/model.h"

/* ioctl_ends_find - sets end_ns of ioctls with MODEL_IOCTL_UNSEEN; after timelines_build() */
void ioctl_ends_find(struct model *model);

#endif /* PROFBPF_ANALYZER_JOIN_THREAD_IOCTL_ENDS_H */
