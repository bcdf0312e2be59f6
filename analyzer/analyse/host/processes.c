/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/host/accounts.h"
#include "analyzer/analyse/host/cpu_split.h"
#include "analyzer/analyse/host/process_facts.h"
#include "proto/trace.pb-c.h"

/* A thread's clock and its switch records differ by less than this per switch. */
#define SWITCH_COST_MAX_NS 20000

/* A timeline's sums are used if at most one part in this many of it is unknown. */
#define HOLES_MAX 100

/* Can timelines have unnoticed holes? */
static bool records_lost(const struct model *model)
{
	for (uint32_t i = 0; i < model->sources.count; i++) {
		const struct source_loss *source = &model->sources.row[i];

		if (strcmp(model_text(model, source->name), "sched") != 0)
			continue;
		if (source->produced > source->delivered ||
		    (source->read != UINT64_MAX && source->read < source->delivered))
			return true;
		/* The recording is complete, even if other parts of the file are damaged. */
		if (model->info.ended)
			return false;
	}
	return model->damage.packets_skipped || model->damage.bytes_skipped;
}

static void times_from_timeline(const struct model *model, const struct analysis_window *window,
				struct syscall_table *syscalls, struct thread_usage *usage)
{
	const struct timeline *timeline = &model->timelines.row[usage->thread];

	usage->source = USAGE_TIMELINE;
	for (uint32_t i = 0; i < timeline->count; i++) {
		const struct span *span = &model->spans.row[timeline->first + i];
		uint64_t ns = analysis_clipped(span->start_ns, span->end_ns, window);

		usage->alive_ns += ns;
		switch (span->state) {
		case STATE_RUNNING: usage->run_ns += ns; break;
		case STATE_RUNNABLE:
			usage->runnable_ns += ns;
			if (span->flags & SPAN_THROTTLED)
				usage->throttled_ns += ns;
			break;
		case STATE_UNKNOWN: usage->unknown_ns += ns; break;
		default:
			usage->blocked_ns += ns;
			if (ns)
				usage->reason_ns[sleep_reason(model, syscalls, span)] += ns;
			if (span->state == STATE_DISK || span->flags & SPAN_IOWAIT)
				usage->io_ns += ns;
			break;
		}
	}
}

/* The time in the window in which the thread existed, as far as the trace shows. */
static uint64_t alive_ns(const struct model *model, const struct analysis_window *window,
			 uint32_t thread)
{
	const struct thread *of = &model->threads.row[thread];
	uint64_t begin_ns = of->first_ns, end_ns = of->exit_ns ? of->exit_ns : UINT64_MAX;
	uint32_t first, count = accounts_of(model, thread, &first);

	if (of->start_ns && of->start_ns < begin_ns)
		begin_ns = of->start_ns;
	if (count && model->accounts.row[first].flags & PROFBPF__ACCOUNTS__FLAG__FIRST)
		begin_ns = 0;
	if (count &&
	    model->accounts.row[first + count - 1].flags & PROFBPF__ACCOUNTS__FLAG__FINAL &&
	    model->accounts.row[first + count - 1].ts_ns < end_ns)
		end_ns = model->accounts.row[first + count - 1].ts_ns;
	return analysis_clipped(begin_ns, end_ns, window);
}

static void times_from_account(const struct model *model, const struct analysis_window *window,
			       const struct account *growth, struct thread_usage *usage)
{
	uint64_t busy_ns = growth->run_ns + growth->runnable_ns;

	if (usage->source == USAGE_UNKNOWN)
		usage->alive_ns = alive_ns(model, window, usage->thread);
	usage->source = USAGE_ACCOUNTS;
	usage->run_ns = growth->run_ns;
	usage->runnable_ns = growth->runnable_ns;
	usage->unknown_ns = 0;
	usage->blocked_ns = usage->alive_ns > busy_ns ? usage->alive_ns - busy_ns : 0;
	if (growth->flags & PROFBPF__ACCOUNTS__FLAG__HAS_IO) {
		usage->io_ns = growth->io_ns;
		usage->has_io = true;
	}
	if (usage->io_ns > usage->blocked_ns)
		usage->io_ns = usage->blocked_ns;
}

static bool is_whole(const struct model *model, const struct analysis_window *window)
{
	return window->from_ns == model->info.session_start_ns &&
	       window->to_ns == model->info.session_end_ns;
}

/*
 * The kernel's count of a thread's time between two instants at which it did not run, so that the
 * count is exact: the session's ends, or the first and last such instants in a part of the session.
 * Returns false if there are none.
 */
