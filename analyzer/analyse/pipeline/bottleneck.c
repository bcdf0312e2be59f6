/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/pipeline/bottleneck.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/pipeline/operator_advice.h"
#include "analyzer/analyse/pipeline/uneven.h"
#include "analyzer/join/thread/timelines.h"
#include "analyzer/model/translate.h"

#define STEPS_MIN 3 /* fewer judged steps prove nothing */
#define STORAGE_SHARE 0.3 /* of its workers' time at work */
#define BUSY_SHARE 0.5

static double percent_of(uint64_t part_ns, uint64_t all_ns)
{
	return all_ns ? 100 * (double)part_ns / (double)all_ns : 0;
}

/* The activity of an operator's threads, and the time in which it was observed. */
struct doing {
	double all, run, ready, io;
};

/* Within its works, if these are known. */
static struct doing doing_at_work(const struct operator_pipeline_usage *of)
{
	return (struct doing){
		.all = (double)work_times_known_ns(&of->work),
		.run = (double)of->work.run_ns,
		.ready = (double)of->work.runnable_ns,
		.io = (double)of->work.io_ns,
	};
}

/* The whole activity of its threads: the share of work is not known. */
static struct doing doing_at_all(const struct operator_pipeline_usage *of)
{
	return (struct doing){
		.all = (double)(of->work_ns ? of->work_ns :
					      of->all_run_ns + of->all_runnable_ns +
						      of->all_blocked_ns),
		.run = (double)of->all_run_ns,
		.ready = (double)of->all_runnable_ns,
		.io = (double)of->all_io_ns,
	};
}

/*
 * Why an operator is slow, by its threads' activity in the time in which they had work. The known waits for
 * elements and for room are those of its main thread; workers wait inside the operator as well.
 */
static enum bottleneck_kind why_slow(const struct operator_pipeline_usage *of)
{
	bool at_work = work_times_known_ns(&of->work) > 0;
	struct doing doing = at_work ? doing_at_work(of) : doing_at_all(of);

	if (!of->has_times && !at_work)
		return BOTTLENECK_SLOW;
	/* If works were not recorded, the work is at least the time on a CPU, ready, or waiting for a disk. */
	if (doing.all < doing.run + doing.ready + doing.io)
		doing.all = doing.run + doing.ready + doing.io;
	if (doing.all == 0)
		return BOTTLENECK_SLOW;
	if (doing.io >= STORAGE_SHARE * doing.all)
		return BOTTLENECK_STORAGE;
	if (doing.run >= BUSY_SHARE * doing.all)
		return BOTTLENECK_BUSY;
	if (doing.run + doing.ready >= BUSY_SHARE * doing.all)
		return BOTTLENECK_STARVED;
	/* If the works are not known, a sleep may be a wait for elements. */
	return of->work_ns ? BOTTLENECK_SLEEPS : BOTTLENECK_SLOW;
}

/* Samples have the CPU time of an operator, but no other activity. */
static enum bottleneck_kind why_slow_by_samples(const struct pipeline_steps *steps, uint32_t op)
{
	uint32_t workers = steps->usage->pipeline->operators.row[op].workers;
	double cpu = steps->usage->operators[op].utilization;

	return cpu >= 100 * BUSY_SHARE * (workers ? workers : 1) ? BOTTLENECK_BUSY :
								   BOTTLENECK_SLOW;
}

static enum bottleneck_kind kind_of(const struct pipeline_steps *steps, uint32_t op)
{
	const struct operator_cost *cost = &steps->costs[op];

	if (steps->usage->pipeline->sampled)
		return why_slow_by_samples(steps, op);
	if (cost->lock_ns > cost->wait_ns && cost->lock_ns > cost->cpu_ns)
		return BOTTLENECK_LOCK;
	if (cost->cpu_ns > cost->wait_ns)
		return BOTTLENECK_TAKES_CPU;
	return why_slow(&steps->usage->operators[op]);
}

