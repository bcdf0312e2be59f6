/* SPDX-License-Identifier: Apache-2.0 */
/*
 * polls.h - threads that poll: sleep for a time, look whether something is there, sleep again.
 *
 * No wake-up shows who makes what such a thread polls for, but time does: the maker was at work during the last sleep
 * before the thread found something, and seldom during the other ones. A sleep is the last one of its poll if the
 * thread then woke another one (other than for the lock of a Python interpreter), or was on a CPU for
 * POLL_WORK_NS, before it slept again.
 *
 * The maker is the thread of the same process that was on a CPU in POLL_LAST_PERCENT of the last sleeps or more, and in
 * at least POLL_LESS_PERCENT fewer of the others; of several the one that ran for longest. So the maker is not known if
 * it computes all the time. Without such a thread, with fewer than POLLS_MIN polls, or with fewer sleeps before the last
 * ones than last ones, nothing is known; nor for the threads that remain when POLLS_LOOKED_MAX sleeps and spans were
 * compared, as in a process with a thousand threads that poll. Nor is a thread known to poll whose last sleeps are POLL_LENGTHS times as long
 * as the others, or as short, on average: it does different things, as a thread that sleeps with a lock, releases it, and
 * sleeps for a moment without it.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_POLLS_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_POLLS_H

#include <stdint.h>

#include "analyzer/analyse/host/syscall_class.h"
#include "analyzer/analyse/idle/interpreter_lock.h"
#include "analyzer/model/model.h"

#define POLLS_MIN 8
#define POLL_WORK_NS 1000000
#define POLL_LAST_PERCENT 75
#define POLL_LESS_PERCENT 50
#define POLL_LENGTHS 4 /* more than polls that sleep twice as long each time, up to a limit */
#define POLLS_LOOKED_MAX 300000000

struct polls;

/*
 * polls_new - finds the makers for all threads; NULL without memory
 *
 * Takes time linear in the spans of a process for each of its threads that poll, up to POLLS_LOOKED_MAX. The arguments
 * must outlive the result.
 */
struct polls *polls_new(const struct model *model, struct syscall_table *syscalls,
			const struct interpreter_locks *locks);
void polls_free(struct polls *polls);

/*
 * poll_maker - returns the thread that makes what @thread polls for in a sleep, INDEX_NONE: it does not poll, or not known
 *
 * @span: index into model->spans.
 */
uint32_t poll_maker(const struct polls *polls, uint32_t thread, uint32_t span);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_POLLS_H */