static bool counted_between(const struct model *model, const struct analysis_window *window,
			    const struct account *growth, uint32_t thread,
			    struct analysis_window *between, uint64_t *run_ns)
{
	uint32_t first, count = accounts_of(model, thread, &first), last = first + count;
	const struct account *row = model->accounts.row;

	if (!count)
		return false;
	if (is_whole(model, window)) {
		*between = *window;
		*run_ns = growth->run_ns;
		return !(row[first].flags & PROFBPF__ACCOUNTS__FLAG__RUNNING) &&
		       !(row[last - 1].flags & PROFBPF__ACCOUNTS__FLAG__RUNNING);
	}
	while (first < last && (row[first].ts_ns < window->from_ns ||
				row[first].flags & PROFBPF__ACCOUNTS__FLAG__RUNNING))
		first++;
	while (last > first && (row[last - 1].ts_ns > window->to_ns ||
				row[last - 1].flags & PROFBPF__ACCOUNTS__FLAG__RUNNING))
		last--;
	if (last <= first + 1 || row[last - 1].run_ns < row[first].run_ns)
		return false;
	*between = (struct analysis_window){ row[first].ts_ns, row[last - 1].ts_ns };
	*run_ns = row[last - 1].run_ns - row[first].run_ns;
	return true;
}

static uint64_t run_between(const struct model *model, const struct analysis_window *between,
			    uint32_t thread)
{
	const struct timeline *timeline = &model->timelines.row[thread];
	uint64_t run_ns = 0;

	for (uint32_t i = 0; i < timeline->count; i++) {
		const struct span *span = &model->spans.row[timeline->first + i];

		if (span->state == STATE_RUNNING)
			run_ns += analysis_clipped(span->start_ns, span->end_ns, between);
	}
	return run_ns;
}

/*
 * The kernel's clock of a thread starts before the switch to the thread is recorded, and stops
 * after the switch from it is recorded: a microsecond or so each time. Where the clock is exact (it
 * is not while the thread runs), it is preferred. It also excludes the time that the hypervisor or
 * interrupts took while the thread had its CPU.
 */
static void settle_run(const struct model *model, const struct analysis_window *window,
		       const struct account *growth, struct thread_usage *usage)
{
	uint64_t switches = growth->voluntary + growth->involuntary, counted_ns, more_ns, seen_ns;
	struct analysis_window between;

	if (!counted_between(model, window, growth, usage->thread, &between, &counted_ns))
		return;
	seen_ns = run_between(model, &between, usage->thread);
	if (counted_ns < seen_ns) {
		usage->stolen_ns = seen_ns - counted_ns;
		usage->run_ns -= usage->stolen_ns;
		return;
	}
	more_ns = counted_ns - seen_ns;
	/*
	 * At the borders of a part, the difference is assumed to be in proportion, if most of the
	 * part lies between the two instants.
	 */
	if (seen_ns && seen_ns < usage->run_ns && 2 * seen_ns > usage->run_ns)
		more_ns = (uint64_t)((double)more_ns * (double)usage->run_ns / (double)seen_ns);
	/* More than switches take: the kernel did not report some switches, and the timeline has no hole for them. */
	if (more_ns > (switches + 1) * SWITCH_COST_MAX_NS && is_whole(model, window)) {
		times_from_account(model, window, growth, usage);
		return;
	}
	if (more_ns > (switches + 1) * SWITCH_COST_MAX_NS ||
	    more_ns > usage->blocked_ns + usage->runnable_ns)
		return;
	usage->run_ns += more_ns;
	if (more_ns > usage->blocked_ns) {
		usage->runnable_ns -= more_ns - usage->blocked_ns;
		usage->blocked_ns = 0;
	} else {
		usage->blocked_ns -= more_ns;
	}
	if (usage->io_ns > usage->blocked_ns)
		usage->io_ns = usage->blocked_ns;
}

/*
 * Is a timeline with holes better than the kernel's sums? For the whole session these are exact; at the borders of a
 * part they are interpolated between readings, which are late where CPUs are scarce.
 */
static bool holes_are_small(const struct model *model, const struct analysis_window *window,
			    const struct thread_usage *usage)
{
	bool whole = window->from_ns <= model->info.session_start_ns &&
		     window->to_ns >= model->info.session_end_ns;

	return !usage->unknown_ns || (!whole && usage->unknown_ns <= usage->alive_ns / HOLES_MAX);
}

