/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/idle_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/idle/idle_sleep.h"
#include "analyzer/join/launch/call_kind.h"

#define LATE_START_NS 10000000 /* a device that is idle for longer while it has a task waits for something */

/* A gap under examination. Pieces are added in time order; now_ns is the end of the last one. */
struct inquiry {
	const struct model *model;
	const struct idle_tools *tools;
	const struct device_gap *gap;
	const struct device_task *task;
	uint32_t thread; /* the thread that submitted the task, or INDEX_NONE */
	uint64_t enqueued_ns; /* the runtime has the task from here on; UINT64_MAX = unknown */
	uint64_t submitted_ns; /* the device has it; at most the gap's end */
	uint64_t handed_ns; /* the thread has nothing left to do for it; at most submitted_ns */
	uint64_t now_ns;
	struct idle_pieces *pieces;
	bool out_of_memory;
};

static bool same_piece(const struct idle_piece *a, const struct idle_piece *b)
{
	return a->cause == b->cause && a->why == b->why && a->who_kind == b->who_kind &&
	       a->who == b->who && a->cmd == b->cmd && a->thread == b->thread &&
	       a->subject == b->subject && a->call == b->call;
}

/* Adds a piece from now_ns to @end_ns, if that is later. */
static void put(struct inquiry *inquiry, uint64_t end_ns, struct idle_piece piece)
{
	struct idle_pieces *pieces = inquiry->pieces;
	struct idle_piece *last = pieces->count ? &pieces->row[pieces->count - 1] : NULL;

	if (end_ns > inquiry->gap->end_ns)
		end_ns = inquiry->gap->end_ns;
	if (end_ns <= inquiry->now_ns || inquiry->out_of_memory)
		return;
	piece.start_ns = inquiry->now_ns;
	piece.end_ns = end_ns;
	inquiry->now_ns = end_ns;
	if (last && same_piece(last, &piece)) {
		last->end_ns = end_ns;
		return;
	}
	if (pieces->count == pieces->capacity) {
		uint32_t capacity = pieces->capacity ? pieces->capacity * 2 : 64;
		struct idle_piece *row = capacity > pieces->capacity
						 ? reallocarray(pieces->row, capacity, sizeof(*row))
						 : NULL;

		if (!row) {
			inquiry->out_of_memory = true;
			return;
		}
		pieces->row = row;
		pieces->capacity = capacity;
	}
	pieces->row[pieces->count++] = piece;
}

static struct idle_piece blank(uint8_t cause, uint8_t why, uint32_t thread)
{
	return (struct idle_piece){ .cause = cause,
				    .why = why,
				    .thread = thread,
				    .subject = INDEX_NONE,
				    .call = INDEX_NONE,
				    .span = INDEX_NONE };
}

static struct idle_piece device_piece(const struct inquiry *inquiry, uint8_t why, uint32_t thread)
{
	struct idle_piece piece = blank(IDLE_DEVICE_WAIT, why, thread);

	piece.who_kind = WHO_DEVICE;
	piece.who = inquiry->gap->device;
	return piece;
}

/* Ready to run: the thread that had the CPU instead is to blame. */
static void blame_runner(const struct model *model, struct idle_piece *piece, uint32_t span)
{
	uint32_t other = model->spans.row[span].other;

	piece->cause = IDLE_RUNNABLE;
	piece->span = span;
	if (model->spans.row[span].flags & SPAN_THROTTLED) {
		piece->cause = IDLE_THROTTLED;
		piece->why = WHY_THROTTLED;
		piece->who_kind = WHO_RUNNER;
		piece->who = piece->thread;
		return;
	}
	if (other < model->threads.count) {
		piece->who_kind = WHO_RUNNER;
		piece->who = other;
		if (piece->why == WHY_NONE)
			piece->subject = other;
	} else if (model->spans.row[span].flags & SPAN_CPU_IDLE) {
		piece->who_kind = WHO_IDLE_CPU;
		piece->who = 0;
		if (piece->why == WHY_NONE)
			piece->why = WHY_CPU_IDLE;
	} else if (piece->why == WHY_NONE) {
		piece->why = WHY_CPU_UNKNOWN;
	}
}

/*
 * Up to @end_ns the examined thread waited for the device through thread @subject: the time that @subject was
 * ready without a CPU is runnable, the rest is @waiting.
 */
static void follow(struct inquiry *inquiry, uint32_t subject, uint64_t end_ns,
		   struct idle_piece waiting, uint8_t cpu_why)
{
	struct walk walk;
	struct walk_step step;

	walk_start(&walk, inquiry->tools->walker, subject, inquiry->now_ns, end_ns);
	while (walk_next(&walk, &step)) {
		struct idle_piece piece = waiting;

		if (step.span != INDEX_NONE &&
		    inquiry->model->spans.row[step.span].state == STATE_RUNNABLE) {
			piece.why = cpu_why;
			piece.who_kind = WHO_NONE;
			piece.who = 0;
			blame_runner(inquiry->model, &piece, step.span);
		}
		put(inquiry, step.end_ns, piece);
	}
}

