/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/metrics/process_figures.h"

#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/profbpfd/capture/capture.h"

#define PENDING 16

struct row {
	struct process_figures figures;
	uint64_t end_ns; /* end of the process; 0 = it lives */
	bool used;
};

struct thread {
	uint32_t tid; /* key of the tree */
	uint32_t tgid;
	struct row *row;
	bool known; /* @last is valid for this thread */
	struct rec_account last;
	uint64_t pending[PENDING]; /* start times of launches that may be nested in another one */
	unsigned int pending_count;
};

struct figures {
	const struct right *right;
	_Atomic uint8_t launch[CAPTURE_PROBES_MAX];
	void *threads; /* a tree of search.h */
	struct thread *recent; /* thread of the last launch; NULL = none */
	uint64_t now_ns;

	pthread_mutex_t lock; /* protects the rows, which only the reader thread changes */
	struct row rows[FIGURES_PROCESSES_MAX];
	struct process_figures other;
};

struct figures *figures_new(const struct right *right)
{
	struct figures *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->right = right;
	pthread_mutex_init(&f->lock, NULL);
	return f;
}

void figures_free(struct figures *f)
{
	if (!f)
		return;
	tdestroy(f->threads, free);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

void figures_launch_probe(struct figures *f, uint32_t probe)
{
	if (probe < CAPTURE_PROBES_MAX)
		atomic_store_explicit(&f->launch[probe], 1, memory_order_relaxed);
}

/* ---- Rows */

/* Returns no labels if the process is not the owner's any more. */
static struct process_labels labels_of(struct figures *f, uint32_t pid)
{
	struct process_labels labels;

	process_labels_read((pid_t)pid, &labels);
	if (!right_holds(f->right, (pid_t)pid))
		memset(&labels, 0, sizeof(labels));
	return labels;
}

/* Returns the row of a living process; NULL = it belongs to the row of all others. */
static struct row *row_of(struct figures *f, uint32_t pid)
{
	struct row *free_row = NULL;
	struct row new = { .figures.pid = pid, .used = true };

	for (struct row *row = f->rows; row < f->rows + FIGURES_PROCESSES_MAX; row++) {
		if (row->used && row->figures.pid == pid && !row->end_ns)
			return row;
		if (!free_row && (!row->used || (row->end_ns && row->end_ns + FIGURES_KEPT_NS < f->now_ns)))
			free_row = row;
	}
	if (!free_row)
		return NULL;
	new.figures.labels = labels_of(f, pid);
	pthread_mutex_lock(&f->lock);
	*free_row = new;
	pthread_mutex_unlock(&f->lock);
	return free_row;
}

static struct process_figures *figures_of(struct figures *f, const struct thread *thread)
{
	return thread->row && thread->row->figures.pid == thread->tgid ? &thread->row->figures : &f->other;
}

/* ---- Threads */

static int by_tid(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void count_other(struct figures *f)
{
	pthread_mutex_lock(&f->lock);
	f->other.others++;
	pthread_mutex_unlock(&f->lock);
}

static struct thread *thread_of(struct figures *f, uint32_t tid, uint32_t tgid)
{
	struct thread key = { .tid = tid }, **found = tfind(&key, &f->threads, by_tid), *new;

	if (found)
		return *found;
	new = calloc(1, sizeof(*new));
	if (!new)
		return NULL;
	new->tid = tid;
	new->tgid = tgid;
	new->row = row_of(f, tgid);
	if (!tsearch(new, &f->threads, by_tid)) {
		free(new);
		return NULL;
	}
	if (!new->row && tid == tgid)
		count_other(f);
	return new;
}

static void forget_thread(struct figures *f, struct thread *thread)
{
	if (f->recent == thread)
		f->recent = NULL;
	tdelete(thread, &f->threads, by_tid);
	free(thread);
}

/* ---- Launches */

static void count_launches(struct figures *f, const struct thread *thread, uint64_t count)
{
	pthread_mutex_lock(&f->lock);
	figures_of(f, thread)->launches += count;
	pthread_mutex_unlock(&f->lock);
}

/*
 * Calls are recorded at their end, so nested calls come before the outer one. A launch is counted as soon as it is
 * certain that it is not nested in another launch: with its outermost call, which may be itself.
 */
static void take_call(struct figures *f, const struct rec_call *call)
{
	bool launch = call->probe < CAPTURE_PROBES_MAX &&
		      atomic_load_explicit(&f->launch[call->probe], memory_order_relaxed);
	unsigned int depth = call->header.flags >> CALL_DEPTH_SHIFT;
	struct thread *t = f->recent && f->recent->tid == call->tid ? f->recent : NULL;
	uint64_t sure = 0;

	if (!launch && (depth || !f->threads))
		return;
	if (!t)
		t = thread_of(f, call->tid, call->tgid);
	if (!t)
		return;
	f->recent = t;
	if (launch) {
		while (t->pending_count && t->pending[t->pending_count - 1] >= call->header.ts_ns)
			t->pending_count--;
		if (t->pending_count == PENDING) {
			memmove(t->pending, t->pending + 1, sizeof(t->pending) - sizeof(*t->pending));
			t->pending_count--;
			sure++;
		}
		t->pending[t->pending_count++] = call->header.ts_ns;
	}
	if (!depth) {
		sure += t->pending_count;
		t->pending_count = 0;
	}
	if (sure)
		count_launches(f, t, sure);
}

/* ---- Accounts */

static uint64_t grown(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

static void add_growth(struct process_figures *to, const struct rec_account *before, const struct rec_account *now)
{
	uint64_t elapsed = grown(before->header.ts_ns, now->header.ts_ns);
	uint64_t run = grown(before->run_ns, now->run_ns), wait = grown(before->runnable_ns, now->runnable_ns);

	to->has_accounts = true;
	to->run_ns += run;
	to->runnable_ns += wait;
	to->blocked_ns += grown(run + wait, elapsed);
	to->minor_faults += grown(before->minor_faults, now->minor_faults);
	to->major_faults += grown(before->major_faults, now->major_faults);
}

static void take_account(struct figures *f, const struct rec_account *account)
{
	struct thread *t;

	if (!(account->header.flags & ACCOUNT_TARGET))
		return;
	t = thread_of(f, account->tid, account->tgid);
	if (!t)
		return;
	/* A thread's totals at its first reading are not counted: they may be from hours ago. */
	if (t->known) {
		pthread_mutex_lock(&f->lock);
		add_growth(figures_of(f, t), &t->last, account);
		pthread_mutex_unlock(&f->lock);
	}
	t->last = *account;
	t->known = true;
	if (account->header.flags & ACCOUNT_FINAL)
		forget_thread(f, t);
}

/* ---- Begin and end of processes */

static void note_new_thread(struct figures *f, const struct rec_task *task)
{
	struct thread *t = thread_of(f, task->tid, task->tgid);

	if (!t)
		return;
	/* The id may have been another thread's, whose end was not recorded. */
	if (t->tgid != task->tgid)
		t->row = row_of(f, task->tgid);
	t->tgid = task->tgid;
	t->pending_count = 0;
	t->last = (struct rec_account){ .header.ts_ns = task->header.ts_ns };
	t->known = true;
}

static void note_change(struct figures *f, const struct rec_task *task, struct row *row)
{
	bool ended = task->event == TASK_DROPPED || task->event == TASK_EXIT;
	struct process_labels labels = row->figures.labels;

	if (!ended)
		labels = labels_of(f, task->tgid);
	pthread_mutex_lock(&f->lock);
	row->figures.labels = labels;
	row->end_ns = ended ? task->header.ts_ns : 0;
	pthread_mutex_unlock(&f->lock);
}

static void take_task(struct figures *f, const struct rec_task *task)
{
	bool leader = task->tid == task->tgid, target = task->header.flags & TASK_TARGET;

	if (task->event == TASK_FORK && target)
		note_new_thread(f, task);
	if (task->event != TASK_DROPPED && !(task->event == TASK_EXEC && target) &&
	    !(task->event == TASK_RENAME && target && leader) &&
	    !(task->event == TASK_EXIT && task->header.flags & TASK_LAST))
		return;
	for (struct row *row = f->rows; row < f->rows + FIGURES_PROCESSES_MAX; row++)
		if (row->used && row->figures.pid == task->tgid && !row->end_ns)
			note_change(f, task, row);
}

void figures_take(struct figures *f, const struct rec_header *record)
{
	if (record->ts_ns > f->now_ns)
		f->now_ns = record->ts_ns;
	switch (record->type) {
	case REC_CALL: take_call(f, (const void *)record); break;
	case REC_ACCOUNT: take_account(f, (const void *)record); break;
	case REC_TASK: take_task(f, (const void *)record); break;
	default: break;
	}
}

size_t figures_copy(struct figures *f, struct process_figures *rows, size_t room)
{
	size_t count = 0;

	pthread_mutex_lock(&f->lock);
	if (f->other.others && count < room)
		rows[count++] = f->other;
	for (struct row *row = f->rows; row < f->rows + FIGURES_PROCESSES_MAX && count < room; row++)
		if (row->used && !(row->end_ns && row->end_ns + FIGURES_KEPT_NS < f->now_ns))
			rows[count++] = row->figures;
	pthread_mutex_unlock(&f->lock);
	return count;
}
