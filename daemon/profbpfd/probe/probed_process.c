/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/probed_process.h"

#include <errno.h>
#include <stdlib.h>

#define ROWS_OF_GONE_MAX 1024 /* stale entries, in addition to one per process */

struct probed_process *probed_processes_find(const struct probed_processes *processes, pid_t pid)
{
	uint32_t row = map_get(&processes->rows, (uint64_t)pid);

	return row < processes->count && processes->row[row].pid == pid ? &processes->row[row]
									: NULL;
}

/* Entries cannot be removed from the map: rebuilds it when it has many stale ones. */
static int forget_gone(struct probed_processes *processes)
{
	struct map rows = { 0 };

	if (processes->rows.count < 2 * processes->count + ROWS_OF_GONE_MAX)
		return 0;
	for (size_t i = 0; i < processes->count; i++) {
		if (map_put(&rows, (uint64_t)processes->row[i].pid, (uint32_t)i))
			continue;
		map_free(&rows);
		return -ENOMEM;
	}
	map_free(&processes->rows);
	processes->rows = rows;
	return 0;
}

static int make_room(struct probed_processes *processes)
{
	size_t capacity = processes->capacity ? 2 * processes->capacity : 64;
	struct probed_process *grown;

	if (processes->count < processes->capacity)
		return 0;
	grown = reallocarray(processes->row, capacity, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	processes->row = grown;
	processes->capacity = capacity;
	return 0;
}

int probed_processes_add(struct probed_processes *processes, pid_t pid)
{
	if (probed_processes_find(processes, pid))
		return 0;
	if (forget_gone(processes) || make_room(processes) ||
	    !map_put(&processes->rows, (uint64_t)pid, (uint32_t)processes->count))
		return -ENOMEM;
	processes->row[processes->count++] = (struct probed_process){ .pid = pid };
	return 0;
}

void probed_processes_remove(struct probed_processes *processes, struct probed_process *process)
{
	struct probed_process *last = &processes->row[processes->count - 1];

	free(process->links);
	free(process->tails);
	/* If memory is exhausted, the moved process is not found any more and keeps its probes until the end. */
	if (process != last)
		map_put(&processes->rows, (uint64_t)last->pid,
			(uint32_t)(process - processes->row));
	*process = *last;
	processes->count--;
}

void probed_processes_free(struct probed_processes *processes)
{
	while (processes->count)
		probed_processes_remove(processes, &processes->row[processes->count - 1]);
	free(processes->row);
	map_free(&processes->rows);
	*processes = (struct probed_processes){ 0 };
}

struct process_link *probed_process_link(const struct probed_process *process, size_t file)
{
	for (size_t i = 0; i < process->link_count; i++)
		if (process->links[i].file == file)
			return &process->links[i];
	return NULL;
}

int probed_process_add_link(struct probed_process *process, size_t file, struct probe_link *link)
{
	struct process_link *links =
		reallocarray(process->links, process->link_count + 1, sizeof(*links));

	if (!links)
		return -ENOMEM;
	process->links = links;
	links[process->link_count++] = (struct process_link){ .file = file, .link = link };
	return 0;
}

int probed_process_add_tail(struct probed_process *process, struct probe_link *link)
{
	struct probe_link **tails =
		reallocarray(process->tails, process->tail_count + 1, sizeof(*tails));

	if (!tails)
		return -ENOMEM;
	process->tails = tails;
	tails[process->tail_count++] = link;
	return 0;
}
