/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_slices.h - the known time of threads on each CPU.
 *
 * Not every switch is in a trace. A trace contains switches to and from targets' threads, and all switches on a CPU
 * while a target waits for it. So a target's time on a CPU is known exactly. The time of any other thread is known
 * only while a target waited: a thread that was switched in when a target went to sleep may have run for a microsecond
 * or for a second. Slices contain known time only:
 *
 *  - a target: from its switch-in to its switch-out;
 *  - another thread, or the idle CPU: from its switch-in for as long as a target
 *    was waiting without interruption, and from a target's wake-up to the switch
 *    that let the target on this CPU;
 *  - nothing where two records contradict each other because some were lost.
 *
 * Time between slices is unknown. A trace of the whole system, where each thread is a
 * target, has no unknown time.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TIMELINE_CPU_SLICES_H
#define PROFBPF_ANALYZER_EXPORT_TIMELINE_CPU_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"
#include "analyzer/export/export.h"

/* How a slice ends, beyond Switches.State of proto/trace.proto. */
#define CPU_SLICE_GOES_ON 0x80 /* the thread was still running when the window ended */
#define CPU_SLICE_NOT_RECORDED 0x81 /* how long it ran on was not recorded */

struct cpu_slice {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t tid; /* 0 = idle */
	uint32_t thread; /* index into model->threads or INDEX_NONE */
	uint8_t leaves; /* enum switch_state or CPU_SLICE_* */
	uint8_t flags; /* Switches.Flag: IO_WAIT, PAGE_FAULT */
};

struct cpu_row {
	uint32_t cpu;
	uint32_t first; /* index of its first slice */
	uint32_t count;
};

struct cpu_slices {
	struct cpu_slice *slices; /* by CPU, then time; slices of one CPU never overlap */
	uint32_t count;
	struct cpu_row *cpus; /* CPUs with records, ascending */
	uint32_t cpu_count;
};

/*
 * cpu_slices_build - builds slices from the model's switches and wake-ups
 *
 * With options->pids only threads of these processes count as targets. Slices are
 * cut to the options' window. Returns 0 or -ENOMEM; cpu_slices_free() is to be
 * called in any case.
 */
int cpu_slices_build(const struct model *model, const struct export_options *options,
		     struct cpu_slices *slices);
void cpu_slices_free(struct cpu_slices *slices);

#endif /* PROFBPF_ANALYZER_EXPORT_TIMELINE_CPU_SLICES_H */