static void explain_none(const struct pipeline_steps *steps, struct bottleneck *b)
{
	char starved[128] = "";
	double others;

	if (steps->judged < STEPS_MIN) {
		snprintf(b->reason, sizeof(b->reason),
			 tr("too few steps for a judgement: %u, without the first %d"), steps->judged,
			 STEPS_WARM_UP);
		return;
	}
	others = percent_of(steps->other_cpu_ns, steps->judged_ns);
	if (others >= BOTTLENECK_PERCENT)
		snprintf(starved, sizeof(starved),
			 tr(", and is ready to run while others have the CPU for %.1f %% (see "
			    "sections processes and host)"),
			 others);
	snprintf(b->reason, sizeof(b->reason),
		 tr("no operator costs the steps %d %% of their time: the trainer waits for data %.1f "
		 "%% of it%s"),
		 BOTTLENECK_PERCENT, percent_of(steps->judged_wait_ns, steps->judged_ns), starved);
}

const char *bottleneck_name(enum bottleneck_kind kind)
{
	static const char *const names[] = {
		[BOTTLENECK_NONE] = "none",	      [BOTTLENECK_BUSY] = "busy",
		[BOTTLENECK_SLEEPS] = "sleeps",	      [BOTTLENECK_STORAGE] = "storage",
		[BOTTLENECK_STARVED] = "starved",     [BOTTLENECK_LOCK] = "lock",
		[BOTTLENECK_TAKES_CPU] = "takes_cpu", [BOTTLENECK_SLOW] = "slow",
		[BOTTLENECK_RESTARTS] = "restarts",
	};

	return names[kind];
}

static const char *kind_text(enum bottleneck_kind kind)
{
	switch (kind) {
	case BOTTLENECK_BUSY: return tr("its workers are on a CPU for most of their work");
	case BOTTLENECK_SLEEPS:
		return tr("its workers sleep for most of their work, and not for a disk");
	case BOTTLENECK_STORAGE: return tr("its workers wait for a disk");
	case BOTTLENECK_STARVED: return tr("its workers are ready to run, but others have the CPUs");
	case BOTTLENECK_LOCK:
		return tr("its Python code has the interpreter lock that the trainer needs");
	case BOTTLENECK_TAKES_CPU: return tr("its threads have the CPUs that the trainer needs");
	default: return tr("the trainer waits for it");
	}
}

/* Lists the parts of the cost, except those that round to 0. */
static void tell_parts(const struct operator_cost *cost, uint64_t all_ns, char *text, size_t size)
{
	const struct {
		uint64_t ns;
		const char *by;
	} parts[] = {
		{ cost->wait_ns, tr("waits for data") },
		{ cost->lock_ns, tr("the interpreter lock") },
		{ cost->cpu_ns, tr("CPUs taken") },
	};
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && used < size; i++) {
		double percent = percent_of(parts[i].ns, all_ns);

		if (percent >= 0.05)
			used += (size_t)snprintf(text + used, size - used, tr("%s %.1f %% by %s"),
						 used ? "," : ":", percent, parts[i].by);
	}
}

static void explain(const struct pipeline_steps *steps, struct bottleneck *b)
{
	const struct operator_pipeline_usage *of = &steps->usage->operators[b->op];
	const struct pipeline_operator *op = &steps->usage->pipeline->operators.row[b->op];
	char parts[128], workers[32] = "";
	size_t used;

	tell_parts(&steps->costs[b->op], steps->judged_ns, parts, sizeof(parts));
	used = (size_t)snprintf(b->reason, sizeof(b->reason),
				tr("%s: it costs %.1f %% of the time of %u steps%s"), kind_text(b->kind),
				b->percent, steps->judged, parts);
	if (used >= sizeof(b->reason) || !of->has_element_ns)
		return;
	/* The single thread of a Python source may have other threads or processes that make its elements. */
	if (op->workers && !(op->source && op->python && op->workers == 1))
		snprintf(workers, sizeof(workers), tr(", %u worker%s"), op->workers,
			 op->workers == 1 ? "" : "s");
	snprintf(b->reason + used, sizeof(b->reason) - used, tr("; %.2f ms for each element%s"),
		 of->element_ns / 1e6, workers);
}

