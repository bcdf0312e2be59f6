/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/device/device_advice.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/idle/io_kind.h"
#include "analyzer/analyse/idle/root_text.h"
#include "analyzer/model/translate.h"

#define SMALL_PERCENT 1
#define FINDING_PERCENT 3 /* causes that take less are within a trace's margin of error */
#define MEDIUM_PERCENT 10
#define ONE_FOR_EACH_MIN 8 /* processes that followed each other: fewer are no habit */
#define ONE_FOR_EACH_NS 1000000000 /* of longer processes the start matters little */
#define SYNC_LAUNCHES 100 /* fewer launches show nothing about how the job is written */

struct writer {
	const struct model *model;
	const struct device_results *devices;
	struct advice_results *advice;
	bool failed;
};

/* Adds an advice with title and remedy; returns the buffer for its evidence. NULL without memory. */
static char *add(struct writer *writer, const char *id, double percent, const char *title,
		 const char *remedy)
{
	struct advice *advice = advice_new(writer->advice, id, percent, title, remedy);

	writer->failed |= !advice;
	return advice ? advice->evidence : NULL;
}

/* The same, citing the rule of another profiler that it follows. */
static char *add_by(struct writer *writer, const char *id, double percent, enum peer_rule_id rule,
		    double value, const char *title, const char *remedy)
{
	char *evidence = add(writer, id, percent, title, remedy);

	if (evidence)
		advice_cite(&writer->advice->list[writer->advice->advice_count - 1], rule, value);
	return evidence;
}

