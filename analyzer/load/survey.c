/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/survey.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/import/readers/proto_fields.h"
#include "analyzer/load/call_columns.h"
#include "analyzer/load/kept_rows.h"
#include "lib/trace/column.h"

#define FIELDS 32 /* the field numbers of batches are below */
#define FIELD(number) (1u << (number))

/* A batch reduced to some of its fields. */
struct part {
	uint8_t *data; /* the kept fields, in their encoded form */
	size_t size;
	size_t entries[FIELDS]; /* of each column, kept or not */
};

/* Keeps the fields of @kept. The result is valid as long as the packet. */
static bool take_part(struct loader *loader, const struct pbt_packet *packet, uint32_t kept,
		      struct part *part)
{
	struct proto_message rest = { packet->body, packet->body + packet->size };
	ProtobufCAllocator *allocator = &loader->arena.allocator;
	struct proto_field field;
	int got;

	*part = (struct part){ .data = allocator->alloc(allocator->allocator_data,
							packet->size + 1) };
	if (!part->data)
		return loader_out_of_memory(loader);
	for (const uint8_t *begin = rest.at; (got = proto_next(&rest, &field)) > 0;
	     begin = rest.at) {
		/* protobuf-c reads a number outside of a packed column as an entry, too. */
		if (field.number < FIELDS)
			part->entries[field.number] +=
				field.bytes.end == rest.at ? packed_count(&field.bytes) : 1;
		if (field.number < FIELDS && kept & FIELD(field.number)) {
			memcpy(part->data + part->size, begin, (size_t)(rest.at - begin));
			part->size += (size_t)(rest.at - begin);
		}
	}
	return got == 0;
}

#define UNPACK_PART(type, part)                                             \
	LOADER_UNPACK_BATCH(type, &((struct pbt_packet){ .size = (part)->size, \
							 .body = (part)->data }))

/* Each column must have one entry per row of the batch, or none. Returns false if the batch is damaged. */
static bool count_rows(const struct part *part, const uint8_t *columns, size_t count, size_t *rows)
{
	size_t counts[FIELDS];

	for (size_t i = 0; i < count; i++)
		counts[i] = part->entries[columns[i]];
	return !column_rows(rows, counts, count);
}

#define COUNT_ROWS(part, rows, ...)                        \
	count_rows(part, (const uint8_t[]){ __VA_ARGS__ }, \
		   sizeof((const uint8_t[]){ __VA_ARGS__ }), rows)

/*
 * Counts the rows of each of the @entries shapes; without shapes each entry is one row. Resolves @shape. Returns NULL
 * if the batch is damaged, or without memory.
 */
static uint32_t *count_shapes(struct loader *loader, uint32_t *shape, size_t rows, size_t entries)
{
	ProtobufCAllocator *allocator = &loader->arena.allocator;
	uint32_t *counts =
		allocator->alloc(allocator->allocator_data, (entries + 1) * sizeof(*counts));

	if (!counts) {
		loader_out_of_memory(loader);
		return NULL;
	}
	for (size_t i = 0; i < entries; i++)
		counts[i] = shape ? 0 : 1;
	if (!shape)
		return counts;
	if (!shapes_resolve(shape, rows, entries))
		return NULL;
	for (size_t i = 0; i < rows; i++)
		counts[shape[i]]++;
	return counts;
}

/* The first and last end of the calls of an entry. */
struct ends {
	uint64_t first_ns;
	uint64_t last_ns;
};

/* Without times, the ends are those of the whole batch. @shape is resolved. Returns NULL without memory. */
static struct ends *find_ends(struct loader *loader, const Profbpf__Calls *calls, size_t rows,
			      size_t entries)
{
	ProtobufCAllocator *allocator = &loader->arena.allocator;
	struct ends *ends = allocator->alloc(allocator->allocator_data, (entries + 1) * sizeof(*ends));
	uint64_t end_ns = 0;

	if (!ends) {
		loader_out_of_memory(loader);
		return NULL;
	}
	for (size_t i = 0; i < entries; i++)
		ends[i] = calls->n_end_ns ? (struct ends){ UINT64_MAX, 0 }
					  : (struct ends){ calls->first_end_ns, calls->last_end_ns };
	for (size_t i = 0; i < rows && calls->n_end_ns; i++) {
		struct ends *of = &ends[calls->n_shape ? calls->shape[i] : i];

		end_ns += (uint64_t)COLUMN_AT(calls, end_ns, i);
		of->first_ns = end_ns < of->first_ns ? end_ns : of->first_ns;
		of->last_ns = end_ns > of->last_ns ? end_ns : of->last_ns;
	}
	return ends;
}

