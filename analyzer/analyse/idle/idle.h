/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle.h - why a device was idle.
 *
 * Every gap of a device is split along the host thread that submitted the task
 * which ended it. Every nanosecond gets exactly one cause. The rules, tried in
 * this order at each instant t of the gap (H is the thread, C its launching
 * call, T the task):
 *
 *  1. t lies at or after the instant at which the runtime handed T to the device
 *     (T's submit time; unknown: the end of the enqueue): device_wait, "submitted,
 *     not started yet". Where the device's tasks run on threads of the host (kind
 *     "cpu") the time that the thread which took T waited for a CPU is runnable.
 *     From the end of the enqueue to the submit time: device_wait, "enqueued, not
 *     submitted yet", if H was in no runtime call at the submit time, because the
 *     runtime then submitted T of its own accord. Else H's own doing (a flush) may have
 *     brought it about, and the other rules apply to H up to the submit time.
 *     If H, after the submit time, still sleeps inside C and is woken before T starts,
 *     the launch was not done: the other rules apply up to the end of that sleep.
 *  2. What H did is not known (no thread, no scheduling records, records lost):
 *     unknown. Before H existed the thread that created it is looked at instead.
 *  3. H on a CPU: in an ioctl driver, else in a runtime call runtime, else user_code.
 *  4. H ready to run: runnable, who = what ran on that CPU instead.
 *  5. H asleep in a runtime call that waits for the device (kind sync or copy), and
 *     its waker was not itself in a runtime call: the notice that the device had
 *     finished was under way. If a thread of the same process brought it and that
 *     thread waited for a CPU meanwhile, that part is runnable, who = what ran
 *     instead; the rest is device_wait, "completion of FUNCTION reached the thread
 *     late". If T was already enqueued: device_wait, "enqueued, not submitted yet".
 *     Not if H sleeps in C itself, from and until an instant of the gap: rule 6.
 *  6. H asleep elsewhere: by the system call it slept in and by what woke it:
 *     page_fault, lock, sleep, io, network, pipeline, driver, no_work, else unknown
 *     (see idle_rules.h).
 *
 * Parts add up to their gap, causes to the total; a remainder the rules leave is
 * unknown, never dropped.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/device/devices.h"
#include "analyzer/analyse/idle/idle_causes.h"
#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

/* One stretch of a gap. Strings are ids of model->strings. */
struct idle_part {
	uint64_t start_ns;
	uint64_t end_ns;
	uint8_t cause; /* enum idle_cause */
	uint32_t who; /* string; 0 = unknown */
	uint32_t thread; /* who, if a thread; else the thread looked at; INDEX_NONE = neither */
	uint32_t detail; /* string; 0 = none */
};

struct idle_gap {
	struct device_gap gap;
	struct idle_part *parts; /* without holes from gap.start_ns to gap.end_ns */
	uint32_t part_count;
};

struct idle_total {
	uint8_t cause;
	uint32_t who;
	uint32_t thread; /* of the longest part */
	uint32_t detail; /* of the longest part */
	uint64_t ns;
	uint64_t gaps; /* in how many gaps */
	double percent; /* of idle_result.total_ns */
};

struct idle_roots;

struct idle_result {
	uint64_t total_ns; /* all gaps of all devices */
	uint64_t gaps_total;
	uint64_t threshold_ns; /* shorter gaps are in the sums but not listed */
	struct idle_total *totals; /* largest first */
	uint32_t total_count;
	struct idle_gap *gaps; /* the longest options->top of them, longest first */
	uint32_t gap_count;
	uint64_t cause_ns[IDLE_CAUSES]; /* sums of totals by cause */
	struct idle_roots *roots; /* the same time by who was at the end of all waiting: idle_roots.h */
};

/*
 * idle_analyse - split all gaps of @usages
 *
 * Needs timelines and the launch join; for places of roots, frames with names. Adds the texts it needs to
 * model->strings. The caller frees *result with idle_free(). Returns 0 or -ENOMEM.
 */
int idle_analyse(struct model *model, const struct device_usage *usages,
		 const struct analysis_options *options, struct idle_result *result);
void idle_free(struct idle_result *result);

/*
 * An idle_splitter holds what splitting single gaps needs: for writers that want the
 * parts of every gap, not only of the longest. NULL without memory.
 */
struct idle_splitter;
struct idle_splitter *idle_splitter_new(struct model *model);
void idle_splitter_free(struct idle_splitter *splitter);

/*
 * idle_split - the parts of one gap, in time order and without holes
 *
 * *parts stays valid until the next call and belongs to the splitter. With
 * @details the parts get their detail texts, which costs a look at the wakers'
 * own timelines. Returns the number of parts or -ENOMEM.
 */
int idle_split(struct idle_splitter *splitter, const struct device_gap *gap, bool details,
	       const struct idle_part **parts);

/*
 * idle_split_roots - who is at the end of all waiting in these gaps alone
 *
 * As idle_result.roots are for all. Returns 0 or -ENOMEM; in both cases idle_roots_free(@roots) is to be called.
 */
int idle_split_roots(struct idle_splitter *splitter, const struct device_gap *gaps, uint64_t count,
		     struct idle_roots *roots);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_H */
