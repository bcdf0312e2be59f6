/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scheduling: the threads that ran on each CPU, and their wake-ups.
 *
 * Perfetto extends each switch to the next one on that CPU. For unknown time in
 * between, a switch to a thread "unrecorded" is written, so that no slice claims
 * more than was recorded (see cpu_slices.h).
 */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/export/perfetto/perfetto_bundle.h"
#include "analyzer/export/perfetto/perfetto_trace.h"
#include "proto/trace.pb-c.h"

#define CPU_KEYS (UINT16_MAX + 1)

/* Makes the switches of one CPU from its slices, one by one. */
struct switcher {
	struct bundle *bundle;
	const struct cpu_slice *slices;
	uint32_t count;
	uint32_t next; /* slice to begin next */
	bool in_slice; /* slices[next - 1] has not ended */
	struct on_cpu current;
	uint64_t since_ns; /* start of current */
	uint32_t cpu;
};

/* Does slices[next - 1] end before the next slice begins? */
static bool ends_alone(const struct switcher *switcher)
{
	const struct cpu_slice *last = &switcher->slices[switcher->next - 1];

	if (!switcher->in_slice || switcher->next == 0)
		return false;
	if (switcher->next == switcher->count)
		return last->leaves != CPU_SLICE_GOES_ON;
	return switcher->slices[switcher->next].start_ns > last->end_ns;
}

static uint64_t next_instant(const struct switcher *switcher)
{
	if (ends_alone(switcher))
		return switcher->slices[switcher->next - 1].end_ns;
	if (switcher->next < switcher->count)
		return switcher->slices[switcher->next].start_ns;
	return UINT64_MAX;
}

static uint8_t leaving(struct switcher *switcher)
{
	const struct cpu_slice *last;

	if (!switcher->in_slice || switcher->next == 0)
		return CPU_SLICE_NOT_RECORDED;
	last = &switcher->slices[switcher->next - 1];
	/* Written just after the switch; otherwise it would describe the state before it. */
	if (last->flags & PROFBPF__SWITCHES__FLAG__IO_WAIT &&
	    (last->leaves == PROFBPF__SWITCHES__STATE__DISK_SLEEP ||
	     last->leaves == PROFBPF__SWITCHES__STATE__SLEEP))
		bundle_blocked(switcher->bundle, last->end_ns + 1, last->tid);
	return last->leaves;
}

static void make_switch(struct switcher *switcher)
{
	const struct cpu_slice *slice;

	switcher->since_ns = next_instant(switcher);
	if (ends_alone(switcher)) {
		switcher->current = bundle_unrecorded(switcher->cpu);
		bundle_switch(switcher->bundle, switcher->since_ns, leaving(switcher),
			      switcher->current);
		switcher->in_slice = false;
		return;
	}
	slice = &switcher->slices[switcher->next];
	switcher->current = (struct on_cpu){ .tid = slice->tid, .thread = slice->thread };
	bundle_switch(switcher->bundle, slice->start_ns, leaving(switcher), switcher->current);
	switcher->in_slice = true;
	switcher->next++;
}

/* The time before the first slice of the CPU is unknown, too. */
static void begin_switches(struct switcher *switcher, uint64_t start_ns)
{
	const struct cpu_slice *first = &switcher->slices[0];

	switcher->current = bundle_unrecorded(switcher->cpu);
	if (switcher->count && first->start_ns == start_ns) {
		switcher->current = (struct on_cpu){ .tid = first->tid, .thread = first->thread };
		switcher->in_slice = true;
		switcher->next++;
	}
	switcher->since_ns = start_ns;
	bundle_first_switch(switcher->bundle, start_ns, switcher->current);
}

static void switch_until(struct switcher *switcher, uint64_t ns)
{
	while (next_instant(switcher) <= ns && next_instant(switcher) != UINT64_MAX)
		make_switch(switcher);
}

/* Wake-ups by the waker's CPU: rows[first[cpu] .. first[cpu + 1]). */
struct wakes_by_cpu {
	uint32_t *first;
	uint32_t *rows;
};

static bool sort_wakes(const struct model *model, struct wakes_by_cpu *wakes)
{
	wakes->first = calloc(CPU_KEYS + 2, sizeof(*wakes->first));
	wakes->rows = malloc(((size_t)model->wakes.count + 1) * sizeof(*wakes->rows));
	if (!wakes->first || !wakes->rows)
		return false;
	for (uint32_t i = 0; i < model->wakes.count; i++)
		wakes->first[model->wakes.row[i].cpu + 2]++;
	for (uint32_t cpu = 0; cpu < CPU_KEYS; cpu++)
		wakes->first[cpu + 2] += wakes->first[cpu + 1];
	for (uint32_t i = 0; i < model->wakes.count; i++)
		wakes->rows[wakes->first[model->wakes.row[i].cpu + 1]++] = i;
	return true;
}

static bool wake_is_wanted(const struct perfetto_trace *trace, const struct wake *wake)
{
	return wake->thread < trace->model->threads.count && trace->chosen[wake->thread] &&
	       export_instant(&trace->window, wake->ts_ns);
}

/*
 * In a compact wake-up the waker is the thread that readers show on the CPU; at the very instant of a switch that
 * is ambiguous. A wake-up from an interrupt, which has no meaningful waker, can only be expressed in
 * compact form.
 */
static bool wake_is_compact(const struct switcher *switcher, const struct wake *wake,
			    uint64_t start_ns)
{
	if (wake->flags & WOKEN_BY_INTERRUPT)
		return wake->ts_ns > start_ns;
	return switcher->current.tid == wake->waker_tid && switcher->since_ns < wake->ts_ns;
}

static void write_cpu(struct perfetto_trace *trace, struct bundle *bundle, uint32_t cpu,
		      const struct cpu_row *row, const struct wakes_by_cpu *wakes)
{
	struct switcher switcher = { .bundle = bundle, .cpu = cpu };

	bundle_begin(bundle, cpu);
	if (row) {
		switcher.slices = trace->cpus.slices + row->first;
		switcher.count = row->count;
		begin_switches(&switcher, trace->window.start_ns);
	}
	for (uint32_t i = wakes->first[cpu]; i < wakes->first[cpu + 1]; i++) {
		const struct wake *wake = &trace->model->wakes.row[wakes->rows[i]];

		if (!wake_is_wanted(trace, wake))
			continue;
		switch_until(&switcher, wake->ts_ns);
		bundle_wake(bundle, wake,
			    row && wake_is_compact(&switcher, wake, trace->window.start_ns));
	}
	switch_until(&switcher, UINT64_MAX);
	bundle_end(bundle);
}

int perfetto_write_sched(struct perfetto_trace *trace)
{
	struct bundle *bundle = bundle_new(trace);
	struct wakes_by_cpu wakes = { 0 };
	uint32_t row = 0;
	int error = -ENOMEM;

	if (!bundle || !sort_wakes(trace->model, &wakes))
		goto cleanup;
	for (uint32_t cpu = 0; cpu < CPU_KEYS; cpu++) {
		bool switches = row < trace->cpus.cpu_count && trace->cpus.cpus[row].cpu == cpu;

		if (cpu < PERFETTO_CPUS_MAX)
			write_cpu(trace, bundle, cpu, switches ? &trace->cpus.cpus[row] : NULL,
				  &wakes);
		else if (switches || wakes.first[cpu] < wakes.first[cpu + 1])
			trace->counts.skipped_cpus++;
		row += switches;
	}
	error = 0;
cleanup:
	free(wakes.first);
	free(wakes.rows);
	bundle_free(bundle);
	return error;
}
