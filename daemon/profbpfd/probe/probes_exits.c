/* SPDX-License-Identifier: Apache-2.0 */
/* Adds and removes probes on exits of functions, by the budget (exit_budget.h). */
#include "daemon/profbpfd/probe/probes_private.h"

#include <errno.h>

static int probe_exits(struct probes *p, size_t index)
{
	struct file_entry *e = p->files[index];
	int err = 0;

	if (e->everywhere)
		err = file_entry_set_exits(&p->setting, e, e->everywhere, NULL, false);
	for (size_t i = 0; i < p->processes.count; i++) {
		struct probed_process *process = &p->processes.row[i];
		struct process_link *l = probed_process_link(process, index);
		int failed = 0;

		if (l && l->link)
			failed = file_entry_set_exits(&p->setting, e, l->link, process,
						      process->moves_stacks);
		if (failed == -ESRCH) {
			link_closer_add(p->closer, l->link);
			l->link = NULL;
		} else if (failed) {
			err = failed;
		}
	}
	return err;
}

/* If attaching fails, the next check tries again. */
static void refresh_exits(struct probes *p, size_t index)
{
	struct file_entry *e = p->files[index];

	file_places_drop(&e->places, &e->file, e->hot);
	if (probe_exits(p, index))
		return;
	e->exits_stale = false;
	exit_budget_probed(p->budget, &p->setting, e, probes_now_ns());
}

void probes_look(struct probes *p)
{
	if (!p->budget)
		return;
	for (size_t i = 0; i < p->file_count; i++)
		if (p->files[i]->exits_stale)
			refresh_exits(p, i);
	exit_budget_look(p->budget, &p->setting, p->files, p->file_count, probes_now_ns());
}

void probes_set_budget(struct probes *p, struct ends_budget budget)
{
	if (p->budget)
		exit_budget_set(p->budget, budget);
}

double probes_ends_seen(const struct probes *p)
{
	return p->budget ? exit_budget_seen(p->budget) : 0;
}