/* @counts: number of rows of each of the columns' @entries. */
static bool add_calls(struct loader *loader, const Profbpf__Calls *calls, const uint32_t *counts,
		      const struct ends *ends, size_t entries)
{
	struct model *model = loader->model;
	uint32_t tid = 0, tgid = 0;

	for (size_t i = 0; i < entries; i++) {
		uint32_t function = loader_function(loader, COLUMN_AT(calls, function, i));

		tid += (uint32_t)COLUMN_AT(calls, tid, i);
		tgid += (uint32_t)COLUMN_AT(calls, tgid, i);
		if (function == INDEX_NONE || tid == 0) {
			model->bad_rows += counts[i];
			continue;
		}
		model->survey.calls += counts[i];
		model->functions.row[function].counted_calls += counts[i];
		if (loader_string(loader, COLUMN_AT(calls, text, i)))
			model->functions.row[function].counted_texts += counts[i];
		if (!counts[i])
			continue;
		if (!loader_saw_launch(loader, function, tgid) ||
		    !loader_saw_thread(loader, tid, tgid, ends[i].first_ns) ||
		    !loader_saw_thread(loader, tid, tgid, ends[i].last_ns))
			return false;
	}
	return !loader->no_memory;
}

/* Is any of the calls to be kept? */
static bool keeps_any(struct loader *loader, const Profbpf__Calls *calls, size_t entries)
{
	for (size_t i = 0; i < entries; i++) {
		uint32_t function = loader_function(loader, COLUMN_AT(calls, function, i));

		if (function != INDEX_NONE && loader_keeps_calls_of(loader, function))
			return true;
	}
	return false;
}

/* Was any of the calls under way in the kept part of the time? */
static bool window_has_call(struct loader *loader, const Profbpf__Calls *calls, size_t rows)
{
	uint64_t end_ns = 0;

	if (!(loader->rows & LOAD_CALLS) ||
	    !window_has(&loader->window, 0, calls->last_end_ns))
		return false;
	for (size_t i = 0; i < rows; i++) {
		uint64_t dur_ns = COLUMN_AT(calls, dur_ns, i);

		end_ns += (uint64_t)COLUMN_AT(calls, end_ns, i);
		if (window_has(&loader->window, end_ns - dur_ns, end_ns))
			return true;
	}
	return false;
}

bool survey_calls(struct loader *loader, const struct pbt_packet *packet)
{
	/* If only facts about the recording are needed, the times at which threads were seen are not. */
	const uint32_t times = (loader->rows ? FIELD(4) : 0) |
			       (loader->window.wanted ? FIELD(4) | FIELD(5) : 0);
	const uint32_t kept = FIELD(2) | FIELD(3) | FIELD(6) | FIELD(7) | FIELD(13) | FIELD(14) |
			      FIELD(15) | times;
	struct part part;
	Profbpf__Calls *calls;
	size_t rows, entries;
	struct ends *ends;
	uint32_t *counts;

	if (!take_part(loader, packet, kept, &part))
		return false;
	calls = UNPACK_PART(calls, &part);
	if (!calls)
		return false;
	if (!calls->n_shape) {
		if (!COUNT_ROWS(&part, &rows, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14))
			return false;
		entries = rows;
	} else if (!COUNT_ROWS(&part, &rows, 4, 5, 15, 16, 17, 18, 19) ||
		   !COUNT_ROWS(&part, &entries, 6, 7, 8, 13, 14)) {
		return false;
	}
	if (keeps_any(loader, calls, entries) || window_has_call(loader, calls, rows))
		return load_calls(loader, packet);
	counts = count_shapes(loader, calls->n_shape ? calls->shape : NULL, rows, entries);
	ends = counts ? find_ends(loader, calls, rows, entries) : NULL;
	if (!ends || !add_calls(loader, calls, counts, ends, entries))
		return false;
	loader_reached(loader, calls->last_end_ns);
	loader->read[READ_API] += rows;
	return true;
}

