/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/metrics/live_figures.h"

#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/live/live_busy.h"
#include "daemon/live/live_feeds.h"
#include "daemon/profbpfd/metrics/process_figures.h"

#define LAST_CALLS_NS 2000000000ull /* this long after the end of a process, all of its calls have arrived */

/* The kernel's last account of a thread. */
struct thread {
	uint32_t tid; /* key of the tree */
	uint64_t run_ns, runnable_ns;
};

struct device {
	struct device_figures figures;
	struct live_busy busy;
};

/* An operator, with the identity of its pipeline in the process. */
struct operator {
	struct operator_figures figures;
	uint64_t tree;
	uint32_t instance;
};

/* A process that has ended. */
struct ended {
	uint32_t pid;
	uint64_t ts_ns;
};

struct live_figures {
	struct live_feeds *feeds;
	bool feeding; /* a function of data pipelines is probed; before that, threads are not noted */
	void *threads; /* a tree of search.h */
	struct ended *ended; /* processes whose last figures may still be read, or still arrive */
	size_t ended_count;
	uint64_t from_ns, to_ns; /* time of the frame; 0 = it has not begun */

	pthread_mutex_t lock; /* protects the rows, which only the writer's thread changes */
	struct wait_figures waits[LIVE_WAITS_MAX];
	struct device devices[LIVE_DEVICES_MAX];
	struct operator operators[LIVE_OPERATORS_MAX];
	size_t wait_count, device_count, operator_count;
	uint64_t left_out; /* for lack of room in the rows */
	uint64_t left_out_all; /* also in the feeds, at the last frame */
};

struct live_figures *live_figures_new(void)
{
	struct live_figures *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->feeds = live_feeds_new();
	if (!l->feeds) {
		free(l);
		return NULL;
	}
	pthread_mutex_init(&l->lock, NULL);
	return l;
}

void live_figures_free(struct live_figures *l)
{
	if (!l)
		return;
	live_feeds_free(l->feeds);
	tdestroy(l->threads, free);
	free(l->ended);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

/* ---- Devices */

static struct device *device_of(struct live_figures *l, uint32_t id)
{
	for (size_t i = 0; i < l->device_count; i++)
		if (l->devices[i].figures.id == id)
			return &l->devices[i];
	return NULL;
}

static void note_devices(struct live_figures *l, const struct item *item)
{
	Profbpf__Devices *m = profbpf__devices__unpack(NULL, item->size, item->data);

	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; m && i < m->n_device; i++) {
		struct device *d = device_of(l, m->device[i]->id);

		if (!d && l->device_count == LIVE_DEVICES_MAX) {
			l->left_out++;
			continue;
		}
		if (!d)
			d = &l->devices[l->device_count++];
		d->figures.id = m->device[i]->id;
		d->figures.pid = m->device[i]->tgid;
		snprintf(d->figures.name, sizeof(d->figures.name), "%s", m->device[i]->name);
	}
	pthread_mutex_unlock(&l->lock);
	if (m)
		profbpf__devices__free_unpacked(m, NULL);
}

static void take_device_tasks(struct live_figures *l, const struct item *item)
{
	const struct device_row *rows = item->data;
	struct device *d = device_of(l, item->device);

	/* Otherwise the device is not described yet, or not any more. */
	if (!d && l->device_count == LIVE_DEVICES_MAX)
		l->left_out += item->count;
	if (!d)
		return;
	pthread_mutex_lock(&l->lock);
	for (uint32_t i = 0; i < item->count; i++)
		live_busy_add(&d->busy, rows[i].task.start_ns, rows[i].task.end_ns);
	pthread_mutex_unlock(&l->lock);
}

/* ---- Functions, processes, threads */

static void note_functions(struct live_figures *l, const struct item *item)
{
	Profbpf__Functions *m = profbpf__functions__unpack(NULL, item->size, item->data);

	for (size_t i = 0; m && i < m->n_function; i++) {
		live_feeds_function(l->feeds, m->function[i]);
		l->feeding |= live_feeds_wants(l->feeds, m->function[i]->id);
	}
	if (m)
		profbpf__functions__free_unpacked(m, NULL);
}

