/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/top/top_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE SIZE_MAX

const char *top_order_name(enum top_order order)
{
	static const char *const names[TOP_ORDERS] = {
		[TOP_BY_CPU] = "CPU", [TOP_BY_READY] = "ready",	  [TOP_BY_BLOCKED] = "blocked",
		[TOP_BY_IO] = "I/O",  [TOP_BY_MEMORY] = "memory", [TOP_BY_PID] = "pid",
	};

	return names[order];
}

bool top_matches(const struct top_process *process, const char *filter)
{
	char pid[16];

	if (!*filter)
		return true;
	snprintf(pid, sizeof(pid), "%u", process->pid);
	return strcasestr(process->cmdline, filter) || strcasestr(process->name, filter) ||
	       strcmp(pid, filter) == 0;
}

/* The sort key of a process, largest first. */
static uint64_t weight(const struct top_process *p, enum top_order order)
{
	switch (order) {
	case TOP_BY_READY: return p->runnable_ns;
	case TOP_BY_BLOCKED: return p->blocked_ns;
	case TOP_BY_IO: return p->read_chars + p->write_chars;
	case TOP_BY_MEMORY: return p->rss_bytes;
	case TOP_BY_PID: return UINT32_MAX - p->pid;
	default: return p->run_ns;
	}
}

static int by_weight(const void *a, const void *b, void *context)
{
	const struct top_choice *choice = context;
	const struct top_process *p = ((const struct top_row *)a)->process;
	const struct top_process *q = ((const struct top_row *)b)->process;
	uint64_t x = weight(p, choice->order), y = weight(q, choice->order);

	if (x != y)
		return x > y ? -1 : 1;
	return p->pid < q->pid ? -1 : p->pid > q->pid;
}

static int by_pid(const void *a, const void *b, void *context)
{
	const struct top_row *rows = context;
	uint32_t p = rows[*(const size_t *)a].process->pid, q = rows[*(const size_t *)b].process->pid;

	return p < q ? -1 : p > q;
}

/* ---- A tree */

struct tree {
	struct top_row *rows; /* in the order of siblings */
	size_t count;
	size_t *by_pid; /* indices of rows */
	size_t *parent, *child, *next; /* of rows: indices, NONE */
	struct top_row *done;
	size_t done_count;
};

static size_t find(const struct tree *tree, uint32_t pid)
{
	size_t low = 0, high = tree->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tree->rows[tree->by_pid[middle]].process->pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < tree->count && tree->rows[tree->by_pid[low]].process->pid == pid
		       ? tree->by_pid[low]
		       : NONE;
}

/* Links rows from the last one on, so that each parent's first child is the first in order. */
static void link_rows(struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		tree->by_pid[i] = i;
		tree->child[i] = NONE;
	}
	qsort_r(tree->by_pid, tree->count, sizeof(*tree->by_pid), by_pid, tree->rows);
	for (size_t i = tree->count; i-- > 0;) {
		size_t parent = find(tree, tree->rows[i].process->parent);

		tree->parent[i] = parent == i ? NONE : parent;
		tree->next[i] = NONE;
		if (tree->parent[i] == NONE)
			continue;
		tree->next[i] = tree->child[parent];
		tree->child[parent] = i;
	}
}

/* Down to children, then on to siblings, then up. */
static void walk(struct tree *tree, size_t root)
{
	uint32_t depth = 0;
	size_t at = root;

	while (at != NONE) {
		tree->done[tree->done_count++] =
			(struct top_row){ tree->rows[at].process, depth };
		tree->rows[at].process = NULL;
		if (tree->child[at] != NONE) {
			at = tree->child[at];
			depth++;
			continue;
		}
		while (at != root && tree->next[at] == NONE) {
			at = tree->parent[at];
			depth--;
		}
		at = at == root ? NONE : tree->next[at];
	}
}

/* A reused pid may make a circle of parents: rows in a circle have no root and come last. */
static bool make_tree(struct top_row **rows, size_t count)
{
	struct tree tree = { .rows = *rows, .count = count };

	tree.by_pid = calloc(4 * count + 1, sizeof(*tree.by_pid));
	tree.done = calloc(count + 1, sizeof(*tree.done));
	if (!tree.by_pid || !tree.done) {
		free(tree.by_pid);
		free(tree.done);
		return false;
	}
	tree.parent = tree.by_pid + count;
	tree.child = tree.parent + count;
	tree.next = tree.child + count;
	link_rows(&tree);
	for (size_t i = 0; i < count; i++) {
		if (tree.parent[i] == NONE)
			walk(&tree, i);
	}
	for (size_t i = 0; i < count; i++) {
		if (tree.rows[i].process)
			tree.done[tree.done_count++] = (struct top_row){ tree.rows[i].process, 0 };
	}
	free(tree.by_pid);
	free(*rows);
	*rows = tree.done;
	return true;
}

size_t top_order_rows(const struct top_frame *frame, const struct top_choice *choice,
		      struct top_row **rows)
{
	size_t count = 0;

	*rows = calloc(frame->process_count + 1, sizeof(**rows));
	for (size_t i = 0; *rows && i < frame->process_count; i++) {
		const struct top_process *p = &frame->processes[i];

		if ((!choice->targets_only || p->target) && top_matches(p, choice->filter))
			(*rows)[count++].process = p;
	}
	if (!*rows)
		return 0;
	qsort_r(*rows, count, sizeof(**rows), by_weight, (void *)choice);
	/* Without memory for a tree a list is shown. */
	if (choice->tree)
		make_tree(rows, count);
	return count;
}

static int by_count(const void *a, const void *b)
{
	const struct top_call *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->function, y->function);
}

void top_order_calls(struct top_frame *frame)
{
	qsort(frame->calls, frame->call_count, sizeof(*frame->calls), by_count);
}