bool survey_ioctls(struct loader *loader, const struct pbt_packet *packet)
{
	struct part part;
	Profbpf__Ioctls *ioctls;
	uint32_t tid = 0, before = 0;
	size_t rows;

	if (!take_part(loader, packet, FIELD(2) | FIELD(3) | FIELD(6) | FIELD(7), &part))
		return false;
	ioctls = UNPACK_PART(ioctls, &part);
	if (!ioctls || !COUNT_ROWS(&part, &rows, 4, 5, 6, 7, 8, 9, 10, 11))
		return false;
	for (size_t i = 0; i < rows; i++) {
		tid += (uint32_t)COLUMN_AT(ioctls, tid, i);
		if (tid == 0)
			loader->model->bad_rows++;
		else
			loader->model->survey.ioctls++;
		if (tid != before && !loader_saw_thread(loader, tid, COLUMN_AT(ioctls, tgid, i),
							ioctls->last_end_ns))
			return false;
		before = tid;
	}
	loader_reached(loader, ioctls->last_end_ns);
	loader->read[READ_IOCTL] += rows;
	return true;
}

/* The last switch before the CPU's next batch. */
struct survey_switch *survey_last_switch(struct loader *loader, uint32_t cpu)
{
	while (loader->survey.last_switches.count <= cpu) {
		if (!MODEL_PUSH(&loader->survey.last_switches, (struct survey_switch){ 0 })) {
			loader_out_of_memory(loader);
			return NULL;
		}
	}
	return &loader->survey.last_switches.row[cpu];
}

/* Counts missing switches by the same rule as capture_analyse(), which needs all rows. */
static bool add_switch(struct loader *loader, struct survey_switch *last, uint32_t prev_tid,
		       uint32_t next_tid, uint32_t flags, uint64_t ts_ns)
{
	bool of_target = flags & PROFBPF__SWITCHES__FLAG__PREV_TARGET || last->next_target;

	if (last->any && of_target && prev_tid != last->next_tid)
		loader->model->survey.switches_missing++;
	if (prev_tid != last->next_tid && !loader_saw_thread(loader, prev_tid, 0, ts_ns))
		return false;
	*last = (struct survey_switch){ .any = true,
					.next_tid = next_tid,
					.next_target = flags &
						       PROFBPF__SWITCHES__FLAG__NEXT_TARGET };
	loader->model->survey.switches++;
	return true;
}

static bool add_switches(struct loader *loader, const Profbpf__Switches *s, size_t rows)
{
	struct survey_switch *last = survey_last_switch(loader, s->cpu);
	uint32_t before = 0;

	for (size_t i = 0; last && i < rows; i++) {
		size_t k = s->n_shape ? s->shape[i] : i;
		uint32_t next_tid = COLUMN_AT(s, next_tid, k);
		uint32_t prev_tid = s->n_shape ? before ^ COLUMN_AT(s, prev_change, i)
					       : COLUMN_AT(s, prev_tid, i);

		before = next_tid;
		if (loader_knows(loader, COLUMN_AT(s, state, k), PROFBPF__SWITCHES__STATE__DEAD) &&
		    !add_switch(loader, last, prev_tid, next_tid, COLUMN_AT(s, flags, k),
				s->last_ns))
			return false;
	}
	return last != NULL;
}

bool survey_switch(struct loader *loader, const struct cpu_switch *row)
{
	struct survey_switch *last = survey_last_switch(loader, row->cpu);

	return last && add_switch(loader, last, row->prev_tid, row->next_tid, row->flags, row->ts_ns);
}

