/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/encode/known_tasks.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static int compare_tid(const void *a, const void *b)
{
	const struct task_row *x = a, *y = b;

	return x->record.tid < y->record.tid ? -1 : x->record.tid > y->record.tid;
}

static void free_task(void *row)
{
	struct task_row *task = row;

	free(task->cmdline);
	free(task->exe);
	free(task);
}

static void forget_task(struct known_tasks *known, const struct task_row *row)
{
	struct task_row **found = tfind(row, &known->tree, compare_tid);
	struct task_row *task = found ? *found : NULL;

	if (!task)
		return;
	tdelete(row, &known->tree, compare_tid);
	free_task(task);
}

static void remember_task(struct known_tasks *known, const struct task_row *row)
{
	struct task_row **found = tfind(row, &known->tree, compare_tid);
	struct task_row *task = found ? *found : calloc(1, sizeof(*task));

	if (!task)
		return;
	task->record = row->record;
	task->turn = known->turn;
	task->record.event = TASK_SEEN;
	if (row->cmdline) {
		free(task->cmdline);
		task->cmdline = strdup(row->cmdline);
	}
	if (row->exe) {
		free(task->exe);
		task->exe = strdup(row->exe);
	}
	if (!found && !tsearch(task, &known->tree, compare_tid))
		free_task(task);
}

void known_tasks_note(struct known_tasks *known, const struct item *item)
{
	const struct task_row *row = item->data;

	for (uint32_t i = 0; i < item->count; i++) {
		if (row[i].record.event == TASK_EXIT)
			forget_task(known, &row[i]);
		else
			remember_task(known, &row[i]);
	}
}

static void add_row(const void *node, VISIT visit, void *closure)
{
	const struct task_row *const *task = node;

	if (visit == postorder || visit == leaf)
		item_append(closure, *task, sizeof(**task));
}

struct item *known_tasks_rows(const struct known_tasks *known)
{
	struct item *item = item_new(ITEM_TASKS, 4096);

	if (item)
		twalk_r(known->tree, add_row, item);
	return item;
}

void known_tasks_alive(struct known_tasks *known, const struct item *item)
{
	const struct rec_account *rows = item->data;

	for (uint32_t i = 0; i < item->count; i++) {
		struct task_row key = { .record.tid = rows[i].tid };
		struct task_row **found = tfind(&key, &known->tree, compare_tid);

		if (found)
			(*found)->turn = known->turn;
	}
	known->figures += item->count;
}

struct gone {
	struct item *rows; /* pointers */
	uint32_t turn; /* the current turn */
};

static void add_gone(const void *node, VISIT visit, void *closure)
{
	struct task_row *const *task = node;
	const struct gone *gone = closure;

	if ((visit == postorder || visit == leaf) && gone->turn - (*task)->turn > 1)
		item_append(gone->rows, task, sizeof(*task));
}

void known_tasks_turn(struct known_tasks *known)
{
	struct gone gone = { item_new(ITEM_RECORDS, 4096), known->turn };
	struct task_row **rows;

	if (gone.rows && known->figures) {
		twalk_r(known->tree, add_gone, &gone);
		rows = gone.rows->data;
		for (uint32_t i = 0; i < gone.rows->count; i++) {
			tdelete(rows[i], &known->tree, compare_tid);
			free_task(rows[i]);
		}
		known->turn++;
		known->figures = 0;
	}
	item_free(gone.rows);
}

void known_tasks_free(struct known_tasks *known)
{
	tdestroy(known->tree, free_task);
	known->tree = NULL;
}
