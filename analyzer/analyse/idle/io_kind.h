/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_kind.h - does a thread that waits for storage read or write?
 *
 * The remedies differ: what is read can be cached and read ahead, what is written can be written later, or by another
 * thread.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_IO_KIND_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_IO_KIND_H

#include "analyzer/analyse/host/syscall_class.h"
#include "analyzer/analyse/idle/root_walk.h"
#include "analyzer/model/model.h"

enum io_kind {
	IO_UNKNOWN = 0, /* neither is known, or both alike */
	IO_READ,
	IO_WRITE, /* also a wait until what was written is on the disk */
};

/*
 * io_kind_of - judges the sleeps in the longest stretch of a root
 *
 * The system call of a sleep tells, else the request that ended it. More than half of the time that tells anything
 * decides.
 */
enum io_kind io_kind_of(const struct model *model, struct syscall_table *syscalls, const struct root *root);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_IO_KIND_H */
