/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/root_walk.h"

#include <string.h>

#include "analyzer/analyse/host/cgroup_limits.h"
#include "analyzer/analyse/idle/idle_sleep.h"
#include "analyzer/analyse/idle/packet_sender.h"
#include "analyzer/analyse/host/sleep_reason.h"
#include "analyzer/join/thread/sleep_causes.h"
#include "proto/trace.pb-c.h"
#include "lib/base/bisect.h"

static void split(struct root_walk *walk, uint32_t thread, uint64_t from_ns, uint64_t to_ns);
static void put_step(struct root_walk *walk, const struct walk_step *step);

static struct root root_of(const struct walk_step *step, uint8_t cause)
{
	return (struct root){ .start_ns = step->start_ns,
			      .end_ns = step->end_ns,
			      .cause = cause,
			      .who_kind = step->thread == INDEX_NONE ? WHO_NONE : WHO_THREAD,
			      .who = step->thread,
			      .thread = step->thread,
			      .entry = INDEX_NONE,
			      .caller = INDEX_NONE,
			      .disk = INDEX_NONE };
}

static void emit(struct root_walk *walk, const struct root *root)
{
	if (walk->error || root->start_ns >= root->end_ns)
		return;
	walk->path[walk->depth - 1].cause = root->cause;
	walk->error = walk->sink(walk->context, root, walk->path, walk->depth);
}

/* Names the cgroup whose quota was used up: by the last cgroup of the process before the end of @root. */
static void name_group(const struct model *model, struct root *root)
{
	uint32_t process = model->threads.row[root->thread].process;
	const struct process_stat *rows = model->process_stats.row;
	uint32_t next = BISECT(i, 0, model->process_stats.count,
			       rows[i].process < process || (rows[i].process == process &&
							     rows[i].ts_ns <= root->end_ns));

	while (next > 0 && rows[next - 1].process == process) {
		next--;
		if (rows[next].cgroup >= model->cgroups.count)
			continue;
		root->object_kind = OBJECT_CGROUP;
		root->object = cgroup_limit(model, rows[next].cgroup);
		return;
	}
}

static void put_ready(struct root_walk *walk, const struct walk_step *step)
{
	const struct model *model = walk->model;
	const struct span *span = &model->spans.row[step->span];
	struct root root = root_of(step, IDLE_RUNNABLE);

	if (span->flags & SPAN_THROTTLED) {
		root.cause = IDLE_THROTTLED;
		name_group(model, &root);
	} else if (span->other < model->threads.count) {
		root.who_kind = WHO_RUNNER;
		root.who = span->other;
	} else {
		root.who_kind = span->flags & SPAN_CPU_IDLE ? WHO_IDLE_CPU : WHO_NONE;
		root.who = 0;
	}
	emit(walk, &root);
}

static void name_command(const struct model *model, struct root *root, uint32_t ioctl)
{
	if (ioctl == INDEX_NONE)
		return;
	root->object_kind = OBJECT_COMMAND;
	root->object = model->ioctls.row[ioctl].driver;
	root->command = model->ioctls.row[ioctl].cmd;
}

/* On a CPU in the program's own code: a device file may name the scope. */
static void emit_running(struct root_walk *walk, const struct root *root)
{
	struct root part = *root;
	uint64_t until_ns;

	while (root->cause == IDLE_USER_CODE && walk->tools->scopes && part.start_ns < root->end_ns) {
		uint32_t function = scope_line_at(walk->tools->scopes, root->thread,
						  part.start_ns, &until_ns);

		part.place_kind = function == INDEX_NONE ? PLACE_NONE : PLACE_FUNCTION;
		part.place = function == INDEX_NONE ? 0 : function;
		part.end_ns = until_ns < root->end_ns ? until_ns : root->end_ns;
		emit(walk, &part);
		part.start_ns = part.end_ns;
	}
	if (root->cause != IDLE_USER_CODE || !walk->tools->scopes)
		emit(walk, root);
}

