/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/write/report/report_parts.h"

#define NAME_SIZE 1024

static const char *kind_name(uint8_t kind)
{
	switch (kind) {
	case PROFBPF__STACKS__KIND__KERNEL: return "kernel";
	case PROFBPF__STACKS__KIND__GENERATED: return "generated";
	case PROFBPF__STACKS__KIND__PYTHON: return "python";
	default: return "user";
	}
}

static void write_function(struct json *json, const struct model *model,
			   const struct stack_function *function, uint64_t samples)
{
	const char *name = model_text(model, function->name);

	json_map(json, NULL);
	json_text(json, "name", *name ? name : "[unknown]");
	json_text(json, "kind", kind_name(function->kind));
	if (function->file)
		json_text(json, "file", model_text(model, function->file));
	json_u64(json, "self", function->self);
	json_u64(json, "total", function->total);
	json_decimal(json, "self_percent", 100.0 * (double)function->self / (double)samples);
	json_decimal(json, "total_percent", 100.0 * (double)function->total / (double)samples);
	json_map_close(json);
}

static void write_frames(struct json *json, const struct model *model, uint32_t index)
{
	const struct code_stack *stack;
	char name[NAME_SIZE];

	if (index >= model->code_stacks.count)
		return;
	stack = &model->code_stacks.row[index];
	json_array(json, "frames");
	for (uint32_t i = 0; i < stack->depth; i++) {
		uint32_t row = model->stack_frames.row[stack->first + i];
		const struct code_frame *frame = &model->code_frames.row[row];

		json_map(json, NULL);
		json_text(json, "name", frame_text(model, frame, name, sizeof(name)));
		json_text(json, "kind", kind_name(frame->kind));
		if (frame->source)
			json_text(json, "file", model_text(model, frame->source));
		else if (frame->file < model->code_files.count)
			json_text(json, "file",
				  model_text(model, model->code_files.row[frame->file].path));
		if (frame->line)
			json_u64(json, "line", frame->line);
		json_map_close(json);
	}
	json_array_close(json);
}

static void write_block(struct json *json, const struct model *model,
			const struct stack_block *block)
{
	json_map(json, NULL);
	json_u64(json, "pid", model->processes.row[block->process].pid);
	json_u64(json, "count", block->count);
	json_u64(json, "total_ns", block->total_ns);
	json_u64(json, "max_ns", block->max_ns);
	write_frames(json, model, block->stack);
	json_map_close(json);
}

void json_stacks_section(struct json *json, const struct model *model,
			 const struct results *results)
{
	const struct stack_results *stacks = results->stacks;

	if (!stacks->samples && !stacks->blocks && !model->info.stack_rate)
		return;
	json_map(json, "stacks");
	if (model->info.stack_rate)
		json_u64(json, "rate_hz", model->info.stack_rate);
	json_u64(json, "samples", stacks->samples);
	json_u64(json, "samples_unknown", stacks->unknown);
	json_array(json, "functions");
	for (uint32_t i = 0; i < stacks->function_count; i++)
		write_function(json, model, &stacks->functions[i], stacks->samples);
	json_array_close(json);
	json_u64(json, "blocks", stacks->blocks);
	json_u64(json, "blocked_ns", stacks->block_ns);
	json_array(json, "blocking");
	for (uint32_t i = 0; i < stacks->blocked_count; i++)
		write_block(json, model, &stacks->blocked[i]);
	json_array_close(json);
	json_map_close(json);
}
