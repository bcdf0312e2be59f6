/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that list functions the ends of whose calls are not recorded, and since when. */
#include "analyzer/load/loader_private.h"

#include <stdlib.h>

#include "lib/trace/column.h"

bool load_ends(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Ends *m = LOADER_UNPACK(ends, packet);
	struct ends_change row = { 0 };
	size_t rows;

	if (!m || COLUMN_ROWS(&rows, m->n_function, m->n_ts_ns, m->n_seen, m->n_calls_per_second))
		return false;
	row.session_end_ns = loader->session; /* its index; load_resolve_ends() replaces it by its end */
	for (size_t i = 0; i < rows; i++) {
		uint32_t seen = COLUMN_AT(m, seen, i);

		row.function = loader_function(loader, COLUMN_AT(m, function, i));
		row.ts_ns += (uint64_t)COLUMN_AT(m, ts_ns, i);
		row.seen = seen == 1;
		row.calls_per_second = COLUMN_AT(m, calls_per_second, i);
		if (loader->no_memory)
			return false;
		if (row.function == INDEX_NONE || seen > 1) {
			loader->model->bad_rows++;
			continue;
		}
		if (!MODEL_PUSH(&loader->model->ends_changes, row))
			return loader_out_of_memory(loader);
		loader_reached(loader, row.ts_ns);
	}
	return true;
}

static int by_function(const void *a, const void *b)
{
	const struct ends_change *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return (int)x->seen - (int)y->seen;
}

void load_resolve_ends(struct loader *loader)
{
	struct model *model = loader->model;
	struct ends_change *changes = model->ends_changes.row;
	uint32_t kept = 0;

	if (model->ends_changes.count)
		qsort(changes, model->ends_changes.count, sizeof(*changes), by_function);
	for (uint32_t i = 0; i < model->ends_changes.count; i++) {
		const struct session *session = &loader->sessions.row[changes[i].session_end_ns];

		/* Each segment repeats the state at its start. */
		if (kept && by_function(&changes[kept - 1], &changes[i]) == 0)
			continue;
		changes[kept] = changes[i];
		changes[kept].session_start_ns = session->start_ns;
		changes[kept++].session_end_ns = loader_session_end(session);
	}
	model->ends_changes.count = kept;
}
