/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on the host's CPUs: a process "Host CPU Op" for each process with such operators, a row for each thread. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/export/chrome/chrome_trace.h"
#include "analyzer/export/timeline/host_operators.h"

static void write_operator(struct chrome_trace *trace, uint32_t row, uint32_t pid, uint32_t tid)
{
	const struct call *call = &trace->model->calls.row[row];
	uint64_t start_ns = call->start_ns, end_ns = call->end_ns;
	bool cut;

	if (!export_clip(&trace->window, &start_ns, &end_ns, &cut))
		return;
	chrome_event(&trace->writer, 'X', model_text(trace->model, call->text), "host cpu op", pid,
		     tid);
	chrome_time(&trace->writer, start_ns);
	chrome_duration(&trace->writer, end_ns - start_ns);
	if (cut)
		chrome_arg_true(&trace->writer, export_arg_name(ARG_CUT));
	chrome_event_end(&trace->writer);
}

int chrome_write_host_operators(struct chrome_trace *trace)
{
	const struct model *model = trace->model;
	uint32_t count, *rows = host_operators(model, trace->chosen, &count);
	uint32_t process = INDEX_NONE, thread = INDEX_NONE, pid = CHROME_OPERATORS_PID - 1, tid = 0;
	char name[EXPORT_NAME_SIZE];

	for (uint32_t i = 0; rows && i < count; i++) {
		uint32_t of = model->calls.row[rows[i]].thread;

		if (!i || host_operator_process(model, rows[i]) != process) {
			process = host_operator_process(model, rows[i]);
			chrome_name_process(trace, pid + 1, HOST_OPERATORS_NAME, pid + 1);
			pid++;
		}
		if (of != thread) {
			snprintf(name, sizeof(name), "%s %u",
				 model_text(model, model->threads.row[of].name),
				 model->threads.row[of].tid);
			tid = chrome_add_row(trace, pid, name);
			thread = of;
		}
		write_operator(trace, rows[i], pid, tid);
	}
	free(rows);
	return rows ? 0 : -ENOMEM;
}
