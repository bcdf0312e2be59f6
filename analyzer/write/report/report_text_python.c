/* SPDX-License-Identifier: Apache-2.0 */
/* Python processes: functions seen, and waits for the interpreter's lock. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/table.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void function_cell(struct table *table, const struct model *model,
			  const struct python_function *f)
{
	const char *file = base_name(model_text(model, f->file));

	if (f->line)
		table_format(table, "%s (%s:%u)", model_text(model, f->name), file, f->line);
	else
		table_format(table, "%s (%s)", model_text(model, f->name), file);
}

static void thread_row(struct table *table, const struct model *model,
		       const struct python_results *python, const struct python_thread *row)
{
	const struct thread *thread = &model->threads.row[row->thread];

	table_row(table);
	table_count(table, thread->tid);
	table_text(table, model_text(model, thread->name));
	table_ms(table, row->wait_ns);
	table_count(table, row->waits);
	if (row->holder < model->threads.count)
		table_format(table, "%u %s", model->threads.row[row->holder].tid,
			     model_text(model, model->threads.row[row->holder].name));
	else
		table_empty(table);
	table_count(table, row->samples);
	if (python->states_known)
		table_count(table, row->running);
	else
		table_unknown(table);
	if (row->function < python->function_count)
		function_cell(table, model, &python->functions[row->function]);
	else
		table_empty(table);
}

static int threads(FILE *out, const struct model *model, const struct python_results *python,
		   const struct report_options *options)
{
	uint32_t shown = rows_shown(options, python->thread_count);
	struct table *table = table_new(options);
	int err;

	if (!table)
		return -ENOMEM;
	table_column(table, "tid", TABLE_RIGHT);
	table_column(table, "thread", TABLE_LEFT);
	table_column(table, "GIL wait ms", TABLE_RIGHT);
	table_column(table, "waits", TABLE_RIGHT);
	table_column(table, "longest for", TABLE_LEFT);
	table_column(table, "looks", TABLE_RIGHT);
	table_column(table, "on CPU", TABLE_RIGHT);
	table_column(table, "mostly in", TABLE_LEFT | TABLE_SHRINK);
	for (uint32_t i = 0; i < shown; i++)
		thread_row(table, model, python, &python->threads[i]);
	err = table_print(table, out);
	table_free(table);
	text_more(out, "threads", python->thread_count, shown);
	return err;
}

static int functions(FILE *out, const struct model *model, const struct python_results *python,
		     const struct report_options *options)
{
	uint32_t shown = rows_shown(options, python->function_count);
	struct table *table = table_new(options);
	int err;

	if (!table)
		return -ENOMEM;
	table_column(table, "looks", TABLE_RIGHT);
	table_column(table, "on CPU", TABLE_RIGHT);
	table_column(table, "with GIL", TABLE_RIGHT);
	table_column(table, "pid", TABLE_RIGHT);
	table_column(table, "function", TABLE_LEFT | TABLE_SHRINK);
	for (uint32_t i = 0; i < shown; i++) {
		const struct python_function *f = &python->functions[i];

		table_row(table);
		table_count(table, f->samples);
		if (python->states_known)
			table_count(table, f->running);
		else
			table_unknown(table);
		table_count(table, f->locked);
		table_count(table, model->processes.row[f->process].pid);
		function_cell(table, model, f);
	}
	err = table_print(table, out);
	table_free(table);
	text_more(out, "functions", python->function_count, shown);
	return err;
}

int text_python(FILE *out, const struct model *model, const struct results *results,
		const struct report_options *options)
{
	const struct python_results *python = results->python;
	uint32_t shown = rows_shown(options, python->process_count);
	int err;

	if (!python->process_count)
		return 0;
	print_heading(out, options, "Python");
	for (uint32_t i = 0; i < shown; i++) {
		const struct python_process *p = &python->processes[i];

		fprintf(out, "process %u runs Python %u.%u: seen %" PRIu64 " times",
			model->processes.row[p->process].pid, p->version >> 8, p->version & 255,
			p->samples);
		if (p->lock_known)
			fprintf(out,
				"; its threads waited %.3f ms for the interpreter's lock (GIL), in "
				"%" PRIu64 " sleeps",
				(double)p->wait_ns / 1e6, p->waits);
		fputc('\n', out);
	}
	text_more(out, "processes", python->process_count, shown);
	if (!python->thread_count)
		return 0;
	err = threads(out, model, python, options);
	fputs("\nFunctions that threads were in, asleep or not, at some 20 looks a second\n", out);
	return err ? err : functions(out, model, python, options);
}
