/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_waits.h - when a target thread was waiting for which CPU.
 *
 * During these times every switch on that CPU was recorded.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TIMELINE_CPU_WAITS_H
#define PROFBPF_ANALYZER_EXPORT_TIMELINE_CPU_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

struct cpu_wait {
	uint64_t start_ns;
	uint64_t end_ns;
	uint16_t cpu;
};

struct cpu_waits {
	struct cpu_wait *row; /* by CPU, then time; rows of one CPU neither overlap nor touch */
	uint32_t count;
	uint32_t capacity;
};

/*
 * cpu_waits_find - finds waits in the model's switches and wake-ups
 *
 * @chosen: one entry per thread of the model; selects the targets that count. A thread waits
 * from its wake-up, or from being preempted, to its next switch-in: on the CPU
 * where that happened, after a preemption on the CPU where it was preempted.
 * Returns 0 or -ENOMEM; cpu_waits_free() is to be called in any case.
 */
int cpu_waits_find(const struct model *model, const bool *chosen, struct cpu_waits *waits);
void cpu_waits_free(struct cpu_waits *waits);

#endif /* PROFBPF_ANALYZER_EXPORT_TIMELINE_CPU_WAITS_H */
