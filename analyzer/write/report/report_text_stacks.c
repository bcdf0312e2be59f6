/* SPDX-License-Identifier: Apache-2.0 */
/* Where threads had a CPU, and where they slept. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/table.h"

#define NAME_SIZE 256
#define FRAMES_SHOWN 6 /* of a sleep, from the innermost named one of the program */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static const char *place(const struct model *model, const struct stack_function *function)
{
	if (function->kind == PROFBPF__STACKS__KIND__KERNEL)
		return "kernel";
	if (function->kind == PROFBPF__STACKS__KIND__GENERATED)
		return "made at run time";
	return function->file ? base_name(model_text(model, function->file)) : "unknown";
}

static int functions(FILE *out, const struct model *model, const struct stack_results *stacks,
		     const struct report_options *options)
{
	uint32_t shown = rows_shown(options, stacks->function_count);
	double all = (double)stacks->samples / 100;
	struct table *table = table_new(options);
	int err;

	if (!table)
		return -ENOMEM;
	table_column(table, "self %", TABLE_RIGHT);
	table_column(table, "self", TABLE_RIGHT);
	table_column(table, "total", TABLE_RIGHT);
	table_column(table, "function", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "in", TABLE_LEFT);
	for (uint32_t i = 0; i < shown; i++) {
		const struct stack_function *f = &stacks->functions[i];
		const char *name = model_text(model, f->name);

		table_row(table);
		table_percent(table, (double)f->self / all);
		table_count(table, f->self);
		table_count(table, f->total);
		table_text(table, *name ? name : "[unknown]");
		table_text(table, place(model, f));
	}
	err = table_print(table, out);
	table_free(table);
	text_more(out, "functions", stacks->function_count, shown);
	return err;
}

/* "take_lock < push < main": the innermost frames of the program itself, or of the kernel. */
static void path_text(const struct model *model, uint32_t index, char *into, size_t size)
{
	const struct code_stack *stack;
	uint32_t first = 0, shown = 0;
	char name[NAME_SIZE];
	size_t used = 0;

	snprintf(into, size, "unknown");
	if (index >= model->code_stacks.count)
		return;
	stack = &model->code_stacks.row[index];
	while (first < stack->depth &&
	       model->code_frames.row[model->stack_frames.row[stack->first + first]].kind ==
		       PROFBPF__STACKS__KIND__KERNEL)
		first++;
	if (first == stack->depth)
		first = 0;
	for (uint32_t i = first; i < stack->depth && used < size; i++) {
		uint32_t frame = model->stack_frames.row[stack->first + i];

		if (shown++ == FRAMES_SHOWN) {
			snprintf(into + used, size - used, " < ...");
			break;
		}
		frame_text(model, &model->code_frames.row[frame], name, sizeof(name));
		used += (size_t)snprintf(into + used, size - used, "%s%s", i > first ? " < " : "",
					 name);
	}
}

static int sleeps(FILE *out, const struct model *model, const struct stack_results *stacks,
		  const struct report_options *options)
{
	uint32_t shown = rows_shown(options, stacks->blocked_count);
	struct table *table = table_new(options);
	char path[1024];
	int err;

	if (!table)
		return -ENOMEM;
	table_column(table, "total ms", TABLE_RIGHT);
	table_column(table, "sleeps", TABLE_RIGHT);
	table_column(table, "max ms", TABLE_RIGHT);
	table_column(table, "pid", TABLE_RIGHT);
	table_column(table, "in, called from", TABLE_LEFT | TABLE_SHRINK);
	for (uint32_t i = 0; i < shown; i++) {
		const struct stack_block *b = &stacks->blocked[i];

		path_text(model, b->stack, path, sizeof(path));
		table_row(table);
		table_ms(table, b->total_ns);
		table_count(table, b->count);
		table_ms(table, b->max_ns);
		table_count(table, model->processes.row[b->process].pid);
		table_text(table, path);
	}
	err = table_print(table, out);
	table_free(table);
	text_more(out, "places", stacks->blocked_count, shown);
	return err;
}

int text_stacks(FILE *out, const struct model *model, const struct results *results,
		const struct report_options *options)
{
	const struct stack_results *stacks = results->stacks;
	int err = 0;

	/* Off unless asked for: a section that is always empty would only be in the way. */
	if (!stacks->samples && !stacks->blocks && !model->info.stack_rate)
		return 0;
	print_heading(out, options, "Stacks");
	fprintf(out, "%" PRIu64 " samples on a CPU", stacks->samples);
	if (model->info.stack_rate)
		fprintf(out, ", %u a second of each CPU", model->info.stack_rate);
	if (stacks->unknown)
		fprintf(out, "; %" PRIu64 " without a stack", stacks->unknown);
	fputc('\n', out);
	if (stacks->samples)
		err = functions(out, model, stacks, options);
	if (err)
		return err;
	fprintf(out, "\n%" PRIu64 " long sleeps, %.3f ms in sum, all threads together\n",
		stacks->blocks, (double)stacks->block_ns / 1e6);
	return stacks->blocks ? sleeps(out, model, stacks, options) : 0;
}