static void explain(char *evidence, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void explain(char *evidence, const char *format, ...)
{
	va_list list;

	if (!evidence)
		return;
	va_start(list, format);
	vsnprintf(evidence, sizeof(((struct advice *)NULL)->evidence), format, list);
	va_end(list);
}

/* A device in words, with its rank: each rank may have a device 0. */
struct place {
	char text[48];
};

static struct place place_of(const struct writer *writer, uint32_t row)
{
	const struct device *device = &writer->model->devices.row[row];
	struct place place;

	if (device->has_rank)
		snprintf(place.text, sizeof(place.text), tr("device %u (rank %u)"), device->id,
			 device->rank);
	else
		snprintf(place.text, sizeof(place.text), tr("device %u"), device->id);
	return place;
}

static double share(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

/* If the roots of the device's idle time are known, they are a better remedy than the general one. */
static const char *gap_remedy(const struct writer *writer)
{
	if (idle_verdict(writer->model, writer->devices->idle.roots).cause != IDLE_UNKNOWN)
		return tr("The section idle shows the root of the waits: begin there.");
	return tr("The usual cause is data: see the data pipeline's bottleneck and the causes of "
		  "idle time. Use more workers, prefetching, or data prepared beforehand.");
}

/* Copies to the device also come before a step's first kernel: the device does not wait during them. */
static bool waits_before_steps(const struct device_step_means *means)
{
	return means->duration_ns - means->busy_ns >= means->gap_ns / 2;
}

static void judge_steps(struct writer *writer, const struct device_step_trace *trace)
{
	const struct device_step_means *means = &trace->means;
	double gap = share(means->gap_ns, means->duration_ns);
	double tail = share(means->tail_ns, means->duration_ns);
	struct place place = place_of(writer, trace->device);

	if (means->steps && peer_rule_says(RULE_STEP_GAP, means->gap_ns / 1e6) &&
	    gap >= SMALL_PERCENT && waits_before_steps(means))
		explain(add_by(writer, "device_gap", gap, RULE_STEP_GAP, means->gap_ns / 1e6,
			    tr("The device waits before each step"),
			    gap_remedy(writer)),
			tr("%s waits %.3f ms before a step of %.3f ms, on the mean of %u: %.1f "
			"%%"),
			place.text, means->gap_ns / 1e6, means->duration_ns / 1e6, means->steps, gap);
	if (means->bp_steps && tail >= MEDIUM_PERCENT)
		explain(add(writer, "device_tail", tail,
			    tr("Steps last long after the backward pass"),
			    tr("In this time gradients are reduced and parameters updated: let "
			       "reductions run beside the backward pass (split or fuse them), "
			       "shard the optimizer.")),
			tr("on %s, %.3f ms of a step of %.3f ms come after the backward pass: "
			"%.1f %%"),
			place.text, means->tail_ns / 1e6, means->duration_ns / 1e6, tail);
}

static void judge_overlap(struct writer *writer, const struct overlap_device *device)
{
	double alone_ns = (double)device->all.pure_communication_ns;
	double percent = share(alone_ns, alone_ns + (double)device->all.computation_ns);

	if (peer_rule_says(RULE_ALONE, percent))
		explain(add_by(writer, "device_communication", percent, RULE_ALONE, percent,
			    tr("Communication is not hidden by computation"),
			    tr("Let it run beside computation: buckets, asynchronous collectives, "
			       "another stream. The section communication shows which ranks are "
			       "late.")),
			tr("%s only communicates for %.3f ms, beside %.3f ms of computation"),
			place_of(writer, device->all.device).text, alone_ns / 1e6,
			(double)device->all.computation_ns / 1e6);
}

/* Returns the largest of a device's types on a core; *@sum_ns: their sum. */
static const struct operator_usage *sum_core(const struct writer *writer, uint32_t device,
					     enum operator_core core, double *sum_ns,
					     double *all_ns)
{
	const struct operator_list *types = &writer->devices->types;
	const struct operator_usage *largest = NULL;

	*sum_ns = *all_ns = 0;
	for (uint32_t i = 0; i < types->count; i++) {
		const struct operator_usage *row = &types->rows[i];

		if (row->device != device || row->core == CORE_OTHER)
			continue;
		*all_ns += (double)row->total_ns;
		if (row->core != core)
			continue;
		*sum_ns += (double)row->total_ns;
		if (!largest)
			largest = row;
	}
	return largest;
}

static void judge_aicpu(struct writer *writer, uint32_t device)
{
	double sum_ns, all_ns;
	const struct operator_usage *largest =
		sum_core(writer, device, CORE_AICPU, &sum_ns, &all_ns);

	if (largest && peer_rule_says(RULE_AICPU, share(sum_ns, all_ns)))
		explain(add_by(writer, "device_aicpu", share(sum_ns, all_ns), RULE_AICPU,
			    share(sum_ns, all_ns),
			    tr("Operators run on AI CPUs"),
			    tr("AI CPUs are slow: use an operator or a data type that AI cores "
			       "support (often int32 instead of int64, float32 instead of "
			       "float64).")),
			tr("on %s they take %.3f ms, %.1f %% of all tasks' time; most of it in "
			"%s: "
			"%" PRIu64 " tasks"),
			place_of(writer, device).text, sum_ns / 1e6, share(sum_ns, all_ns),
			operator_type(writer->model, largest), largest->count);
}

static void judge_types(struct writer *writer, uint32_t device)
{
	const struct operator_list *types = &writer->devices->types;

	for (uint32_t i = 0; i < types->count; i++) {
		const struct operator_usage *row = &types->rows[i];

		if (row->device != device || !peer_rule_says(RULE_TRANSDATA, (double)row->count) ||
		    row->percent < SMALL_PERCENT ||
		    strcmp(operator_type(writer->model, row), "TransData") != 0)
			continue;
		explain(add_by(writer, "device_transdata", row->percent, RULE_TRANSDATA,
			    (double)row->count,
			    tr("Tensors are converted between formats"),
			    tr("Choose one format for neighbouring operators; private formats pay "
			    "only "
			    "where most operators have them.")),
			tr("on %s, %" PRIu64
			" TransData take %.3f ms, %.1f %% of all tasks' time"),
			place_of(writer, device).text, row->count, (double)row->total_ns / 1e6,
			row->percent);
	}
}

/* The counter is above 1 if moving data takes longer than computing. */
static bool is_memory_bound(const struct writer *writer, const struct operator_usage *row)
{
	const struct operator_metrics *metrics = &writer->devices->operators.metrics;

	for (uint32_t i = 0; i < row->figures.metric_count; i++) {
		const struct operator_metric *metric = &metrics->row[row->figures.first_metric + i];

		if (strcmp(model_text(writer->model, metric->name), "memory_bound") == 0)
			return metric->mean > 1;
	}
	return false;
}

static void judge_memory_bound(struct writer *writer, uint32_t device)
{
	const struct operator_list *list = &writer->devices->operators;
	double bound_ns = 0, all_ns = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		const struct operator_usage *row = &list->rows[i];

		if (row->device != device || row->core != CORE_AICORE)
			continue;
		all_ns += (double)row->total_ns;
		if (is_memory_bound(writer, row))
			bound_ns += (double)row->total_ns;
	}
	if (peer_rule_says(RULE_MEMORY_BOUND, share(bound_ns, all_ns)))
		explain(add_by(writer, "device_memory_bound", share(bound_ns, all_ns),
			    RULE_MEMORY_BOUND, share(bound_ns, all_ns),
			    tr("Operators wait for memory"),
			    tr("Fuse operators that pass results to each other; use smaller data "
			       "types, larger tiles.")),
			tr("on %s, AI cores spend %.1f %% of their time in operators that move "
			"data for longer than they compute"),
			place_of(writer, device).text, share(bound_ns, all_ns));
}

static const char *cpu_remedy(enum idle_kind kind)
{
	switch (kind) {
	case IDLE_KIND_OWN_CPU:
		return tr("The job's own threads need more CPUs than there are: use more CPUs, or "
			  "reduce the work; use fewer threads (OMP_NUM_THREADS and the like) if "
			  "its pools have more threads than there are CPUs.");
	case IDLE_KIND_RECORDED_CPU:
		return tr("Other recorded processes have the CPUs: CPUs of its own for each (a cpuset, taskset), "
			  "fewer threads in each (OMP_NUM_THREADS and its like), or more CPUs.");
	case IDLE_KIND_WAKE_UP:
		return tr("The CPUs were idle and took long to wake up: disable deep idle states "
			  "(cpupower idle-set -D 10), or wait less often.");
	default:
		return tr("Other processes have the CPUs: give the job its own CPUs (a cpuset, "
			  "taskset), or move the others away.");
	}
}

static const char *driver_remedy(const struct model *model, const struct root *root)
{
	/* Only a driver with commands in a catalog is known to drive a device of this kind. */
	if (root->object_kind == OBJECT_COMMAND && root->object < model->drivers.count &&
	    model->drivers.row[root->object].command_count)
		return tr("See the section ioctl: map, pin or allocate beforehand what each step does now.");
	return tr("The section ioctl shows the requests to this driver and their number: make "
		  "fewer, or make them beforehand.");
}

static const char *io_remedy(const struct model *model, const struct idle_verdict *verdict)
{
	struct syscall_table *syscalls = syscall_table_new(model_text(model, model->info.arch));
	enum io_kind kind = syscalls && verdict->most ? io_kind_of(model, syscalls, &verdict->most->root) : IO_UNKNOWN;

	syscall_table_free(syscalls);
	switch (kind) {
	case IO_READ: return tr("Cache the data, read ahead, or use faster storage.");
	case IO_WRITE:
		return tr("It waits for writes: write and sync less often, let another thread do it (asynchronous "
			  "checkpoints), or use faster storage.");
	default:
		return tr("Use faster storage; cache or read ahead what is read, let another thread write what is "
			  "written.");
	}
}

static const char *cause_remedy(const struct model *model, const struct idle_verdict *verdict)
{
	switch (verdict->cause) {
	case IDLE_USER_CODE:
		return tr("Profile that thread (topic sample); move work off it, or submit further "
		       "ahead.");
	case IDLE_RUNTIME:
		return tr("Fewer, larger launches and copies (graphs, fused operators); no "
		       "allocation, "
		       "compilation or query in the loop.");
	case IDLE_DRIVER: return driver_remedy(model, &verdict->most->root);
	case IDLE_RUNNABLE: return cpu_remedy(verdict->kind);
	case IDLE_THROTTLED: return tr("Give the job a larger CPU quota, or use fewer threads.");
	case IDLE_LOCK:
	case IDLE_PIPELINE:
		return tr("These threads wait for each other: check the order in which they take locks.");
	case IDLE_IO: return io_remedy(model, verdict);
	case IDLE_PAGE_FAULT: return tr("Touch or lock the memory beforehand, or add memory.");
	case IDLE_NETWORK: return tr("Overlap communication with computation; look at the peer.");
	case IDLE_SLEEP:
		return tr("If it polls, wait for the event instead of sleeping for a time; if it "
			  "limits a rate, this is the limit.");
	case IDLE_IRQ: return tr("Keep interrupts of devices and the network off the job's CPUs.");
	case IDLE_DEVICE_WAIT: return tr("Keep more work in flight: do not wait for each result.");
	case IDLE_NO_WORK: return tr("No work arrived: examine what sends work to the job.");
	default: return tr("See the section idle.");
	}
}

/* Does the job start a process for each piece of work, and begin the next one after its end? */
static bool one_for_each(const struct model *model, const struct idle_verdict *verdict)
{
	uint32_t processes = verdict->most ? verdict->most->processes : 0;

	return (verdict->cause == IDLE_USER_CODE || verdict->cause == IDLE_SLEEP) && processes >= ONE_FOR_EACH_MIN &&
	       (model->info.end_ns - model->info.start_ns) / processes <= ONE_FOR_EACH_NS;
}

/* If samples show the function, or its purpose is known, the advice need not be to profile. */
void idle_remedy(const struct model *model, const struct idle_verdict *verdict, char *text,
		 size_t size)
{
	const struct idle_root *most = verdict->most;
	bool known = verdict->cause == IDLE_USER_CODE && most;
	bool short_of = verdict->cause == IDLE_PAGE_FAULT && most && most->word &&
			strcmp(most->word, IDLE_WORD_RECLAIM) == 0;
	char place[256] = "";

	if (one_for_each(model, verdict)) {
		snprintf(text, size,
			 tr("The job starts a process for each piece of work and waits for its end (%u during the "
			    "recording): keep one running and give it the work, or start the next one before the last "
			    "has ended."),
			 most->processes);
		return;
	}
	if (known && most->samples)
		root_work_text(model, &most->root, place, sizeof(place));
	if (short_of || (known && most->word && *most->word_remedy))
		snprintf(text, size, "%s", tr(most->word_remedy));
	else if (*place && most->turns)
		snprintf(text, size,
			 tr("Threads take turns in %.200s, as under a lock: do less of it with the lock, or split the lock. More "
			    "threads do not help."),
			 place);
	else if (*place)
		snprintf(text, size,
			 most->hop_count > 1
				 ? tr("Make %.200s cheaper, begin it earlier, or, if CPUs are idle, let more threads do "
				      "it at the same time (in Python: processes).")
				 : tr("Make %.200s cheaper, move it off that thread, or submit further ahead."),
			 place);
	else
		snprintf(text, size, "%s", cause_remedy(model, verdict));
}

/* "; most of it, 12.3 %: line 17 in clock_nanosleep, waited for by main 10" */
static void explain_most(const struct writer *writer, const struct idle_root *most, double percent,
			 char *text, size_t size)
{
	struct syscall_table *syscalls =
		syscall_table_new(model_text(writer->model, writer->model->info.arch));
	char who[128], place[160] = "", hop[128];

	*text = '\0';
	root_who_text(writer->model, &most->root, who, sizeof(who));
	if (syscalls)
		root_place_text(writer->model, syscalls, &most->root, place, sizeof(place));
	syscall_table_free(syscalls);
	if (!*who)
		return;
	/* The thread that waits for the last one; for runnable, the thread that had no CPU. */
	*hop = '\0';
	if (most->root.who_kind != WHO_THREAD)
		root_thread_text(writer->model, most->hops[most->hop_count - 1].thread, hop,
				 sizeof(hop));
	else if (most->hop_count > 1)
		root_thread_text(writer->model, most->hops[most->hop_count - 2].thread, hop,
				 sizeof(hop));
	snprintf(text, size, tr("; most of it, %.1f %%: %.80s%s%.100s%s%.80s"), percent, who,
		 *place ? tr(" in ") : "", place, *hop ? tr(", waited for by ") : "", hop);
}

static void judge_idle(struct writer *writer)
{
	const struct idle_result *idle = &writer->devices->idle;
	struct idle_verdict verdict = idle_verdict(writer->model, idle->roots);
	uint64_t window_ns = 0;
	double percent, of_kind;
	char most[420], remedy[sizeof(((struct advice *)NULL)->remedy)];

	for (uint32_t i = 0; i < writer->devices->device_count; i++)
		window_ns += writer->devices->devices[i].window_ns;
	percent = share((double)idle->total_ns, (double)window_ns);
	/* Without a trace of the host the cause is unknown. */
	if (!verdict.most || percent < MEDIUM_PERCENT || verdict.cause == IDLE_UNKNOWN)
		return;
	of_kind = share((double)verdict.cause_ns, (double)window_ns);
	if (of_kind < FINDING_PERCENT)
		return;
	explain_most(writer, verdict.most, share((double)verdict.most->ns, (double)window_ns), most,
		     sizeof(most));
	idle_remedy(writer->model, &verdict, remedy, sizeof(remedy));
	explain(add(writer, "device_idle", of_kind, tr("The device is idle because of the host"),
		    remedy),
		tr("devices are idle for %.1f %% of the time; %.1f %% is %s%s"), percent, of_kind,
		idle_cause_name(verdict.cause), most);
}

/*
 * Counts launches, and pairs: a wait that directly follows a launch on the same thread. Other waits of the job are
 * not for a single launch.
 */
static void count_pairs(const struct model *model, const struct analysis_window *window,
			uint64_t *launches, uint64_t *pairs)
{
	uint32_t thread = INDEX_NONE;
	bool launched = false;

	*launches = *pairs = 0;
	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];
		uint8_t kind = model->functions.row[call->function].kind;

		if (call->flags & (MODEL_CALL_INNER | MODEL_CALL_PART) ||
		    !analysis_has(call->start_ns, window))
			continue;
		launched &= call->thread == thread;
		thread = call->thread;
		if (kind == PROFBPF__FUNCTION__KIND__LAUNCH) {
			++*launches;
			launched = true;
		} else if (kind == PROFBPF__FUNCTION__KIND__SYNC) {
			*pairs += launched;
			launched = false;
		}
	}
}