/*
 * Do the starts of workers cost more than all else that the costliest operator costs? The first fetch from new workers
 * does not count as such: they have made nothing yet, and are slow at first.
 */
static bool restarts_most(const struct pipeline_steps *steps)
{
	uint64_t all_ns = steps->judged_to_ns - steps->judged_from_ns, other_ns = 0;

	if (steps->judged < STEPS_MIN || percent_of(steps->restart_ns, all_ns) < BOTTLENECK_PERCENT)
		return false;
	if (steps->bottleneck != INDEX_NONE)
		other_ns = operator_cost_ns(&steps->costs[steps->bottleneck]);
	return steps->restart_ns + steps->restart_fetch_ns >= other_ns;
}

static struct bottleneck judge_restarts(const struct pipeline_steps *steps)
{
	struct bottleneck b = { .kind = BOTTLENECK_RESTARTS, .op = steps->restart_op };

	b.percent = percent_of(steps->restart_ns, steps->judged_to_ns - steps->judged_from_ns);
	snprintf(b.reason, sizeof(b.reason),
		 tr("its worker processes end with each epoch, and others are started: %u times, %.1f ms each, %.1f %% "
		    "of the time from the first to the last of %u steps"),
		 steps->restarts, (double)steps->restart_ns / 1e6 / steps->restarts, b.percent, steps->judged);
	return b;
}

static struct bottleneck judge(const struct pipeline_steps *steps)
{
	struct bottleneck b = { .op = INDEX_NONE };

	if (restarts_most(steps))
		return judge_restarts(steps);
	if (steps->judged < STEPS_MIN || steps->bottleneck == INDEX_NONE) {
		explain_none(steps, &b);
		return b;
	}
	b.op = steps->bottleneck;
	b.percent = percent_of(operator_cost_ns(&steps->costs[b.op]), steps->judged_ns);
	b.kind = kind_of(steps, b.op);
	explain(steps, &b);
	return b;
}

#define IDLE_CPU 0.5 /* less than half an idle CPU is not enough for another worker */

static const struct {
	const char *id;
	const char *title; /* after the operator's name */
	const char *remedy;
} ADVICE[] = {
	[BOTTLENECK_BUSY] = { "pipeline_busy", N_("is too slow: its work needs CPU time"),
			      N_("Give it more workers as long as there are idle CPUs; Python work "
				 "needs processes, not threads. Or do less per element: use "
				 "cheaper or native operations, keep results on disk.") },
	[BOTTLENECK_SLEEPS] = { "pipeline_sleeps", N_("is too slow: its workers sleep while they work"),
				N_("Give it more workers: they wait at the same time and need no CPU "
				"for it. Look at what they wait for: a remote read, a lock, a "
				"pause in the user's own function.") },
	[BOTTLENECK_STORAGE] = { "pipeline_storage", N_("is too slow: it waits for a disk"),
				 N_("More workers help little. Put the data on faster storage or in "
				 "memory, read fewer and larger files, or read them in the order "
				 "they are stored.") },
	[BOTTLENECK_STARVED] = { "pipeline_starved", N_("is too slow: it waits for CPUs"),
				 N_("Other threads have the CPUs (see the sections processes and "
				    "host). Use fewer workers, fewer other jobs, or more CPUs.") },
	[BOTTLENECK_LOCK] = { "pipeline_interpreter_lock",
			      N_("holds the interpreter lock that the trainer needs"),
			      N_("Run its Python function in processes or replace it by native "
			      "operations. More threads make it worse.") },
	[BOTTLENECK_TAKES_CPU] = { "pipeline_takes_cpu", N_("takes the CPUs that the trainer needs"),
				   N_("Give the pipeline fewer workers, or the job more CPUs; do less "
				   "per element.") },
	[BOTTLENECK_SLOW] = { "pipeline_slow", N_("is too slow"),
			      N_("Record with the topic sched to see what its workers do; give it "
			      "more workers.") },
	[BOTTLENECK_RESTARTS] = { "pipeline_restarts", N_("starts its workers anew for each epoch"),
				  N_("Keep the worker processes from epoch to epoch, or make epochs longer.") },
};