static bool in_same_process(const struct model *model, uint32_t a, uint32_t b)
{
	return a < model->threads.count && b < model->threads.count &&
	       model->threads.row[a].process == model->threads.row[b].process;
}

/* Was the thread in the call that launches the task? */
static bool in_launch(const struct inquiry *inquiry, const struct walk_step *step)
{
	return step->call != INDEX_NONE && step->call == inquiry->task->call;
}

/*
 * A sleep inside the launching call that began when the device was already idle and ended
 * before the task started is not a wait for the device, but for something that the runtime needs for the launch.
 */
static bool sleeps_to_launch(const struct inquiry *inquiry, const struct walk_step *step)
{
	const struct span *span;

	if (step->span == INDEX_NONE || !in_launch(inquiry, step))
		return false;
	span = &inquiry->model->spans.row[step->span];
	return (span->state == STATE_SLEEP || span->state == STATE_DISK) &&
	       span->start_ns >= inquiry->gap->start_ns && span->end_ns <= inquiry->gap->end_ns;
}

static void put_completion(struct inquiry *inquiry, const struct walk_step *step)
{
	const struct span *span = &inquiry->model->spans.row[step->span];
	bool enqueued = inquiry->enqueued_ns <= step->start_ns || in_launch(inquiry, step);
	struct idle_piece piece;

	piece = device_piece(inquiry, enqueued ? WHY_ENQUEUED : WHY_COMPLETION, step->thread);
	piece.call = step->call;
	piece.span = step->span;
	if (!enqueued && span_woken_by_thread(span)) {
		piece.subject = span->other;
		if (in_same_process(inquiry->model, span->other, step->thread))
			follow(inquiry, span->other, step->end_ns, piece, WHY_COMPLETION_CPU);
	}
	put(inquiry, step->end_ns, piece);
}

static void blame_ioctl(const struct model *model, struct idle_piece *piece, uint32_t ioctl)
{
	piece->cause = IDLE_DRIVER;
	if (ioctl == INDEX_NONE)
		return;
	piece->who_kind = WHO_DRIVER;
	piece->who = model->ioctls.row[ioctl].driver;
	piece->cmd = model->ioctls.row[ioctl].cmd;
}

/* Adds the interrupts in a step in which the thread ran, and the pieces of @running between them. */
static void put_interrupts(struct inquiry *inquiry, const struct walk_step *step,
			   const struct idle_piece *running)
{
	const struct model *model = inquiry->model;
	uint32_t i = model_interrupt_after(model, step->thread, step->start_ns);

	for (; i < model->interrupts.count; i++) {
		const struct interrupt *row = &model->interrupts.row[i];
		struct idle_piece piece = blank(IDLE_IRQ, WHY_NONE, step->thread);
		uint64_t end_ns = row->ts_ns + row->dur_ns;

		if (row->thread != step->thread || row->ts_ns >= step->end_ns)
			break;
		if (row->ts_ns > inquiry->now_ns)
			put(inquiry, row->ts_ns, *running);
		piece.who_kind = WHO_RUNNER;
		piece.who = step->thread;
		piece.call = step->call;
		put(inquiry, end_ns < step->end_ns ? end_ns : step->end_ns, piece);
	}
}

static void put_running(struct inquiry *inquiry, const struct walk_step *step)
{
	struct idle_piece piece = blank(IDLE_USER_CODE, WHY_NONE, step->thread);

	piece.call = step->call;
	if (step->ioctl != INDEX_NONE) {
		blame_ioctl(inquiry->model, &piece, step->ioctl);
	} else if (step->call != INDEX_NONE) {
		piece.cause = IDLE_RUNTIME;
		piece.who_kind = WHO_FUNCTION;
		piece.who = inquiry->model->calls.row[step->call].function;
	} else {
		piece.who_kind = WHO_THREAD;
		piece.who = step->thread;
	}
	put_interrupts(inquiry, step, &piece);
	put(inquiry, step->end_ns, piece);
}

static void put_asleep(struct inquiry *inquiry, const struct walk_step *step)
{
	struct idle_piece piece = blank(IDLE_UNKNOWN, WHY_ASLEEP, step->thread);

	if (!sleeps_to_launch(inquiry, step) &&
	    span_ends_device_wait(inquiry->model, inquiry->tools->walker,
				  &inquiry->model->spans.row[step->span], step->thread,
				  step->call)) {
		put_completion(inquiry, step);
		return;
	}
	piece.call = step->call;
	piece.span = step->span;
	idle_sleep_judge(inquiry->model, inquiry->tools->syscalls, step->ioctl != INDEX_NONE,
			 &piece);
	if (piece.cause == IDLE_DRIVER)
		blame_ioctl(inquiry->model, &piece, step->ioctl);
	put(inquiry, step->end_ns, piece);
}

