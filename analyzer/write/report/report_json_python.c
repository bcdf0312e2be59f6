/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analyzer/write/report/report_parts.h"

static void write_thread(struct json *json, const struct model *model,
			 const struct python_results *python, const struct python_process *process,
			 const struct python_thread *row)
{
	const struct thread *thread = &model->threads.row[row->thread];

	json_map(json, NULL);
	json_u64(json, "tid", thread->tid);
	json_text(json, "name", model_text(model, thread->name));
	json_u64(json, "samples", row->samples);
	if (python->states_known)
		json_u64(json, "samples_on_cpu", row->running);
	json_u64(json, "samples_with_gil", row->locked);
	if (process->lock_known) {
		json_u64(json, "gil_waits", row->waits);
		json_u64(json, "gil_wait_ns", row->wait_ns);
	}
	if (row->holder < model->threads.count) {
		json_u64(json, "gil_holder_tid", model->threads.row[row->holder].tid);
		json_u64(json, "gil_holder_ns", row->holder_ns);
	}
	if (row->function < python->function_count)
		json_text(json, "function",
			  model_text(model, python->functions[row->function].name));
	json_map_close(json);
}

static void write_function(struct json *json, const struct model *model,
			   const struct python_results *python, const struct python_function *f)
{
	json_map(json, NULL);
	json_text(json, "name", model_text(model, f->name));
	if (f->file)
		json_text(json, "file", model_text(model, f->file));
	if (f->line)
		json_u64(json, "line", f->line);
	json_u64(json, "samples", f->samples);
	if (python->states_known)
		json_u64(json, "samples_on_cpu", f->running);
	json_u64(json, "samples_with_gil", f->locked);
	json_map_close(json);
}

static void write_process(struct json *json, const struct model *model,
			  const struct python_results *python, const struct python_process *p)
{
	char version[32];

	snprintf(version, sizeof(version), "%u.%u", p->version >> 8, p->version & 255);
	json_map(json, NULL);
	json_u64(json, "pid", model->processes.row[p->process].pid);
	json_text(json, "version", version);
	json_u64(json, "samples", p->samples);
	if (p->lock_known) {
		json_u64(json, "gil_waits", p->waits);
		json_u64(json, "gil_wait_ns", p->wait_ns);
	}
	json_array(json, "threads");
	for (uint32_t i = 0; i < python->thread_count; i++)
		if (model->threads.row[python->threads[i].thread].process == p->process)
			write_thread(json, model, python, p, &python->threads[i]);
	json_array_close(json);
	json_array(json, "functions");
	for (uint32_t i = 0; i < python->function_count; i++)
		if (python->functions[i].process == p->process)
			write_function(json, model, python, &python->functions[i]);
	json_array_close(json);
	json_map_close(json);
}

void json_python_section(struct json *json, const struct model *model,
			 const struct results *results)
{
	const struct python_results *python = results->python;

	if (!python->process_count)
		return;
	json_array(json, "python");
	for (uint32_t i = 0; i < python->process_count; i++)
		write_process(json, model, python, &python->processes[i]);
	json_array_close(json);
}
