/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on the host's CPUs: a track "Host CPU Op" for each process with such operators, with a track for each thread. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/export/perfetto/perfetto_trace.h"
#include "analyzer/export/timeline/host_operators.h"

static void write_operator(struct perfetto_trace *trace, uint32_t row, uint64_t track)
{
	const struct call *call = &trace->model->calls.row[row];
	uint64_t start_ns = call->start_ns, end_ns = call->end_ns;
	struct perfetto_marks marks;
	uint32_t name, category;
	bool cut;

	if (!export_clip(&trace->window, &start_ns, &end_ns, &cut))
		return;
	name = perfetto_model_name(trace, PERFETTO_EVENTS, call->text);
	category = perfetto_name(trace, PERFETTO_CATEGORIES, perfetto_own(trace, "host cpu op"));
	perfetto_begin(trace, track, start_ns, name, category, &marks);
	if (cut)
		perfetto_arg_true(trace, ARG_CUT);
	perfetto_event_end(trace, &marks);
	perfetto_end(trace, track, end_ns);
}

/* Returns the track of a process, and that of the first of its threads. */
static uint64_t add_track(struct perfetto_trace *trace, const char *name, uint64_t parent)
{
	const struct perfetto_track track = { .name = name, .parent = parent };

	return perfetto_add_track(trace, &track);
}

int perfetto_write_host_operators(struct perfetto_trace *trace)
{
	const struct model *model = trace->model;
	uint32_t count, *rows = host_operators(model, trace->chosen, &count);
	uint32_t process = INDEX_NONE, thread = INDEX_NONE;
	uint64_t root = 0, track = 0;
	char name[EXPORT_NAME_SIZE];

	for (uint32_t i = 0; rows && i < count; i++) {
		uint32_t of = model->calls.row[rows[i]].thread;

		if (!i || host_operator_process(model, rows[i]) != process) {
			process = host_operator_process(model, rows[i]);
			root = add_track(trace, HOST_OPERATORS_NAME, 0);
		}
		if (of != thread) {
			snprintf(name, sizeof(name), "%s %u",
				 model_text(model, model->threads.row[of].name),
				 model->threads.row[of].tid);
			track = add_track(trace, name, root);
			thread = of;
		}
		write_operator(trace, rows[i], track);
	}
	free(rows);
	return rows ? 0 : -ENOMEM;
}