static bool is_known(const struct live_figures *l, uint32_t pid)
{
	for (size_t i = 0; i < l->wait_count; i++)
		if (l->waits[i].pid == pid)
			return true;
	for (size_t i = 0; i < l->device_count; i++)
		if (l->devices[i].figures.pid == pid)
			return true;
	for (size_t i = 0; i < l->operator_count; i++)
		if (l->operators[i].figures.pid == pid)
			return true;
	return false;
}

static void forget(struct live_figures *l, uint32_t pid)
{
	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < l->wait_count; i++)
		if (l->waits[i].pid == pid)
			l->waits[i--] = l->waits[--l->wait_count];
	for (size_t i = 0; i < l->device_count; i++)
		if (l->devices[i].figures.pid == pid)
			l->devices[i--] = l->devices[--l->device_count];
	for (size_t i = 0; i < l->operator_count; i++)
		if (l->operators[i].figures.pid == pid)
			l->operators[i--] = l->operators[--l->operator_count];
	pthread_mutex_unlock(&l->lock);
}

static void note_end(struct live_figures *l, const struct rec_task *task)
{
	struct ended *rows = reallocarray(l->ended, l->ended_count + 1, sizeof(*rows));

	live_feeds_gone(l->feeds, task->tgid);
	if (!rows)
		return;
	l->ended = rows;
	rows[l->ended_count++] = (struct ended){ task->tgid, task->header.ts_ns };
}

/* Does the record arrive after the record of the process' end, because another CPU's ring is read later? */
static bool is_late(const struct live_figures *l, const struct rec_task *task)
{
	for (size_t i = 0; i < l->ended_count; i++)
		if (l->ended[i].pid == task->tgid && l->ended[i].ts_ns >= task->header.ts_ns)
			return true;
	return false;
}

/* A new process has the id. */
static void note_begin(struct live_figures *l, uint32_t pid)
{
	for (size_t i = 0; i < l->ended_count; i++) {
		if (l->ended[i].pid != pid)
			continue;
		l->ended[i--] = l->ended[--l->ended_count];
		forget(l, pid);
	}
}

static void forget_ended(struct live_figures *l)
{
	for (size_t i = 0; i < l->ended_count; i++) {
		uint64_t kept_ns = is_known(l, l->ended[i].pid) ? FIGURES_KEPT_NS : LAST_CALLS_NS;

		if (l->ended[i].ts_ns + kept_ns > l->to_ns)
			continue;
		forget(l, l->ended[i].pid);
		l->ended[i--] = l->ended[--l->ended_count];
	}
}

static void note_tasks(struct live_figures *l, const struct item *item)
{
	const struct task_row *rows = item->data;

	for (uint32_t i = 0; i < item->count; i++) {
		const struct rec_task *t = &rows[i].record;
		bool leader = t->tid == t->tgid && !is_late(l, t);
		char name[REC_COMM_LEN];

		if (leader && t->event == TASK_FORK)
			note_begin(l, t->tgid);
		if (leader) {
			snprintf(name, sizeof(name), "%s", t->comm);
			live_feeds_process(l->feeds, t->tgid, t->parent_tgid, name);
		}
		if (t->event == TASK_DROPPED || (t->event == TASK_EXIT && t->header.flags & TASK_LAST))
			note_end(l, t);
	}
}