static void put_running(struct root_walk *walk, const struct walk_step *step)
{
	const struct model *model = walk->model;
	struct root root = root_of(step, IDLE_USER_CODE), irq = root_of(step, IDLE_IRQ);
	uint32_t i = model_interrupt_after(model, step->thread, step->start_ns);

	root.running = irq.running = true;
	if (step->ioctl != INDEX_NONE) {
		root.cause = IDLE_DRIVER;
		name_command(model, &root, step->ioctl);
	} else if (step->call != INDEX_NONE) {
		root.cause = IDLE_RUNTIME;
		root.place_kind = PLACE_FUNCTION;
		root.place = model->calls.row[step->call].function;
	}
	for (; i < model->interrupts.count; i++) {
		const struct interrupt *row = &model->interrupts.row[i];

		if (row->thread != step->thread || row->ts_ns >= step->end_ns)
			break;
		irq.object_kind = row->name ? OBJECT_INTERRUPT : OBJECT_INTERRUPT_KIND;
		irq.object = row->name ? row->name : row->flags & WOKEN_BY_INTERRUPT;
		irq.start_ns = root.start_ns > row->ts_ns ? root.start_ns : row->ts_ns;
		irq.end_ns = row->ts_ns + row->dur_ns;
		if (irq.end_ns > step->end_ns)
			irq.end_ns = step->end_ns;
		root.end_ns = irq.start_ns;
		emit_running(walk, &root);
		emit(walk, &irq);
		root.start_ns = irq.end_ns > irq.start_ns ? irq.end_ns : irq.start_ns;
	}
	root.end_ns = step->end_ns;
	emit_running(walk, &root);
}

static void unknown(struct root *root, uint8_t end)
{
	root->cause = IDLE_UNKNOWN;
	root->end = end;
}

/* Is this cause clear without knowing the waker? */
static bool is_device_end(uint8_t cause)
{
	return cause == IDLE_IO || cause == IDLE_PAGE_FAULT || cause == IDLE_NETWORK;
}

static bool at_socket(const struct model *model, const struct span *span)
{
	const struct sleep_object *object = sleep_object(model, span);

	return object && (object->kind == PROFBPF__SLEEP_OBJECTS__KIND__INET_SOCKET ||
			  object->kind == PROFBPF__SLEEP_OBJECTS__KIND__SOCKET);
}

/* A kernel thread is the waker: it wrote files, completed requests, or delivered packets. */
static void by_kernel(const struct root_walk *walk, const struct span *span, uint8_t judged,
		      struct root *root)
{
	enum syscall_class class = syscall_class(walk->tools->syscalls, span->syscall);

	if (span->flags & SPAN_FAULT)
		root->cause = IDLE_PAGE_FAULT;
	else if (class == SYSCALL_NETWORK || at_socket(walk->model, span))
		root->cause = IDLE_NETWORK;
	else if (judged == IDLE_IO || span->state == STATE_DISK || class == SYSCALL_READ ||
		 class == SYSCALL_WRITE)
		root->cause = IDLE_IO;
	else
		unknown(root, ROOT_END_UNTRACED);
}

/*
 * The kernel makes a thread sleep if it writes faster than its disk (balance_dirty_pages), or uses more memory than its
 * cgroup may (mem_cgroup_handle_over_high): such a sleep until a timer expires is not the thread's own choice.
 */
static bool is_held_back(const struct span *span, uint8_t judged)
{
	return judged == IDLE_PAGE_FAULT || (judged == IDLE_IO && span->state == STATE_DISK);
}

static void by_interrupt(const struct root_walk *walk, const struct span *span, uint8_t judged,
			 struct root *root)
{
	const char *name = sleep_interrupt(walk->model, span);

	if (span->flags & SPAN_WOKEN_TIMER) {
		root->cause = judged == IDLE_NETWORK || is_held_back(span, judged) ? judged : IDLE_SLEEP;
		return;
	}
	if (name && strcmp(name, "BLOCK") == 0 && judged != IDLE_PAGE_FAULT)
		root->cause = IDLE_IO;
	else if (name && (strcmp(name, "NET_RX") == 0 || strcmp(name, "NET_TX") == 0))
		root->cause = IDLE_NETWORK;
	else if (is_device_end(judged))
		root->cause = judged;
	else
		unknown(root, ROOT_END_INTERRUPT);
	if (root->object_kind == OBJECT_NONE && name && *name) {
		root->object_kind = OBJECT_INTERRUPT;
		root->object = span->other;
	}
}