static void analyse_thread(const struct model *model, const struct analysis_window *window,
			   struct syscall_table *syscalls, bool lost, struct thread_usage *usage)
{
	struct account growth;
	bool has_account =
		accounts_growth(model, usage->thread, window->from_ns, window->to_ns, &growth);
	bool has_timeline = usage->thread < model->timelines.count &&
			    model->timelines.row[usage->thread].count > 0;

	if (has_timeline)
		times_from_timeline(model, window, syscalls, usage);
	/* The kernel's sums do not separate I/O waits; a timeline with small holes does, nearly. */
	usage->has_io = has_timeline && !lost && usage->unknown_ns <= usage->alive_ns / HOLES_MAX;
	if (has_account &&
	    (!has_timeline || lost || !holes_are_small(model, window, usage)))
		times_from_account(model, window, &growth, usage);
	else if (has_account)
		settle_run(model, window, &growth, usage);
	usage->has_reasons = has_timeline && !lost;
	/* The timeline's switches were counted before; otherwise the kernel's count is used. */
	if (has_account && usage->source == USAGE_ACCOUNTS) {
		usage->voluntary = growth.voluntary;
		usage->involuntary = growth.involuntary;
	}
	usage->has_counts = usage->source != USAGE_UNKNOWN;
	if (!has_account)
		return;
	usage->has_migrations = true;
	usage->migrations = growth.migrations;
	usage->user_ticks_ns = growth.user_ns;
	usage->system_ticks_ns = growth.system_ns;
	usage->minor_faults = growth.minor_faults;
	usage->major_faults = growth.major_faults;
	usage->has_bytes = growth.flags & PROFBPF__ACCOUNTS__FLAG__HAS_BYTES;
	usage->bytes = (struct io_bytes){ growth.read_bytes, growth.write_bytes, growth.read_chars,
					  growth.write_chars };
}

static void count_switches(const struct model *model, const struct analysis_window *window,
			   struct thread_usage *usages)
{
	for (uint32_t i = 0; i < model->switches.count; i++) {
		const struct cpu_switch *row = &model->switches.row[i];

		if (row->prev_thread == INDEX_NONE || !analysis_has(row->ts_ns, window))
			continue;
		if (row->state == PROFBPF__SWITCHES__STATE__PREEMPTED)
			usages[row->prev_thread].involuntary++;
		else
			usages[row->prev_thread].voluntary++;
	}
}

static void sum_process(struct process_usage *usage, uint64_t window_ns)
{
	usage->has_io = true;
	usage->has_reasons = true;
	usage->has_migrations = true;
	usage->source = USAGE_TIMELINE;
	for (uint32_t i = 0; i < usage->thread_count; i++) {
		const struct thread_usage *thread = &usage->threads[i];

		usage->run_ns += thread->run_ns;
		usage->runnable_ns += thread->runnable_ns;
		usage->blocked_ns += thread->blocked_ns;
		usage->io_ns += thread->io_ns;
		usage->interrupted_ns += thread->interrupted_ns;
		usage->throttled_ns += thread->throttled_ns;
		for (int reason = 0; reason < REASONS; reason++)
			usage->reason_ns[reason] += thread->reason_ns[reason];
		usage->has_reasons &= thread->has_reasons;
		usage->stolen_ns += thread->stolen_ns;
		usage->voluntary += thread->voluntary;
		usage->involuntary += thread->involuntary;
		usage->migrations += thread->migrations;
		usage->has_io &= thread->has_io;
		usage->has_migrations &= thread->has_migrations;
		if (thread->source == USAGE_UNKNOWN || usage->source == USAGE_UNKNOWN)
			usage->source = USAGE_UNKNOWN;
		else if (thread->source == USAGE_ACCOUNTS)
			usage->source = USAGE_ACCOUNTS;
	}
	if (window_ns)
		usage->utilization = 100 * (double)usage->run_ns / (double)window_ns;
}

static int compare(uint64_t larger_first_a, uint64_t larger_first_b)
{
	return larger_first_a > larger_first_b ? -1 : larger_first_a < larger_first_b;
}