/* Outside of runtime calls: adds the thread's scopes by the file's own timeline. */
static void put_scopes(struct inquiry *inquiry, const struct walk_step *step)
{
	const struct model *model = inquiry->model;
	const struct scope_line *scopes = inquiry->tools->scopes;
	uint32_t main = scope_line_main(scopes, model->threads.row[step->thread].process);

	while (inquiry->now_ns < step->end_ns && !inquiry->out_of_memory) {
		struct idle_piece piece = blank(IDLE_UNKNOWN, WHY_SCOPE, step->thread);
		uint64_t until_ns, main_ns = UINT64_MAX;
		uint32_t function =
			scope_line_at(scopes, step->thread, inquiry->now_ns, &until_ns);

		if (function == INDEX_NONE && main != step->thread) {
			function = scope_line_at(scopes, main, inquiry->now_ns, &main_ns);
			piece.why = WHY_MAIN_SCOPE;
			piece.subject = step->thread;
			piece.thread = main;
		}
		if (function == INDEX_NONE) {
			piece = blank(IDLE_UNKNOWN, WHY_NO_STATE, step->thread);
		} else {
			piece.cause = model->functions.row[function].scope == SCOPE_DATA
					      ? IDLE_PIPELINE
					      : IDLE_USER_CODE;
			piece.who_kind = WHO_FUNCTION;
			piece.who = function;
		}
		if (function != INDEX_NONE && scope_line_waits(scopes, function)) {
			piece.cause = IDLE_UNKNOWN;
			piece.why = WHY_SCOPE_WAITS;
			piece.subject = INDEX_NONE;
		}
		until_ns = until_ns < main_ns ? until_ns : main_ns;
		put(inquiry, until_ns < step->end_ns ? until_ns : step->end_ns, piece);
	}
}

/*
 * A device file that was read alone has calls but no scheduling: a call then shows what the
 * thread was doing, but not whether it ran.
 */
static void put_unscheduled(struct inquiry *inquiry, const struct walk_step *step)
{
	const struct model *model = inquiry->model;
	struct idle_piece piece = blank(IDLE_UNKNOWN,
					step->thread == INDEX_NONE ? WHY_NO_THREAD : WHY_NO_STATE,
					step->thread);

	if (step->call != INDEX_NONE && model->devices.row[inquiry->gap->device].own_clock) {
		if (call_waits(model, &model->calls.row[step->call])) {
			piece = device_piece(inquiry, WHY_NO_STATE, step->thread);
		} else {
			piece.cause = IDLE_RUNTIME;
			piece.who_kind = WHO_FUNCTION;
			piece.who = model->calls.row[step->call].function;
		}
	}
	if (step->call == INDEX_NONE && step->thread != INDEX_NONE && inquiry->tools->scopes &&
	    model->devices.row[inquiry->gap->device].own_clock)
		put_scopes(inquiry, step);
	piece.call = step->call;
	put(inquiry, step->end_ns, piece);
}

static void put_step(struct inquiry *inquiry, const struct walk_step *step)
{
	struct idle_piece piece;
	uint8_t state = step->span == INDEX_NONE ? STATE_UNKNOWN
						 : inquiry->model->spans.row[step->span].state;

	switch (state) {
	case STATE_RUNNING: put_running(inquiry, step); break;
	case STATE_RUNNABLE:
		piece = blank(IDLE_RUNNABLE, WHY_NONE, step->thread);
		piece.call = step->call;
		blame_runner(inquiry->model, &piece, step->span);
		put(inquiry, step->end_ns, piece);
		break;
	case STATE_SLEEP:
	case STATE_DISK:
	case STATE_STOPPED: put_asleep(inquiry, step); break;
	default: put_unscheduled(inquiry, step); break;
	}
}

/*
 * Without a recording nothing shows that the device had nothing else to do: is the rest of the gap too long for that?
 * If another device of the file was busy meanwhile, the task probably waited for that one's.
 */
static bool waits_for_unseen(struct inquiry *inquiry)
{
	const struct device_gap *gap = inquiry->gap;
	int elsewhere;

	if (!inquiry->model->devices.row[gap->device].own_clock ||
	    inquiry->now_ns + LATE_START_NS >= gap->end_ns)
		return false;
	elsewhere = file_busy_elsewhere(inquiry->tools->busy, gap->device, inquiry->now_ns,
					gap->end_ns);
	if (elsewhere < 0)
		inquiry->out_of_memory = true;
	return elsewhere == 0;
}