static enum advice_aim aim_of(enum bottleneck_kind kind)
{
	switch (kind) {
	case BOTTLENECK_LOCK: return ADVISE_UNLOCK;
	case BOTTLENECK_STORAGE: return ADVISE_STORAGE;
	case BOTTLENECK_RESTARTS: return ADVISE_KEEP;
	case BOTTLENECK_STARVED:
	case BOTTLENECK_TAKES_CPU: return ADVISE_FEWER;
	default: return ADVISE_FASTER;
	}
}

/* The remedy for this job: a single worker cannot be reduced, and a topic that was recorded is not recommended. */
static const char *remedy_of(const struct model *model, const struct pipeline_operator *op,
			     enum bottleneck_kind kind)
{
	bool one = op->workers == 1 || op->in_trainer;

	if (one && kind == BOTTLENECK_STARVED)
		return tr("Other threads have the CPUs (see the sections processes and host). Run "
			  "fewer other jobs, or use more CPUs.");
	if (one && kind == BOTTLENECK_TAKES_CPU)
		return tr("Give the job more CPUs; do less per element.");
	if (op->in_trainer && kind == BOTTLENECK_SLOW)
		return tr("The trainer's own thread makes the batches: let other threads or processes make them.");
	if (kind == BOTTLENECK_SLOW && timelines_recorded(model))
		return tr("It is unknown what its workers do; give it more of them.");
	return tr(ADVICE[kind].remedy);
}

/* Do more workers need idle CPUs? Those that compute do. */
static bool wants_cpus(const struct pipeline_operator *op, enum bottleneck_kind kind)
{
	return kind == BOTTLENECK_BUSY && !op->in_trainer;
}

static void tell_setting(const struct model *model, const struct pipeline_operator *op,
			 enum bottleneck_kind kind, double idle_cpus, char *text, size_t size)
{
	bool more = kind == BOTTLENECK_BUSY || kind == BOTTLENECK_SLEEPS;

	*text = '\0';
	if (more && op->workers && !op->in_trainer && wants_cpus(op, kind) && isfinite(idle_cpus))
		snprintf(text, size, tr("It has %u worker%s now, and %.1f of %u CPUs are idle. "),
			 op->workers, op->workers == 1 ? "" : "s", idle_cpus, model->info.cpus);
	else if (more && op->workers && !op->in_trainer)
		snprintf(text, size, tr("It has %u worker%s now. "), op->workers,
			 op->workers == 1 ? "" : "s");
}

/* Workers that take turns wait for the slowest of them. Returns false if they share their work. */
static bool tell_uneven(const struct model *model, const struct pipeline *pipeline, uint32_t op,
			enum bottleneck_kind kind, char *text, size_t size)
{
	struct uneven of = { 0 };
	const char *own = operator_advice(model, pipeline, op, ADVISE_SHARE);
	const struct thread *thread;

