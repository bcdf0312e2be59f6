/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/pass_arrows.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/base/sort_rows.h"

/* By id; of one id the beginning first, then by time. */
static int by_id(const void *a, const void *b)
{
	const struct pass_arrow_end *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->begins != y->begins)
		return x->begins ? -1 : 1;
	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static int put(struct import_rows *rows, const struct pass_arrow_end *from,
	       const struct pass_arrow_end *to, int64_t move_ns)
{
	struct pass_arrow arrow = { .from_thread = import_known_thread(rows, from->pid, from->tid),
				    .to_thread = import_known_thread(rows, to->pid, to->tid) };
	uint64_t ignored;

	if (arrow.from_thread == INDEX_NONE || arrow.to_thread == INDEX_NONE ||
	    !import_instants_of(from->ns, 0, move_ns, &arrow.from_ns, &ignored) ||
	    !import_instants_of(to->ns, 0, move_ns, &arrow.to_ns, &ignored) ||
	    arrow.to_ns < arrow.from_ns)
		return import_finding(rows->import, "arrows between passes from or to nowhere", NULL);
	return MODEL_PUSH(&rows->import->model->pass_arrows, arrow) ? 0 : -ENOMEM;
}

int pass_arrows_put(struct import_rows *rows, struct pass_arrow_ends *ends, int64_t move_ns)
{
	const struct pass_arrow_end *end;
	uint32_t count = rows->import->alone ? ends->list.count : 0, next;
	int err = 0;

	if (count)
		SORT_ARRAY(&ends->list, by_id);
	end = ends->list.row;
	for (uint32_t i = 0; i < count && !err; i = next) {
		const struct pass_arrow_end *to = NULL;

		for (next = i; next < count && end[next].id == end[i].id; next++) {
			if (!to && !end[next].begins)
				to = &end[next];
		}
		if (end[i].begins && to)
			err = put(rows, &end[i], to, move_ns);
	}
	return err;
}