static int by_process_then_run(const void *a, const void *b, void *context)
{
	const struct thread_usage *x = a, *y = b;
	const struct thread *threads = ((const struct model *)context)->threads.row;
	const struct thread *tx = &threads[x->thread], *ty = &threads[y->thread];

	if (tx->process != ty->process)
		return tx->process < ty->process ? -1 : 1;
	if (x->run_ns != y->run_ns)
		return compare(x->run_ns, y->run_ns);
	if (tx->tid != ty->tid)
		return tx->tid < ty->tid ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int by_target_then_run(const void *a, const void *b, void *context)
{
	const struct process_usage *x = a, *y = b;
	const struct process *processes = ((const struct model *)context)->processes.row;
	const struct process *px = &processes[x->process], *py = &processes[y->process];

	if (px->target != py->target)
		return px->target ? -1 : 1;
	if (x->run_ns != y->run_ns)
		return compare(x->run_ns, y->run_ns);
	if (px->pid != py->pid)
		return px->pid < py->pid ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

/* Drops threads of processes that are not selected, and threads that did not exist in the window. */
static void keep_wanted(const struct model *model, const struct analysis_options *options,
			struct process_results *results)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < results->thread_count; i++) {
		const struct thread_usage *usage = &results->threads[i];
		const struct thread *thread = &model->threads.row[usage->thread];

		if (!analysis_wants_process(model, options, thread->process))
			continue;
		if (!thread->target && usage->run_ns == 0)
			continue;
		if (usage->source != USAGE_UNKNOWN && usage->alive_ns == 0 && usage->run_ns == 0)
			continue;
		results->from_timelines |= usage->source == USAGE_TIMELINE;
		results->threads[kept++] = *usage;
	}
	results->thread_count = kept;
}

static void sum_interrupts(const struct model *model, const struct analysis_window *window,
			   struct thread_usage *usages)
{
	for (uint32_t i = 0; i < model->interrupts.count; i++) {
		const struct interrupt *row = &model->interrupts.row[i];

		usages[row->thread].interrupted_ns +=
			analysis_clipped(row->ts_ns, row->ts_ns + row->dur_ns, window);
	}
}

static bool sum_sleeps(const struct model *model, const struct analysis_window *window,
		       struct process_results *results)
{
	for (uint32_t i = 0; i < results->thread_count; i++) {
		struct thread_usage *usage = &results->threads[i];

		if (usage->has_reasons && model->threads.row[usage->thread].target &&
		    !sleeps_sum(model, window, usage->thread, &usage->sleeps))
			return false;
	}
	return true;
}

static bool group(const struct model *model, const struct analysis_window *window,
		  struct process_results *results)
{
	struct process_cpu *cpu = process_cpu_compute(model, window);
	uint32_t next;

	results->processes = calloc((size_t)results->thread_count + 1, sizeof(*results->processes));
	if (!results->processes || !cpu) {
		free(cpu);
		return false;
	}
	for (uint32_t first = 0; first < results->thread_count; first = next) {
		struct process_usage *usage = &results->processes[results->process_count++];

		usage->process = model->threads.row[results->threads[first].thread].process;
		for (next = first; next < results->thread_count; next++) {
			if (model->threads.row[results->threads[next].thread].process !=
			    usage->process)
				break;
		}
		usage->threads = &results->threads[first];
		usage->thread_count = next - first;
		sum_process(usage, results->window_ns);
		process_facts(model, window, &cpu[usage->process], usage);
	}
	free(cpu);
	return true;
}

int processes_analyse(const struct model *model, const struct analysis_options *options,
		      struct process_results *results)
{
	struct analysis_window window = analysis_window(model, options);

	*results = (struct process_results){ .window = window };
	results->syscalls = syscall_table_new(model_text(model, model->info.arch));
	if (!results->syscalls)
		return -ENOMEM;
	if (window.to_ns > window.from_ns)
		results->window_ns = window.to_ns - window.from_ns;
	results->threads = calloc((size_t)model->threads.count + 1, sizeof(*results->threads));
	if (!results->threads)
		return -ENOMEM;
	results->thread_count = model->threads.count;
	results->records_lost = records_lost(model);
	count_switches(model, &window, results->threads);
	for (uint32_t i = 0; i < model->threads.count; i++) {
		results->threads[i].thread = i;
		analyse_thread(model, &window, results->syscalls, results->records_lost,
			       &results->threads[i]);
	}
	sum_interrupts(model, &window, results->threads);
	keep_wanted(model, options, results);
	if (!sum_sleeps(model, &window, results))
		return -ENOMEM;
	qsort_r(results->threads, results->thread_count, sizeof(*results->threads),
		by_process_then_run, (void *)model);
	if (!group(model, &window, results))
		return -ENOMEM;
	qsort_r(results->processes, results->process_count, sizeof(*results->processes),
		by_target_then_run, (void *)model);
	return 0;
}

void processes_free(struct process_results *results)
{
	for (uint32_t i = 0; i < results->thread_count; i++)
		free(results->threads[i].sleeps.row);
	syscall_table_free(results->syscalls);
	free(results->processes);
	free(results->threads);
	*results = (struct process_results){ 0 };
}
