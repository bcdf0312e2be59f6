/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that list kinds of records that were left out of the recording, and since when. */
#include "analyzer/load/loader_private.h"

#include <stdlib.h>

#include "lib/trace/column.h"

static bool fits(struct loader *loader, uint32_t what, uint32_t reason, uint32_t kept_permille)
{
	if (!loader_knows(loader, what, PROFBPF__SHED__WHAT__SLEEPS) ||
	    !loader_knows(loader, reason, PROFBPF__SHED__REASON__ROOM))
		return false;
	if (what != PROFBPF__SHED__WHAT__NOTHING && kept_permille <= 1000)
		return true;
	loader->model->bad_rows++;
	return false;
}

bool load_shed(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Shed *m = LOADER_UNPACK(shed, packet);
	struct shed_change row = { 0 };
	size_t rows;

	if (!m || COLUMN_ROWS(&rows, m->n_what, m->n_ts_ns, m->n_kept_permille, m->n_reason, m->n_cost_ppm))
		return false;
	row.session_end_ns = loader->session; /* its index; load_resolve_shed() replaces it by its end */
	for (size_t i = 0; i < rows; i++) {
		uint32_t reason = COLUMN_AT(m, reason, i);

		row.what = COLUMN_AT(m, what, i);
		row.ts_ns += (uint64_t)COLUMN_AT(m, ts_ns, i);
		row.kept_permille = COLUMN_AT(m, kept_permille, i);
		row.cost_ppm = COLUMN_AT(m, cost_ppm, i);
		row.for_room = reason == PROFBPF__SHED__REASON__ROOM;
		if (!fits(loader, row.what, reason, row.kept_permille))
			continue;
		if (!MODEL_PUSH(&loader->model->shed_changes, row))
			return loader_out_of_memory(loader);
		loader_reached(loader, row.ts_ns);
	}
	return true;
}

static int by_what(const void *a, const void *b)
{
	const struct shed_change *x = a, *y = b;

	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	if (x->session_start_ns != y->session_start_ns)
		return x->session_start_ns < y->session_start_ns ? -1 : 1;
	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return (int)x->kept_permille - (int)y->kept_permille;
}

void load_resolve_shed(struct loader *loader)
{
	struct model *model = loader->model;
	struct shed_change *changes = model->shed_changes.row;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < model->shed_changes.count; i++) {
		const struct session *session = &loader->sessions.row[changes[i].session_end_ns];

		changes[i].session_start_ns = session->start_ns;
		changes[i].session_end_ns = loader_session_end(session);
	}
	if (model->shed_changes.count)
		qsort(changes, model->shed_changes.count, sizeof(*changes), by_what);
	/* Each segment repeats the state at its start. */
	for (uint32_t i = 0; i < model->shed_changes.count; i++)
		if (!kept || by_what(&changes[kept - 1], &changes[i]))
			changes[kept++] = changes[i];
	model->shed_changes.count = kept;
}