static void by_nobody(uint8_t judged, struct root *root)
{
	if (is_device_end(judged) || judged == IDLE_SLEEP)
		root->cause = judged;
	else
		unknown(root, ROOT_END_NO_WAKER);
}

static bool is_kernel(const struct model *model, uint32_t thread)
{
	const struct thread *row = &model->threads.row[thread];

	return row->kernel ||
	       (row->process < model->processes.count && model->processes.row[row->process].kernel);
}

static bool is_traced(const struct model *model, uint32_t thread)
{
	return model->threads.row[thread].target || model->info.system_wide;
}

static bool on_path(const struct root_walk *walk, uint32_t thread)
{
	for (uint32_t i = 0; i < walk->depth; i++)
		if (walk->path[i].thread == thread)
			return true;
	return false;
}

/* A thread of a process ended the sleep: continues with that thread, if possible. */
static void by_thread(struct root_walk *walk, uint32_t waker, uint8_t judged, struct root *root)
{
	root->who = waker;
	if (waker == root->thread) {
		unknown(root, ROOT_END_NO_WAKER);
	} else if (!is_traced(walk->model, waker)) {
		root->end = ROOT_END_UNTRACED;
		root->cause = judged == IDLE_NO_WORK || judged == IDLE_NETWORK ? judged
									       : IDLE_UNKNOWN;
	} else if (on_path(walk, waker)) {
		root->end = ROOT_END_CIRCLE;
		root->cause = judged == IDLE_UNKNOWN || judged == IDLE_SLEEP ? IDLE_LOCK : judged;
	} else if (walk->depth == ROOT_DEPTH_MAX) {
		unknown(root, ROOT_END_DEPTH);
	} else {
		/* The thread waited for its waker, even if no lock, pipe and so on is known. */
		walk->path[walk->depth - 1].cause =
			judged == IDLE_UNKNOWN || judged == IDLE_SLEEP ? IDLE_LOCK : judged;
		split(walk, waker, root->start_ns, root->end_ns);
		return;
	}
	emit(walk, root);
}

static void name_sleep(const struct root_walk *walk, const struct span *span, struct root *root)
{
	const struct model *model = walk->model;

	if (span->flags & SPAN_FAULT) {
		root->place_kind = PLACE_FAULT;
	} else if (span->syscall >= 0) {
		root->place_kind = PLACE_SYSCALL;
		root->place = (uint32_t)span->syscall;
	}
	if (sleep_object(model, span)) {
		root->object_kind = OBJECT_SLEEP;
		root->object = span->object;
	}
}

/* A wait for the interpreter's lock: continues with its holder. */
static void put_locked(struct root_walk *walk, uint32_t last, struct root *root)
{
	uint32_t holder = wait_holder(walk->waits, last);

	root->object_kind = OBJECT_INTERPRETER;
	root->object = 0;
	if (holder != INDEX_NONE && holder != root->thread) {
		by_thread(walk, holder, IDLE_LOCK, root);
		return;
	}
	root->cause = IDLE_LOCK;
	root->end = ROOT_END_NO_WAKER;
	root->who_kind = WHO_NONE;
	root->who = 0;
	emit(walk, root);
}

/* ---- Polls */

struct weight {
	const struct root_walk *walk;
	uint64_t all_ns;
	uint64_t known_ns; /* with a root that explains something */
};

/* A sleep until a time explains only if the thread asked for it; one in which no event came is another poll. */
static int weigh(void *context, const struct root *root, const struct root_hop *path, uint32_t depth)
{
	struct weight *weight = context;
	uint64_t ns = root->end_ns - root->start_ns;
	bool known = root->cause != IDLE_UNKNOWN && root->cause != IDLE_NO_WORK && root->end == ROOT_END_FOUND &&
		     root->cause != IDLE_NETWORK;

	(void)path;
	(void)depth;
	if (root->cause == IDLE_SLEEP && root->place_kind == PLACE_SYSCALL)
		known = syscall_class(weight->walk->tools->syscalls, (int16_t)root->place) == SYSCALL_SLEEP;
	weight->all_ns += ns;
	weight->known_ns += known ? ns : 0;
	return 0;
}