/* From here on the device has the task; if the device consists of host threads, they need a CPU. */
static void put_submitted(struct inquiry *inquiry)
{
	const struct model *model = inquiry->model;
	struct idle_piece piece = device_piece(inquiry, WHY_SUBMITTED, inquiry->thread);
	const struct device *device = &model->devices.row[inquiry->gap->device];

	piece.call = inquiry->task->call;
	if (inquiry->now_ns < inquiry->submitted_ns) {
		struct idle_piece enqueued = piece;

		enqueued.why = WHY_ENQUEUED;
		put(inquiry, inquiry->submitted_ns, enqueued);
	}
	if (inquiry->now_ns < inquiry->gap->end_ns &&
	    strcmp(model_text(model, device->kind), "cpu") == 0) {
		piece.subject = device_worker_at(inquiry->tools->workers, device->process,
						 inquiry->task->start_ns);
		if (piece.subject != INDEX_NONE)
			follow(inquiry, piece.subject, inquiry->gap->end_ns, piece, WHY_WORKER_CPU);
	}
	if (waits_for_unseen(inquiry))
		piece = blank(IDLE_UNKNOWN, WHY_UNSEEN_WORK, inquiry->thread);
	put(inquiry, inquiry->gap->end_ns, piece);
}

/* Runtimes record the submit time early: if the launching call sleeps after that, the launch is not complete. */
static void extend_handover(struct inquiry *inquiry)
{
	uint64_t from_ns = inquiry->handed_ns;
	struct walk walk;
	struct walk_step step;

	if (from_ns < inquiry->submitted_ns)
		return;
	if (from_ns < inquiry->gap->start_ns)
		from_ns = inquiry->gap->start_ns;
	walk_start(&walk, inquiry->tools->walker, inquiry->thread, from_ns, inquiry->gap->end_ns);
	while (walk_next(&walk, &step) && in_launch(inquiry, &step)) {
		if (sleeps_to_launch(inquiry, &step))
			inquiry->handed_ns = inquiry->submitted_ns = step.end_ns;
	}
}

/* Finds the times at which the runtime got the task, and the device. */
static void find_handover(struct inquiry *inquiry)
{
	const struct device_task *task = inquiry->task;
	const struct call *call = task->call < inquiry->model->calls.count
					  ? &inquiry->model->calls.row[task->call]
					  : NULL;
	uint64_t end_ns = inquiry->gap->end_ns;

	inquiry->enqueued_ns = UINT64_MAX;
	if (task->enqueue_ns && task->enqueue_dur_ns)
		inquiry->enqueued_ns = task->enqueue_ns + task->enqueue_dur_ns;
	else if (call && !(call->flags & MODEL_CALL_OPEN))
		inquiry->enqueued_ns = call->end_ns;
	else if (task->enqueue_ns)
		inquiry->enqueued_ns = task->enqueue_ns;
	inquiry->submitted_ns = inquiry->enqueued_ns;
	if (task->submit_ns)
		inquiry->submitted_ns = task->submit_ns > task->enqueue_ns ? task->submit_ns
									   : task->enqueue_ns;
	if (inquiry->submitted_ns > end_ns)
		inquiry->submitted_ns = end_ns;
	inquiry->handed_ns = inquiry->submitted_ns;
	/* Submitted while the thread was in no call: the runtime did so by itself. */
	if (inquiry->enqueued_ns < inquiry->submitted_ns &&
	    walker_call_at(inquiry->tools->walker, inquiry->thread, inquiry->submitted_ns) ==
		    INDEX_NONE)
		inquiry->handed_ns = inquiry->enqueued_ns;
	extend_handover(inquiry);
}

static uint32_t submitting_thread(const struct model *model, const struct device_task *task)
{
	if (task->thread < model->threads.count)
		return task->thread;
	return task->call < model->calls.count ? model->calls.row[task->call].thread : INDEX_NONE;
}

int idle_rules_apply(const struct model *model, const struct idle_tools *tools,
		     const struct device_gap *gap, struct idle_pieces *pieces)
{
	struct inquiry inquiry = { .model = model,
				   .tools = tools,
				   .gap = gap,
				   .task = &model->tasks.row[gap->after],
				   .now_ns = gap->start_ns,
				   .pieces = pieces };
	struct walk walk;
	struct walk_step step;

	pieces->count = 0;
	inquiry.thread = submitting_thread(model, inquiry.task);
	find_handover(&inquiry);
	walk_start(&walk, tools->walker, inquiry.thread, gap->start_ns, inquiry.handed_ns);
	while (walk_next(&walk, &step))
		put_step(&inquiry, &step);
	put_submitted(&inquiry);
	/* The remainder that no rule covers is unknown; it must not get lost. */
	put(&inquiry, gap->end_ns, blank(IDLE_UNKNOWN, WHY_NONE, inquiry.thread));
	return inquiry.out_of_memory ? -ENOMEM : 0;
}