bool survey_switches(struct loader *loader, const struct pbt_packet *packet)
{
	struct part part;
	Profbpf__Switches *s;
	size_t rows, entries;

	if (!take_part(loader, packet,
		       FIELD(1) | FIELD(2) | FIELD(3) | FIELD(5) | FIELD(6) | FIELD(7) | FIELD(9) |
			       FIELD(10) | FIELD(11),
		       &part))
		return false;
	s = UNPACK_PART(switches, &part);
	if (!s || s->cpu > UINT16_MAX)
		return false;
	if (!s->n_shape) {
		if (!COUNT_ROWS(&part, &rows, 4, 5, 6, 7, 8, 9, 12))
			return false;
		entries = rows;
	} else if (!COUNT_ROWS(&part, &rows, 4, 10, 11) ||
		   !COUNT_ROWS(&part, &entries, 6, 7, 8, 9, 12) ||
		   !shapes_resolve(s->shape, rows, entries)) {
		return false;
	}
	for (size_t i = 0; i < entries; i++) {
		if (!loader_saw_thread(loader, COLUMN_AT(s, next_tid, i), 0, s->first_ns))
			return false;
	}
	if (!add_switches(loader, s, rows))
		return false;
	loader_reached(loader, s->last_ns);
	loader->read[READ_SCHED] += rows;
	return true;
}

static bool add_wakes(struct loader *loader, const Profbpf__Wakes *w, const uint32_t *counts,
		      size_t entries)
{
	for (size_t i = 0; i < entries; i++) {
		uint32_t tid = COLUMN_AT(w, tid, i);

		if (tid == 0) {
			loader->model->bad_rows += counts[i];
			continue;
		}
		loader->model->survey.wakes += counts[i];
		if (!loader_saw_thread(loader, tid, 0, w->first_ns) ||
		    !loader_saw_thread(loader, COLUMN_AT(w, waker_tid, i), 0, w->first_ns))
			return false;
	}
	return true;
}

bool survey_wakes(struct loader *loader, const struct pbt_packet *packet)
{
	const uint32_t kept = FIELD(1) | FIELD(2) | FIELD(3) | FIELD(5) | FIELD(6) | FIELD(9);
	struct part part;
	Profbpf__Wakes *w;
	size_t rows, entries;
	uint32_t *counts;

	if (!take_part(loader, packet, kept, &part))
		return false;
	w = UNPACK_PART(wakes, &part);
	if (!w || w->cpu > UINT16_MAX)
		return false;
	if (!w->n_shape) {
		if (!COUNT_ROWS(&part, &rows, 4, 5, 6, 7, 8, 10))
			return false;
		entries = rows;
	} else if (!COUNT_ROWS(&part, &rows, 4, 9) ||
		   !COUNT_ROWS(&part, &entries, 5, 6, 7, 8, 10)) {
		return false;
	}
	counts = count_shapes(loader, w->n_shape ? w->shape : NULL, rows, entries);
	if (!counts || !add_wakes(loader, w, counts, entries))
		return false;
	loader_reached(loader, w->last_ns);
	loader->read[READ_SCHED] += rows;
	return true;
}

bool survey_device_tasks(struct loader *loader, const struct pbt_packet *packet)
{
	struct part part;
	Profbpf__DeviceTasks *tasks;
	uint64_t enqueue_ns = 0;
	uint32_t before = 0;
	size_t rows;

	if (!take_part(loader, packet, FIELD(1) | FIELD(9) | FIELD(10), &part))
		return false;
	tasks = UNPACK_PART(device_tasks, &part);
	if (!tasks || !COUNT_ROWS(&part, &rows, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14) ||
	    map_get(&loader->device_map, (uint64_t)loader->session << 32 | tasks->device) ==
		    MAP_NONE)
		return false;
	for (size_t i = 0; i < rows; i++) {
		uint32_t tid = COLUMN_AT(tasks, tid, i);

		enqueue_ns += (uint64_t)COLUMN_AT(tasks, enqueue_ns, i);
		if (tid != before && !loader_saw_thread(loader, tid, 0, enqueue_ns))
			return false;
		before = tid;
		loader_reached(loader, enqueue_ns);
	}
	loader->model->survey.tasks += rows;
	loader->read[READ_DEVICE] += rows;
	return true;
}

void survey_free(struct survey_state *state)
{
	free(state->last_switches.row);
}