/* Tries a step of the maker: do roots that explain something make up half of it or more? */
static bool leads_to_roots(struct root_walk *walk, const struct walk_step *step)
{
	struct weight weight = { .walk = walk };
	struct root_walk whole = *walk;

	walk->sink = weigh;
	walk->context = &weight;
	walk->trying = true;
	put_step(walk, step);
	walk->sink = whole.sink;
	walk->context = whole.context;
	walk->trying = false;
	return 2 * weight.known_ns >= weight.all_ns;
}

/*
 * A thread polls for what another one makes: continues with that one as far as this leads to roots. Else the poll is
 * the end, which tells more than a waker that is not known.
 */
static bool put_polled(struct root_walk *walk, uint32_t thread, uint32_t last, const struct root *root)
{
	uint32_t maker = walk->trying ? INDEX_NONE : wait_polled(walk->waits, thread, last);
	struct walk steps;
	struct walk_step step;

	if (maker == INDEX_NONE || !is_traced(walk->model, maker) || on_path(walk, maker) ||
	    walk->depth == ROOT_DEPTH_MAX)
		return false;
	walk_start(&steps, walk->tools->walker, maker, root->start_ns, root->end_ns);
	while (!walk->error && walk_next(&steps, &step)) {
		struct root part = *root;
		bool known;

		part.start_ns = step.start_ns;
		part.end_ns = step.end_ns;
		part.cause = walk->path[walk->depth - 1].cause = IDLE_SLEEP;
		walk->path[walk->depth++] = (struct root_hop){ .thread = maker };
		known = leads_to_roots(walk, &step);
		if (known)
			put_step(walk, &step);
		walk->depth--;
		if (!known)
			emit(walk, &part);
	}
	return true;
}

/* Finds the root of the wait whose last sleep is @last. */
static void put_asleep(struct root_walk *walk, const struct walk_step *step, uint32_t last)
{
	const struct model *model = walk->model;
	const struct span *span = &model->spans.row[last];
	const struct block_request *request = sleep_request(model, span);
	uint32_t peer = packet_sender(model, span, step->thread);
	struct root root = root_of(step, IDLE_UNKNOWN);
	struct idle_piece piece = { .thread = step->thread, .span = last, .subject = INDEX_NONE };

	if ((walk->depth > 1 || !walk->gap) &&
	    span_ends_device_wait(model, walk->tools->walker, span, step->thread, step->call)) {
		root.cause = IDLE_DEVICE_WAIT;
		root.place_kind = PLACE_FUNCTION;
		root.place = model->calls.row[step->call].function;
		if (walk->gap) {
			root.object_kind = OBJECT_DEVICE;
			root.object = walk->gap->device;
		}
		emit(walk, &root);
		return;
	}
	name_sleep(walk, span, &root);
	if (wait_interpreter(walk->waits, step->thread, last)) {
		put_locked(walk, last, &root);
		return;
	}
	if (put_polled(walk, step->thread, last, &root))
		return;
	idle_sleep_judge(model, walk->tools->syscalls, step->ioctl != INDEX_NONE, &piece);
	if (piece.cause == IDLE_DRIVER) {
		root.cause = IDLE_DRIVER;
		name_command(model, &root, step->ioctl);
	} else if (request) {
		root.cause = piece.cause == IDLE_PAGE_FAULT ? IDLE_PAGE_FAULT : IDLE_IO;
		root.disk = request->driver;
	} else if (span_woken_by_thread(span) && span->other < model->threads.count) {
		if (!is_kernel(model, span->other)) {
			by_thread(walk, span->other, piece.cause, &root);
			return;
		}
		by_kernel(walk, span, piece.cause, &root);
	} else if (peer != INDEX_NONE) {
		by_thread(walk, peer, IDLE_NETWORK, &root);
		return;
	} else if (!(span->flags & SPAN_NO_WAKE) &&
		   span->flags & (SPAN_WOKEN_TIMER | SPAN_WOKEN_SOFTIRQ | SPAN_WOKEN_HARDIRQ)) {
		by_interrupt(walk, span, piece.cause, &root);
	} else {
		by_nobody(piece.cause, &root);
	}
	emit(walk, &root);
}

