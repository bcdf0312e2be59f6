/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_schedule.h - the host half of an Nsight Systems database: when threads ran, and the C library calls in which
 * they slept.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_NVIDIA_NSYS_SCHEDULE_H
#define PROFBPF_ANALYZER_IMPORT_NVIDIA_NSYS_SCHEDULE_H

#include <sqlite3.h>

#include "analyzer/import/import_rows.h"

/*
 * nsys_schedule_read - SCHED_EVENTS and OSRT_API to switches, ThreadNames to names of threads
 *
 * The file does not say whether a thread that leaves its CPU sleeps or waits in the run queue: it is assumed to
 * sleep. The reason is known only inside of a blocking C library call. @epoch_ns is added to all times; @strings:
 * StringIds by number. Returns 0 or a negative errno.
 */
int nsys_schedule_read(sqlite3 *db, struct import_rows *rows, int64_t epoch_ns,
		       const struct map *strings);

#endif /* PROFBPF_ANALYZER_IMPORT_NVIDIA_NSYS_SCHEDULE_H */