static int by_tid(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void take_account(struct live_figures *l, const struct rec_account *account)
{
	struct thread key = { .tid = account->tid }, **found = tfind(&key, &l->threads, by_tid), *t;

	if (!(account->header.flags & ACCOUNT_TARGET))
		return;
	t = found ? *found : calloc(1, sizeof(*t));
	if (!t)
		return;
	if (found && account->run_ns >= t->run_ns && account->runnable_ns >= t->runnable_ns)
		live_feeds_ran(l->feeds, account->tgid, account->tid, account->run_ns - t->run_ns,
			       account->runnable_ns - t->runnable_ns);
	*t = (struct thread){ account->tid, account->run_ns, account->runnable_ns };
	if (!found && !tsearch(t, &l->threads, by_tid)) {
		free(t);
	} else if (account->header.flags & ACCOUNT_FINAL) {
		tdelete(t, &l->threads, by_tid);
		free(t);
	}
}

/* Processes that are no targets have accounts, also at their end, but no exit records of tasks. */
static void note_stranger(struct live_figures *l, const struct rec_account *account)
{
	if (account->tid == account->tgid && account->header.flags & ACCOUNT_FINAL &&
	    !(account->header.flags & ACCOUNT_TARGET))
		live_feeds_gone(l->feeds, account->tgid);
}

static void take_call(struct live_figures *l, const struct rec_call *call, struct texts *texts)
{
	bool end_unknown = call->header.flags & (CALL_LEFT | CALL_ENTRY);
	struct live_called called = { .function = call->probe,
				      .pid = call->tgid,
				      .tid = call->tid,
				      .depth = call->header.flags >> CALL_DEPTH_SHIFT,
				      .end_ns = call->header.ts_ns + call->dur_ns,
				      .dur_ns = end_unknown ? 0 : call->dur_ns,
				      .end_unknown = end_unknown,
				      .args = { call->args[0], call->args[1], call->args[2] } };
	char text[REC_STRING_LEN] = "";

	if (call->header.flags & CALL_OPEN || !live_feeds_wants(l->feeds, call->probe))
		return;
	if (call->header.flags & CALL_HAS_STRING)
		texts_get(texts, call->text, text, sizeof(text));
	live_feeds_call(l->feeds, &called, text);
}

static void take_records(struct live_figures *l, const struct item *item, struct texts *texts)
{
	const struct rec_call *calls = item->data;
	const struct rec_account *accounts = item->data;
	const struct rec_switch *switches = item->data;

	for (uint32_t i = 0; i < item->count && item->type == REC_ACCOUNT; i++)
		note_stranger(l, &accounts[i]);
	if (!l->feeding)
		return;
	for (uint32_t i = 0; i < item->count && item->type == REC_CALL; i++)
		take_call(l, &calls[i], texts);
	for (uint32_t i = 0; i < item->count && item->type == REC_ACCOUNT; i++)
		take_account(l, &accounts[i]);
	for (uint32_t i = 0; i < item->count && item->type == REC_SWITCH; i++)
		if (switches[i].state == SWITCH_SLEEP)
			live_feeds_slept(l->feeds, switches[i].prev_tid, switches[i].header.ts_ns, switches[i].syscall);
}

/* ---- Frames; the caller holds the lock */

static void add_wait(struct live_figures *l, const struct live_wait *wait)
{
	size_t at = 0;

	while (at < l->wait_count && l->waits[at].pid != wait->pid)
		at++;
	l->left_out += at == LIVE_WAITS_MAX;
	if (at == LIVE_WAITS_MAX)
		return;
	if (at == l->wait_count)
		l->waits[l->wait_count++] = (struct wait_figures){ .pid = wait->pid };
	l->waits[at].wait_ns += wait->ns;
}

/* Numbers pipelines in the order in which they were seen; a number is valid while the process lives. */
static uint32_t pipeline_of(const struct live_figures *l, const struct live_operator *row)
{
	uint32_t last = 0;

	if (row->instance || !row->tree)
		return row->instance;
	for (size_t i = 0; i < l->operator_count; i++) {
		const struct operator *o = &l->operators[i];

		if (o->figures.pid != row->pid)
			continue;
		if (o->tree == row->tree)
			return o->figures.pipeline;
		last = o->figures.pipeline > last ? o->figures.pipeline : last;
	}
	return last + 1;
}

static struct operator *operator_of(struct live_figures *l, const struct live_operator *row, uint32_t nth)
{
	struct operator *o = l->operators;

	for (; o < l->operators + l->operator_count; o++)
		if (o->figures.pid == row->pid && o->tree == row->tree && o->instance == row->instance &&
		    o->figures.nth == nth && !strcmp(o->figures.name, row->name))
			return o;
	if (l->operator_count == LIVE_OPERATORS_MAX) {
		l->left_out++;
		return NULL;
	}
	*o = (struct operator){ .figures = { .pid = row->pid, .pipeline = pipeline_of(l, row), .nth = nth },
				.tree = row->tree,
				.instance = row->instance };
	snprintf(o->figures.name, sizeof(o->figures.name), "%s", row->name);
	l->operator_count++;
	return o;
}

static void add_operator(struct live_figures *l, const struct live_operator *rows, size_t at)
{
	const struct live_operator *row = &rows[at];
	struct operator *o;
	uint32_t nth = 1;

	for (size_t i = 0; i < at; i++)
		nth += rows[i].pid == row->pid && rows[i].tree == row->tree && rows[i].instance == row->instance &&
		       !strcmp(rows[i].name, row->name);
	o = operator_of(l, row, nth);
	if (!o)
		return;
	o->figures.run_ns += row->run_ns;
	o->figures.rows += row->elements ? row->elements : row->pops;
	o->figures.has_put_wait |= row->has_push_wait;
	o->figures.has_get_wait |= row->has_pop_wait;
	o->figures.put_wait_ns += row->has_push_wait ? row->push_wait_ns : 0;
	o->figures.get_wait_ns += row->has_pop_wait ? row->pop_wait_ns : 0;
	o->figures.has_filled = row->has_queue && row->has_size && row->capacity && !row->gone;
	o->figures.filled = o->figures.has_filled ? row->mean_size / row->capacity : 0;
}

static void end_frame(struct live_figures *l)
{
	struct live_operator *rows = NULL;
	struct live_wait *waits = NULL;
	size_t count, wait_count;

	if (l->to_ns <= l->from_ns)
		return;
	forget_ended(l);
	count = live_feeds_frame(l->feeds, l->from_ns, l->to_ns, &rows, &waits, &wait_count);
	l->from_ns = l->to_ns;
	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < l->operator_count; i++)
		l->operators[i].figures.has_filled = false;
	for (size_t i = 0; i < count; i++)
		add_operator(l, rows, i);
	for (size_t i = 0; waits && i < wait_count; i++)
		add_wait(l, &waits[i]);
	l->left_out_all = l->left_out + live_feeds_left_out(l->feeds);
	pthread_mutex_unlock(&l->lock);
	free(rows);
	free(waits);
}

