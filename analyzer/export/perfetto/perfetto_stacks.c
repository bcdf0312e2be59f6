/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples with their stacks, as PerfSample packets on a sequence of their own. Long
 * sleeps are not included, because readers sum the samples.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/export/perfetto/perfetto_fields.h"
#include "analyzer/export/perfetto/perfetto_trace.h"

#define SEQUENCE_OF_SAMPLES 3

/* Interned ids are row numbers + 1. Mappings: first those of files, then those of code without a file. */
struct sent {
	uint8_t *stacks, *frames, *mappings; /* by row: 1 if it has been sent */
	uint32_t first_other; /* mapping of frames without a file, by kind */
};

static size_t begin(struct perfetto_writer *writer)
{
	size_t packet = perfetto_packet(writer);

	perfetto_uint(writer, PACKET_SEQUENCE_ID, SEQUENCE_OF_SAMPLES);
	return packet;
}

/* Writes the sampling frequency. */
static void put_defaults(struct perfetto_trace *trace)
{
	struct perfetto_writer *writer = &trace->writer;
	size_t packet = begin(writer), defaults, sample, base;

	perfetto_uint(writer, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
	defaults = perfetto_open(writer, PACKET_DEFAULTS);
	sample = perfetto_open(writer, DEFAULTS_PERF_SAMPLE);
	base = perfetto_open(writer, PERF_DEFAULTS_TIMEBASE);
	perfetto_uint(writer, TIMEBASE_FREQUENCY, trace->model->info.stack_rate);
	perfetto_uint(writer, TIMEBASE_COUNTER, TIMEBASE_COUNTER_CPU_CLOCK);
	perfetto_close(writer, base);
	perfetto_close(writer, sample);
	perfetto_close(writer, defaults);
	perfetto_packet_end(writer, packet);
}

static void put_text(struct perfetto_writer *writer, uint32_t table, uint64_t id, const char *text)
{
	size_t entry = perfetto_open(writer, table);

	perfetto_uint(writer, INTERNED_IID, id);
	perfetto_text(writer, INTERNED_TEXT, text);
	perfetto_close(writer, entry);
}

static uint32_t mapping_of(const struct perfetto_trace *trace, const struct sent *sent,
			   const struct code_frame *frame)
{
	if (frame->file < trace->model->code_files.count)
		return frame->file;
	return sent->first_other + frame->kind;
}

static const char *mapping_path(const struct perfetto_trace *trace, const struct sent *sent,
				uint32_t mapping)
{
	const struct model *model = trace->model;

	if (mapping < sent->first_other)
		return model_text(model, model->code_files.row[mapping].path);
	switch (mapping - sent->first_other) {
	case PROFBPF__STACKS__KIND__KERNEL: return "[kernel]";
	case PROFBPF__STACKS__KIND__GENERATED: return "[generated]";
	case PROFBPF__STACKS__KIND__PYTHON: return "[python]";
	default: return "[unknown]";
	}
}

static void put_mapping(struct perfetto_trace *trace, struct sent *sent, uint32_t mapping)
{
	struct perfetto_writer *writer = &trace->writer;
	size_t entry;

	if (sent->mappings[mapping])
		return;
	sent->mappings[mapping] = 1;
	put_text(writer, INTERNED_MAPPING_PATHS, mapping + 1, mapping_path(trace, sent, mapping));
	entry = perfetto_open(writer, INTERNED_MAPPINGS);
	perfetto_uint(writer, INTERNED_IID, mapping + 1);
	perfetto_uint(writer, MAPPING_PATH_STRING_IDS, mapping + 1);
	perfetto_close(writer, entry);
}

static void put_frame(struct perfetto_trace *trace, struct sent *sent, uint32_t row)
{
	const struct code_frame *frame = &trace->model->code_frames.row[row];
	const char *name = model_text(trace->model, frame->name);
	struct perfetto_writer *writer = &trace->writer;
	uint32_t mapping = mapping_of(trace, sent, frame);
	size_t entry;

	if (sent->frames[row])
		return;
	sent->frames[row] = 1;
	put_mapping(trace, sent, mapping);
	put_text(writer, INTERNED_FUNCTION_NAMES, row + 1, *name ? name : "[unknown]");
	entry = perfetto_open(writer, INTERNED_FRAMES);
	perfetto_uint(writer, INTERNED_IID, row + 1);
	perfetto_uint(writer, FRAME_FUNCTION_NAME_ID, row + 1);
	perfetto_uint(writer, FRAME_MAPPING_ID, mapping + 1);
	/* Readers identify a frame by mapping and offset: frames without an offset would be merged. */
	perfetto_uint(writer, FRAME_REL_PC, frame->file == INDEX_NONE ? row + 1 : frame->offset);
	perfetto_close(writer, entry);
}

static void put_stack(struct perfetto_trace *trace, struct sent *sent, uint32_t index)
{
	const struct model *model = trace->model;
	const struct code_stack *stack = &model->code_stacks.row[index];
	struct perfetto_writer *writer = &trace->writer;
	size_t packet, data, entry;

	if (sent->stacks[index])
		return;
	sent->stacks[index] = 1;
	packet = begin(writer);
	perfetto_uint(writer, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	data = perfetto_open(writer, PACKET_INTERNED_DATA);
	for (uint32_t i = 0; i < stack->depth; i++)
		put_frame(trace, sent, model->stack_frames.row[stack->first + i]);
	entry = perfetto_open(writer, INTERNED_CALLSTACKS);
	perfetto_uint(writer, INTERNED_IID, index + 1);
	for (uint32_t i = stack->depth; i > 0; i--)
		perfetto_uint(writer, CALLSTACK_FRAME_IDS,
			      model->stack_frames.row[stack->first + i - 1] + 1);
	perfetto_close(writer, entry);
	perfetto_close(writer, data);
	perfetto_packet_end(writer, packet);
}

static void put_sample(struct perfetto_trace *trace, const struct stack_sample *sample)
{
	const struct model *model = trace->model;
	const struct thread *thread = &model->threads.row[sample->thread];
	const struct code_stack *stack = &model->code_stacks.row[sample->stack];
	struct perfetto_writer *writer = &trace->writer;
	size_t packet = begin(writer), entry;
	bool kernel = stack->depth &&
		      model->code_frames.row[model->stack_frames.row[stack->first]].kind ==
			      PROFBPF__STACKS__KIND__KERNEL;

	perfetto_uint(writer, PACKET_TIMESTAMP, boot_clock_at(&trace->clock, sample->ts_ns));
	perfetto_uint(writer, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	entry = perfetto_open(writer, PACKET_PERF_SAMPLE);
	perfetto_uint(writer, SAMPLE_CPU, sample->cpu);
	perfetto_uint(writer, SAMPLE_PID,
		      thread->process < model->processes.count ?
			      model->processes.row[thread->process].pid :
			      thread->tid);
	perfetto_uint(writer, SAMPLE_TID, thread->tid);
	perfetto_uint(writer, SAMPLE_CALLSTACK_IID, sample->stack + 1);
	perfetto_uint(writer, SAMPLE_CPU_MODE, kernel ? CPU_MODE_KERNEL : CPU_MODE_USER);
	perfetto_close(writer, entry);
	perfetto_packet_end(writer, packet);
}

int perfetto_write_stacks(struct perfetto_trace *trace)
{
	const struct model *model = trace->model;
	struct sent sent = { .first_other = model->code_files.count };
	bool any = false, ready;

	sent.stacks = calloc((size_t)model->code_stacks.count + 1, 1);
	sent.frames = calloc((size_t)model->code_frames.count + 1, 1);
	sent.mappings = calloc((size_t)model->code_files.count + 8, 1);
	ready = sent.stacks && sent.frames && sent.mappings;
	for (uint32_t i = 0; ready && i < model->stack_samples.count; i++) {
		const struct stack_sample *sample = &model->stack_samples.row[i];

		if (sample->flags & (MODEL_SAMPLE_BLOCK | MODEL_SAMPLE_PYTHON) ||
		    sample->stack >= model->code_stacks.count ||
		    !trace->chosen[sample->thread] ||
		    !export_instant(&trace->window, sample->ts_ns))
			continue;
		if (!any)
			put_defaults(trace);
		any = true;
		put_stack(trace, &sent, sample->stack);
		put_sample(trace, sample);
	}
	free(sent.mappings);
	free(sent.frames);
	free(sent.stacks);
	return ready ? 0 : -ENOMEM;
}
