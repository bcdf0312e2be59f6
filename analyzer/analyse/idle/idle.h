/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle.h - why a device was idle.
 *
 * Each gap of a device is split by the activity of the host thread that submitted
 * the task which ended the gap. Each nanosecond gets exactly one cause. The rules,
 * tried in this order at each instant t of the gap (H is the thread, C its
 * launching call, T the task):
 *
 *  1. t lies at or after the instant at which the runtime handed T to the device
 *     (T's submit time; if unknown, the end of the enqueue): device_wait, "submitted,
 *     not started yet" (of a device file without a trace, idle for more than 10 ms while it
 *     had T: unknown, as the file may lack what the device did or waited for, unless another
 *     device of the file was busy for most of that time). If the device's tasks run on threads of the host (kind
 *     "cpu"), the time that the thread which took T waited for a CPU is runnable.
 *     From the end of the enqueue to the submit time: device_wait, "enqueued, not
 *     submitted yet", if H was in no runtime call at the submit time, because the
 *     runtime then submitted T by itself. Otherwise a call of H (a flush) may have
 *     caused the submission, and the other rules apply to H up to the submit time.
 *     If H, after the submit time, still sleeps inside C and is woken before T starts,
 *     the launch was not complete: the other rules apply up to the end of that sleep.
 *  2. The state of H is not known (no thread, no scheduling records, records lost):
 *     unknown. Before H existed, the thread that created H takes its place.
 *  3. H on a CPU: driver in an ioctl, else runtime in a runtime call, else user_code.
 *  4. H ready to run: runnable, who = the thread that ran on that CPU instead.
 *  5. H asleep in a runtime call that waits for the device (kind sync or copy), and
 *     its waker was not itself in a runtime call: the device had finished, and the
 *     notice of completion was under way. If a thread of the same process woke H, the
 *     time that this thread waited for a CPU is runnable, who = the thread that ran
 *     instead; the rest is device_wait, "completion of FUNCTION reached the thread
 *     late". If T was already enqueued: device_wait, "enqueued, not submitted yet".
 *     If H sleeps in C itself, and the sleep lies inside the gap: rule 6 instead.
 *  6. H asleep elsewhere: by the system call in which it slept and by its waker:
 *     page_fault, lock, sleep, io, network, pipeline, driver, no_work, else unknown
 *     (see idle_rules.h).
 *
 * Parts add up to their gap, causes to the total; a remainder that no rule covers is
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

/* A part of a gap. Strings are ids of model->strings. */
struct idle_part {
	uint64_t start_ns;
	uint64_t end_ns;
	uint8_t cause; /* enum idle_cause */
	uint32_t who; /* string; 0 = unknown */
	uint32_t thread; /* who, if that is a thread; else the examined thread; INDEX_NONE = neither */
	uint32_t detail; /* string; 0 = none */
};

struct idle_gap {
	struct device_gap gap;
	struct idle_part *parts; /* in idle_result.parts; without holes from gap.start_ns to gap.end_ns */
	uint32_t part_count;
};

struct idle_total {
	uint8_t cause;
	uint32_t who;
	uint32_t thread; /* of the longest part */
	uint32_t detail; /* of the longest part */
	uint64_t ns;
	uint64_t gaps; /* number of gaps with this cause and who */
	double percent; /* of idle_result.total_ns */
};

struct idle_roots;

struct idle_result {
	uint64_t total_ns; /* all gaps of all devices */
	uint64_t gaps_total;
	uint64_t threshold_ns; /* shorter gaps are included in the sums but not listed */
	struct idle_total *totals; /* largest first */
	uint32_t total_count;
	struct idle_gap *gaps; /* the options->top longest ones, longest first */
	uint32_t gap_count;
	MODEL_ARRAY(struct idle_part) parts; /* of all @gaps, gap after gap; one block, which may be in a file (spill.h) */
	uint64_t cause_ns[IDLE_CAUSES]; /* sums of totals by cause */
	struct idle_roots *roots; /* the same time by root: idle_roots.h */
};

/*
 * idle_analyse - splits all gaps of @usages
 *
 * Needs timelines and the launch join; for places of roots, frames with names. Adds its texts to
 * model->strings. The caller frees *result with idle_free(). Returns 0 or -ENOMEM.
 */
int idle_analyse(struct model *model, const struct device_usage *usages,
		 const struct analysis_options *options, struct idle_result *result);
void idle_free(struct idle_result *result);

/*
 * An idle_splitter holds the tools for splitting single gaps: for writers that need the
 * parts of each gap, not only of the longest ones. NULL without memory.
 */
struct idle_splitter;
struct idle_splitter *idle_splitter_new(struct model *model);
void idle_splitter_free(struct idle_splitter *splitter);

/*
 * idle_split - splits one gap into parts, in time order and without holes
 *
 * *parts belongs to the splitter and stays valid until the next call. With
 * @details the parts get their detail texts, for which the wakers' timelines are
 * searched. Returns the number of parts or -ENOMEM.
 */
int idle_split(struct idle_splitter *splitter, const struct device_gap *gap, bool details,
	       const struct idle_part **parts);

/*
 * idle_split_roots - finds the roots of these gaps alone
 *
 * Like idle_result.roots for all gaps. Returns 0 or -ENOMEM; in both cases the caller calls idle_roots_free(@roots).
 */
int idle_split_roots(struct idle_splitter *splitter, const struct device_gap *gaps, uint64_t count,
		     struct idle_roots *roots);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_H */