static double idle_percent(const struct device_results *devices)
{
	uint64_t window_ns = 0;

	for (uint32_t i = 0; i < devices->device_count; i++)
		window_ns += devices->devices[i].window_ns;
	return share((double)devices->idle.total_ns, (double)window_ns);
}

static void judge_calls(struct writer *writer, const struct analysis_options *options,
			const struct api_results *api, uint64_t window_ns)
{
	const struct analysis_window window = analysis_window(writer->model, options);

	uint64_t launches = 0, syncs = 0, allocations = 0, allocating_ns = 0;
	double idle = idle_percent(writer->devices), ratio;

	for (uint32_t i = 0; i < api->row_count; i++) {
		const struct api_usage *row = &api->rows[i];
		uint64_t outer = row->count - row->inner;

		switch (writer->model->functions.row[row->function].kind) {
		case PROFBPF__FUNCTION__KIND__LAUNCH: launches += outer; break;
		case PROFBPF__FUNCTION__KIND__SYNC: syncs += outer; break;
		case PROFBPF__FUNCTION__KIND__ALLOC:
		case PROFBPF__FUNCTION__KIND__FREE:
			allocations += outer;
			if (!row->inner)
				allocating_ns += row->durations.total_ns;
			break;
		default: break;
		}
	}
	if (peer_rule_says(RULE_MEMORY_CALLS, (double)allocating_ns / 1e6) &&
	    share((double)allocating_ns, (double)window_ns) >= SMALL_PERCENT)
		explain(add_by(writer, "device_allocations",
			    share((double)allocating_ns, (double)window_ns), RULE_MEMORY_CALLS,
			    (double)allocating_ns / 1e6,
			    tr("Device memory is allocated and freed continually"),
			    tr("Keep memory between steps: use an allocator that caches, and fixed shapes.")),
			tr("%" PRIu64 " such calls took %.3f ms"), allocations,
			(double)allocating_ns / 1e6);
	if (writer->model->calls.count)
		count_pairs(writer->model, &window, &launches, &syncs);
	ratio = launches >= SYNC_LAUNCHES ? (double)syncs / (double)launches : 0;
	/* A device that is always busy loses no time by these waits. */
	if (peer_rule_says(RULE_LAUNCH_BLOCKING, ratio) && idle >= FINDING_PERCENT)
		explain(add_by(writer, "device_synchronization", idle, RULE_LAUNCH_BLOCKING, ratio,
			    tr("The host waits for the device after nearly each launch"),
			    tr("Wait once per step: no .item(), print or copy to the host in between; "
			    "unset "
			    "ASCEND_LAUNCH_BLOCKING and CUDA_LAUNCH_BLOCKING.")),
			tr("%" PRIu64 " synchronising calls for %" PRIu64
			" launches; devices are idle for %.1f %%"),
			syncs, launches, idle);
}

int device_advice_add(const struct model *model, const struct analysis_options *options,
		      const struct device_results *devices, const struct device_step_results *steps,
		      const struct api_results *api, struct advice_results *advice)
{
	struct writer writer = { .model = model,
				 .devices = devices,
				 .advice = advice };
	uint64_t window_ns = 0;

	for (uint32_t i = 0; steps && i < steps->count; i++)
		judge_steps(&writer, &steps->traces[i]);
	for (uint32_t i = 0; i < devices->overlap.count; i++)
		judge_overlap(&writer, &devices->overlap.devices[i]);
	for (uint32_t i = 0; i < devices->device_count; i++) {
		judge_aicpu(&writer, i);
		judge_types(&writer, i);
		judge_memory_bound(&writer, i);
		if (devices->devices[i].window_ns > window_ns)
			window_ns = devices->devices[i].window_ns;
	}
	judge_idle(&writer);
	if (api && window_ns)
		judge_calls(&writer, options, api, window_ns);
	advice_sort(advice);
	return writer.failed ? -ENOMEM : 0;
}