static void put_step(struct root_walk *walk, const struct walk_step *step)
{
	uint32_t last = step->span == INDEX_NONE ? INDEX_NONE : wait_end(walk->waits, step->span);
	uint8_t state = step->span == INDEX_NONE ? STATE_UNKNOWN
						 : walk->model->spans.row[step->span].state;
	struct root root;

	walk->steps++;
	walk->path[walk->depth - 1].thread = step->thread;
	if (last != INDEX_NONE) {
		put_asleep(walk, step, last);
		return;
	}
	switch (state) {
	case STATE_RUNNING: put_running(walk, step); break;
	case STATE_RUNNABLE: put_ready(walk, step); break;
	default:
		root = root_of(step, IDLE_UNKNOWN);
		root.end = state == STATE_STOPPED ? ROOT_END_STOPPED : ROOT_END_NO_RECORD;
		emit(walk, &root);
		break;
	}
}

/* Walks a thread's activity in a time, as the next hop of the path. */
static void split(struct root_walk *walk, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	struct walk steps;
	struct walk_step step;

	walk->path[walk->depth++] = (struct root_hop){ .thread = thread };
	walk_start(&steps, walk->tools->walker, thread, from_ns, to_ns);
	while (!walk->error && walk_next(&steps, &step))
		put_step(walk, &step);
	walk->depth--;
}

/* Does a piece describe its thread's activity, rather than the state of the task? */
static bool is_own_doing(const struct idle_piece *piece)
{
	if (piece->thread == INDEX_NONE || piece->cause == IDLE_DEVICE_WAIT)
		return false;
	switch (piece->why) {
	case WHY_WORKER_CPU:
	case WHY_COMPLETION_CPU:
	case WHY_UNSEEN_WORK:
	case WHY_NO_THREAD:
	case WHY_NO_STATE:
	case WHY_SCOPE:
	case WHY_SCOPE_WAITS:
	case WHY_MAIN_SCOPE: return false;
	default: return true;
	}
}

/* Emits a piece that is a root itself. */
static void put_piece(struct root_walk *walk, const struct idle_piece *piece)
{
	const struct model *model = walk->model;
	struct walk_step step = { piece->start_ns, piece->end_ns, piece->thread,
				  piece->span,	   piece->call,	  INDEX_NONE };
	struct root root = root_of(&step, piece->cause);

	walk->path[walk->depth++] = (struct root_hop){ piece->thread, IDLE_DEVICE_WAIT };
	if (piece->why == WHY_WORKER_CPU || piece->why == WHY_COMPLETION_CPU)
		walk->path[walk->depth++] = (struct root_hop){ .thread = piece->subject };
	if (piece->cause == IDLE_DEVICE_WAIT) {
		root.object_kind = OBJECT_DEVICE;
		root.object = walk->gap->device;
	} else if (piece->cause == IDLE_RUNNABLE || piece->cause == IDLE_THROTTLED) {
		root.who_kind = piece->who_kind;
		root.who = piece->who;
		root.thread = piece->subject;
	} else if (piece->cause == IDLE_UNKNOWN) {
		root.end = piece->why == WHY_UNSEEN_WORK ? ROOT_END_UNSEEN_WORK
							 : ROOT_END_NO_RECORD;
	}
	if (piece->why == WHY_SCOPE || piece->why == WHY_SCOPE_WAITS ||
	    piece->why == WHY_MAIN_SCOPE) {
		root.place_kind = PLACE_FUNCTION;
		root.place = piece->who;
	}
	if (root.cause != IDLE_RUNNABLE && piece->call < model->calls.count) {
		root.place_kind = PLACE_FUNCTION;
		root.place = model->calls.row[piece->call].function;
	}
	emit(walk, &root);
	walk->depth = 0;
}

int root_walk_gap(struct root_walk *walk, const struct device_gap *gap,
		  const struct idle_pieces *pieces)
{
	walk->gap = gap;
	walk->depth = 0;
	walk->error = 0;
	for (uint32_t i = 0; i < pieces->count && !walk->error; i++) {
		const struct idle_piece *piece = &pieces->row[i];

		if (is_own_doing(piece))
			split(walk, piece->thread, piece->start_ns, piece->end_ns);
		else
			put_piece(walk, piece);
	}
	return walk->error;
}

int root_walk_thread(struct root_walk *walk, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	walk->gap = NULL;
	walk->depth = 0;
	walk->error = 0;
	split(walk, thread, from_ns, to_ns);
	return walk->error;
}
