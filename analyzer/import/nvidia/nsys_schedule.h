/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_schedule.h - the host half of an Nsight Systems database: who ran when, and in which call of
 * the C library a thread slept.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_NVIDIA_NSYS_SCHEDULE_H
#define PROFBPF_ANALYZER_IMPORT_NVIDIA_NSYS_SCHEDULE_H

#include <sqlite3.h>

#include "analyzer/import/import_rows.h"

/*
 * nsys_schedule_read - SCHED_EVENTS and OSRT_API to switches, ThreadNames to names of threads
 *
 * The file does not say whether a thread that leaves its CPU sleeps or waits for another one. It is
 * taken for asleep; why is known if it is inside a call of the C library that waits, and then only.
 * @epoch_ns is added to all times; @strings: StringIds by number. Returns 0 or a negative errno.
 */
int nsys_schedule_read(sqlite3 *db, struct import_rows *rows, int64_t epoch_ns,
		       const struct map *strings);

#endif /* PROFBPF_ANALYZER_IMPORT_NVIDIA_NSYS_SCHEDULE_H */
