/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_bundle.h - scheduling events of one CPU, in columns.
 *
 * In Perfetto's compact form a switch takes about ten bytes. Facts that it cannot
 * express are separate events: the first switch of a CPU (a compact switch takes
 * the previous thread from the switch before it), a waker that is not the thread
 * shown on that CPU, and that a thread waits for I/O.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_PERFETTO_PERFETTO_BUNDLE_H
#define PROFBPF_ANALYZER_EXPORT_PERFETTO_PERFETTO_BUNDLE_H

#include <stdint.h>

#include "analyzer/export/perfetto/perfetto_trace.h"

#define BUNDLE_EVENTS 512

struct bundle;

/* bundle_new - used for all CPUs in turn; NULL without memory */
struct bundle *bundle_new(struct perfetto_trace *trace);
void bundle_free(struct bundle *bundle);

/* bundle_begin - sets the CPU of the following events; bundle_end - writes the remaining events */
void bundle_begin(struct bundle *bundle, uint32_t cpu);
void bundle_end(struct bundle *bundle);

/* The thread that is shown on a CPU: a real one, the idle thread (tid 0), or "unrecorded". */
struct on_cpu {
	uint32_t tid;
	uint32_t thread; /* INDEX_NONE: none of the model's */
};

/* bundle_unrecorded - the placeholder for unrecorded time on a CPU */
struct on_cpu bundle_unrecorded(uint32_t cpu);

/*
 * bundle_first_switch - the first switch of the CPU, after unrecorded time
 * bundle_switch - a further one; @leaves is how the previous thread left the CPU (struct cpu_slice)
 */
void bundle_first_switch(struct bundle *bundle, uint64_t ns, struct on_cpu next);
void bundle_switch(struct bundle *bundle, uint64_t ns, uint8_t leaves, struct on_cpu next);

/* bundle_blocked - the thread that leaves at @ns waits for I/O */
void bundle_blocked(struct bundle *bundle, uint64_t ns, uint32_t tid);

/* bundle_wake - a wake-up; @compact: the thread shown on the waker's CPU becomes its waker */
void bundle_wake(struct bundle *bundle, const struct wake *wake, bool compact);

#endif /* PROFBPF_ANALYZER_EXPORT_PERFETTO_PERFETTO_BUNDLE_H */
