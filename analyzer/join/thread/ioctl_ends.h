/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ioctl_ends.h - how long ioctls lasted at least that nobody saw return.
 *
 * Hooks on the function that does the system call see only those return that they saw begin. A thread that slept
 * in an ioctl when recording began was in it as long as that sleep went on, and for an unknown time afterwards.
 */
#ifndef PROFBPF_ANALYZER_JOIN_THREAD_IOCTL_ENDS_H
#define PROFBPF_ANALYZER_JOIN_THREAD_IOCTL_ENDS_H

#include "analyzer/model/model.h"

/* ioctl_ends_find - sets end_ns of ioctls with MODEL_IOCTL_UNSEEN; after timelines_build() */
void ioctl_ends_find(struct model *model);

#endif /* PROFBPF_ANALYZER_JOIN_THREAD_IOCTL_ENDS_H */