	if (kind == BOTTLENECK_BUSY || kind == BOTTLENECK_SLEEPS || kind == BOTTLENECK_STORAGE ||
	    kind == BOTTLENECK_SLOW || kind == BOTTLENECK_STARVED)
		of = uneven_find(model, pipeline, op);
	if (!of.workers)
		return false;
	thread = &model->threads.row[of.thread];
	if (of.busy == 1)
		snprintf(text, size,
			 tr("Of its %u workers %.32s %u is at work for %.0f %% of the time, and the others for %.0f %%: "
			    "they take turns, and wait for this one. Give each an equal part of the work; more workers "
			    "alone do not help.%s%s"),
			 of.workers, model_text(model, thread->name), thread->tid, of.percent, of.others_percent,
			 *own ? " " : "", own);
	else
		snprintf(text, size,
			 tr("Of its %u workers %u are at work for up to %.0f %% of the time (most of all %.32s %u), and the "
			    "others for %.0f %%: they take turns, and wait for these. Give each an equal part of the work; "
			    "more workers alone do not help.%s%s"),
			 of.workers, of.busy, of.percent, model_text(model, thread->name), thread->tid,
			 of.others_percent, *own ? " " : "", own);
	return true;
}

void bottleneck_remedy(const struct model *model, const struct pipeline *pipeline, uint32_t op,
		       enum bottleneck_kind kind, double idle_cpus, char *text, size_t size)
{
	const struct pipeline_operator *row = &pipeline->operators.row[op];
	const char *own = operator_advice(model, pipeline, op, aim_of(kind));
	char setting[96];

	if (tell_uneven(model, pipeline, op, kind, text, size))
		return;
	if (wants_cpus(row, kind) && idle_cpus < IDLE_CPU) {
		snprintf(text, size,
			 tr("No CPU is idle that more workers could use: do less per element (cheaper or "
			 "native operations, results kept on disk), or give the job more CPUs."));
		return;
	}
	tell_setting(model, row, kind, idle_cpus, setting, sizeof(setting));
	snprintf(text, size, "%s%s%s%s", setting, remedy_of(model, row, kind), *own ? " " : "", own);
}

static void advise(const struct model *model, const struct pipeline_steps *steps,
		   const struct bottleneck *b, bool several, double idle_cpus,
		   struct advice *advice)
{
	const struct pipeline *pipeline = steps->usage->pipeline;
	const char *name = model_text(model, pipeline->operators.row[b->op].name);
	char whose[32] = "";

	if (several && pipeline->process < model->processes.count)
		snprintf(whose, sizeof(whose), tr(" of process %u"),
			 model->processes.row[pipeline->process].pid);
	advice->id = ADVICE[b->kind].id;
	advice->gain_percent = b->percent < 100 ? b->percent : 100;
	advice->severity = b->percent >= BOTTLENECK_HIGH_PERCENT ? "high" : "medium";
	snprintf(advice->title, sizeof(advice->title), tr("%s%s: %.60s %s"), pipeline->framework,
		 whose, name, tr(ADVICE[b->kind].title));
	snprintf(advice->evidence, sizeof(advice->evidence), "%s", b->reason);
	bottleneck_remedy(model, pipeline, b->op, b->kind, idle_cpus, advice->remedy,
			  sizeof(advice->remedy));
}

int advice_analyse(const struct model *model, const struct step_results *steps, double idle_cpus,
		   struct advice_results *results)
{
	*results = (struct advice_results){ 0 };
	results->bottlenecks = calloc((size_t)steps->count + 1, sizeof(*results->bottlenecks));
	results->list = calloc((size_t)steps->count + 1, sizeof(*results->list));
	if (!results->bottlenecks || !results->list)
		return -ENOMEM;
	for (uint32_t i = 0; i < steps->count; i++) {
		struct bottleneck *b = &results->bottlenecks[results->count++];

		*b = judge(&steps->pipelines[i]);
		if (b->kind == BOTTLENECK_NONE)
			continue;
		results->list[results->advice_count].pipeline = i;
		advise(model, &steps->pipelines[i], b, steps->count > 1, idle_cpus,
		       &results->list[results->advice_count++]);
	}
	advice_sort(results);
	return 0;
}

void advice_free(struct advice_results *results)
{
	free(results->bottlenecks);
	free(results->list);
	*results = (struct advice_results){ 0 };
}
