/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of topic stack: definitions of frames and stacks, and samples of threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/load/loader_private.h"
#include "lib/trace/column.h"

#define IDS_MAX (1u << 22) /* of files, names, frames or stacks of a session */
#define DEPTH_MAX 1024
#define RATE_MAX 1000000 /* samples a second */

static uint64_t key_of(const struct loader *loader, uint32_t id)
{
	return (uint64_t)loader->session << 32 | id;
}

static uint32_t row_of(const struct loader *loader, const struct map *map, uint32_t id)
{
	return id ? map_get(map, key_of(loader, id)) : MAP_NONE;
}

static uint32_t text(struct loader *loader, const char *bytes)
{
	uint32_t id = model_string(loader->model, bytes);

	if (id != INDEX_NONE)
		return id;
	loader->no_memory = true;
	return 0;
}

static void hexadecimal(const ProtobufCBinaryData *bytes, char *into, size_t size)
{
	size_t used = 0;

	into[0] = '\0';
	for (size_t i = 0; i < bytes->len && used + 2 < size; i++, used += 2)
		snprintf(into + used, size - used, "%02x", bytes->data[i]);
}

static bool take_files(struct loader *loader, const Profbpf__Stacks *m)
{
	for (size_t i = 0; i < m->n_file; i++) {
		const Profbpf__StackFile *from = m->file[i];
		struct code_file row = { .size = from->size, .mtime_ns = from->mtime_ns };
		char build_id[2 * 64 + 1];

		if (!from->id || row_of(loader, &loader->stack_files, from->id) != MAP_NONE)
			continue;
		hexadecimal(&from->build_id, build_id, sizeof(build_id));
		row.path = text(loader, from->path);
		row.build_id = text(loader, build_id);
		if (!map_put(&loader->stack_files, key_of(loader, from->id),
			     loader->model->code_files.count) ||
		    !MODEL_PUSH(&loader->model->code_files, row))
			return loader_out_of_memory(loader);
	}
	return !loader->no_memory;
}

static bool take_names(struct loader *loader, const Profbpf__Stacks *m)
{
	for (size_t i = 0; i < m->n_name; i++) {
		uint32_t id = m->first_name + (uint32_t)i;

		if (row_of(loader, &loader->stack_names, id) == MAP_NONE &&
		    !map_put(&loader->stack_names, key_of(loader, id), text(loader, m->name[i])))
			return loader_out_of_memory(loader);
	}
	return !loader->no_memory;
}

static uint32_t name_at(const struct loader *loader, uint32_t id)
{
	uint32_t name = row_of(loader, &loader->stack_names, id);

	return name == MAP_NONE ? 0 : name;
}

static bool take_frames(struct loader *loader, const Profbpf__Stacks *m, size_t frames)
{
	for (size_t i = 0; i < frames; i++) {
		uint32_t id = m->first_frame + (uint32_t)i;
		uint32_t kind = COLUMN_AT(m, kind, i);
		struct code_frame row = {
			.offset = COLUMN_AT(m, offset, i),
			.file = row_of(loader, &loader->stack_files, COLUMN_AT(m, in_file, i)),
			.name = name_at(loader, COLUMN_AT(m, named, i)),
			.source = name_at(loader, COLUMN_AT(m, source, i)),
			.line = COLUMN_AT(m, line, i),
			.kind = (uint8_t)kind,
		};

		if (!loader_knows(loader, kind, PROFBPF__STACKS__KIND__PYTHON))
			row = (struct code_frame){ .file = MAP_NONE,
						   .name = text(loader, "[unknown]") };
		if (row_of(loader, &loader->stack_frames, id) != MAP_NONE)
			continue;
		if (!map_put(&loader->stack_frames, key_of(loader, id),
			     loader->model->code_frames.count) ||
		    !MODEL_PUSH(&loader->model->code_frames, row))
			return loader_out_of_memory(loader);
	}
	return true;
}

static bool take_stack(struct loader *loader, uint32_t id, const uint32_t *frames, uint32_t depth)
{
	struct model *model = loader->model;
	struct code_stack row = { .first = model->stack_frames.count };

	if (row_of(loader, &loader->stacks, id) != MAP_NONE)
		return true;
	for (uint32_t i = 0; i < depth; i++) {
		uint32_t frame = row_of(loader, &loader->stack_frames, frames[i]);

		if (frame == MAP_NONE)
			continue;
		if (!MODEL_PUSH(&model->stack_frames, frame))
			return loader_out_of_memory(loader);
		row.depth++;
	}
	if (!map_put(&loader->stacks, key_of(loader, id), model->code_stacks.count) ||
	    !MODEL_PUSH(&model->code_stacks, row))
		return loader_out_of_memory(loader);
	return true;
}