static void note_instant(struct live_figures *l, const struct item *item)
{
	Profbpf__CpuStats *m = profbpf__cpu_stats__unpack(NULL, item->size, item->data);

	if (!m)
		return;
	l->to_ns = m->ts_ns;
	if (!l->from_ns)
		l->from_ns = m->ts_ns;
	profbpf__cpu_stats__free_unpacked(m, NULL);
}

static void note_body(struct live_figures *l, const struct item *item)
{
	switch (item->body) {
	case PROFBPF__PACKET__KIND__FUNCTIONS: note_functions(l, item); break;
	case PROFBPF__PACKET__KIND__DEVICES: note_devices(l, item); break;
	case PROFBPF__PACKET__KIND__THREAD_ROLES: live_feeds_roles(l->feeds, item->data, item->size); break;
	case PROFBPF__PACKET__KIND__CPU_STATS: note_instant(l, item); break;
	default: break;
	}
}

void live_figures_item(struct live_figures *l, const struct item *item, struct texts *texts)
{
	switch (item->kind) {
	case ITEM_BODY: note_body(l, item); break;
	case ITEM_TASKS: note_tasks(l, item); break;
	case ITEM_RECORDS: take_records(l, item, texts); break;
	case ITEM_DEVICE: take_device_tasks(l, item); break;
	case ITEM_STATISTICS: end_frame(l); break;
	default: break;
	}
}

size_t live_figures_waits(const struct live_figures *l, struct wait_figures *rows, size_t room)
{
	size_t count = l->wait_count < room ? l->wait_count : room;

	memcpy(rows, l->waits, count * sizeof(*rows));
	return count;
}

void live_figures_copy(struct live_figures *l, struct live_copy *copy)
{
	pthread_mutex_lock(&l->lock);
	copy->left_out = l->left_out_all;
	copy->wait_count = l->wait_count;
	memcpy(copy->waits, l->waits, l->wait_count * sizeof(*l->waits));
	copy->device_count = l->device_count;
	for (size_t i = 0; i < l->device_count; i++) {
		copy->devices[i] = l->devices[i].figures;
		copy->devices[i].tasks = l->devices[i].busy.tasks;
		copy->devices[i].busy_ns = l->devices[i].busy.busy_ns;
	}
	copy->operator_count = l->operator_count;
	for (size_t i = 0; i < l->operator_count; i++)
		copy->operators[i] = l->operators[i].figures;
	pthread_mutex_unlock(&l->lock);
}