static bool take_stacks(struct loader *loader, const Profbpf__Stacks *m)
{
	size_t used = 0;

	for (size_t i = 0; i < m->n_depth; i++) {
		uint32_t depth = m->depth[i];

		if (depth > DEPTH_MAX || depth > m->n_frame - used)
			return false;
		if (!take_stack(loader, m->first_stack + (uint32_t)i, m->frame + used, depth))
			return false;
		used += depth;
	}
	return true;
}

static bool ids_fit(uint32_t first, size_t count)
{
	return count == 0 || (first > 0 && first < IDS_MAX && count < IDS_MAX - first);
}

bool load_stacks(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Stacks *m = LOADER_UNPACK(stacks, packet);
	size_t frames;

	if (!m || COLUMN_ROWS(&frames, m->n_kind, m->n_in_file, m->n_offset, m->n_named,
			      m->n_source, m->n_line))
		return false;
	if (!ids_fit(m->first_name, m->n_name) || !ids_fit(m->first_frame, frames) ||
	    !ids_fit(m->first_stack, m->n_depth))
		return false;
	return take_files(loader, m) && take_names(loader, m) && take_frames(loader, m, frames) &&
	       take_stacks(loader, m);
}

bool load_stack_samples(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__StackSamples *m = LOADER_UNPACK(stack_samples, packet);
	struct stack_sample row = { 0 };
	size_t rows;

	if (!m || COLUMN_ROWS(&rows, m->n_ts_ns, m->n_dur_ns, m->n_tid, m->n_tgid, m->n_stack,
			      m->n_flags, m->n_cpu, m->n_waker))
		return false;
	row.times = m->rate && m->rate <= RATE_MAX ? m->rate : 0; /* load_resolve_samples() replaces the rate */
	for (size_t i = 0; i < rows; i++) {
		uint32_t stack = row_of(loader, &loader->stacks, COLUMN_AT(m, stack, i));

		row.ts_ns += (uint64_t)COLUMN_AT(m, ts_ns, i);
		row.dur_ns = COLUMN_AT(m, dur_ns, i);
		row.thread = COLUMN_AT(m, tid, i);
		row.stack = stack == MAP_NONE ? INDEX_NONE : stack;
		row.flags = (uint8_t)COLUMN_AT(m, flags, i);
		row.cpu = (uint16_t)COLUMN_AT(m, cpu, i);
		row.waker = COLUMN_AT(m, waker, i);
		if (row.thread == 0 || row.dur_ns > UINT64_MAX - row.ts_ns) {
			loader->model->bad_rows++;
			continue;
		}
		if (!MODEL_PUSH(&loader->model->stack_samples, row) ||
		    !loader_saw_thread(loader, row.thread, COLUMN_AT(m, tgid, i), row.ts_ns))
			return loader_out_of_memory(loader);
	}
	if (row.times > loader->model->info.stack_rate)
		loader->model->info.stack_rate = row.times;
	loader->read[READ_STACK] += rows;
	return true;
}

/* Sets each sample's weight: the requested rate, which is the highest recorded one, divided by the sample's rate. */
void load_resolve_samples(struct loader *loader)
{
	uint32_t wanted = loader->model->info.stack_rate;

	for (uint32_t i = 0; i < loader->model->stack_samples.count; i++) {
		struct stack_sample *row = &loader->model->stack_samples.row[i];
		uint32_t rate = row->times;

		row->times = 1;
		if (rate && !(row->flags & (MODEL_SAMPLE_BLOCK | MODEL_SAMPLE_PYTHON)))
			row->times = (wanted + rate / 2) / rate;
	}
}

/* Each segment repeats its processes; a reused id is another process. */
bool load_pythons(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Pythons *m = LOADER_UNPACK(pythons, packet);
	struct python_interpreter row;

	if (!m || !m->tgid)
		return false;
	row = (struct python_interpreter){ .ts_ns = m->ts_ns,
					   .process = m->tgid,
					   .version = m->version,
					   .lock_first = m->lock_first,
					   .lock_last = m->lock_last,
					   .lock_known = m->lock_first != 0 &&
							 model_has_sleeps(loader->model),
					   .build = PROFBPF__PYTHONS__BUILD__UNKNOWN };
	if (loader_knows(loader, m->build, PROFBPF__PYTHONS__BUILD__FREE_THREADED))
		row.build = (uint8_t)m->build;
	for (uint32_t i = 0; i < loader->model->pythons.count; i++) {
		const struct python_interpreter *known = &loader->model->pythons.row[i];

		if (known->process == row.process && known->ts_ns == row.ts_ns)
			return true;
	}
	if (!MODEL_PUSH(&loader->model->pythons, row))
		return loader_out_of_memory(loader);
	return true;
}
