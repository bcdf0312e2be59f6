/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/thread/sleep_causes.h"

#include <errno.h>

#include "proto/trace.pb-c.h"
#include "lib/base/bisect.h"

static bool is_asleep(const struct span *span)
{
	return span->state == STATE_SLEEP || span->state == STATE_DISK;
}

/* Returns the object for a file, the same one for each file; faults have the file as name. */
static uint32_t file_object(struct model *model, uint32_t file, uint32_t *last)
{
	struct sleep_object object = { .name = file, .kind = PROFBPF__SLEEP_OBJECTS__KIND__FILE };

	if (!file)
		return INDEX_NONE;
	if (*last != INDEX_NONE && model->sleep_objects.row[*last].name == file)
		return *last;
	for (uint32_t i = 0; i < model->sleep_objects.count; i++) {
		const struct sleep_object *row = &model->sleep_objects.row[i];

		if (row->name == file && row->kind == PROFBPF__SLEEP_OBJECTS__KIND__FILE)
			return *last = i;
	}
	if (!MODEL_PUSH(&model->sleep_objects, object))
		return INDEX_NONE;
	return *last = model->sleep_objects.count - 1;
}

/*
 * Marks the sleeps of one thread that were major faults; both are sorted by time. @fault is the first fault that may
 * matter.
 */
static void mark_faults(struct model *model, uint32_t thread, uint32_t *fault, uint32_t *object)
{
	const struct timeline *timeline = &model->timelines.row[thread];

	while (*fault < model->faults.count && model->faults.row[*fault].thread < thread)
		++*fault;
	for (uint32_t i = 0; i < timeline->count; i++) {
		struct span *span = &model->spans.row[timeline->first + i];
		const struct major_fault *row;

		if (!is_asleep(span) || !(span->flags & SPAN_FAULT))
			continue;
		while (*fault < model->faults.count &&
		       model->faults.row[*fault].thread == thread &&
		       model->faults.row[*fault].end_ns < span->end_ns)
			++*fault;
		if (*fault == model->faults.count || model->faults.row[*fault].thread != thread)
			break;
		row = &model->faults.row[*fault];
		/* The clock is read for the fault shortly before it is read for the switch. */
		if (!row->dur_ns || row->end_ns - row->dur_ns > span->start_ns)
			continue;
		span->flags |= SPAN_MAJOR_FAULT;
		if (span->object == INDEX_NONE)
			span->object = file_object(model, row->file, object);
	}
}

static bool may_wait(const struct span *span)
{
	return is_asleep(span) && (span->state == STATE_DISK || span->flags & SPAN_IOWAIT ||
				   span->flags & SPAN_MAJOR_FAULT);
}

/* The same for block requests. */
static bool find_requests(struct model *model, uint32_t thread, uint32_t *request)
{
	const struct timeline *timeline = &model->timelines.row[thread];
	const struct block_request *rows = model->block_requests.row;
	uint32_t count = model->block_requests.count;

	while (*request < count && rows[*request].thread < thread)
		++*request;
	for (uint32_t i = 0; i < timeline->count; i++) {
		const struct span *span = &model->spans.row[timeline->first + i];
		struct io_wait wait = { .span = timeline->first + i };

		if (!may_wait(span))
			continue;
		while (*request < count && rows[*request].thread == thread &&
		       rows[*request].end_ns < span->start_ns)
			++*request;
		wait.request = INDEX_NONE;
		for (; *request < count && rows[*request].thread == thread &&
		       rows[*request].end_ns <= span->end_ns;
		     ++*request)
			wait.request = *request;
		if (wait.request != INDEX_NONE &&
		    span->end_ns - rows[wait.request].end_ns <= WAKE_LATE_NS &&
		    !MODEL_PUSH(&model->io_waits, wait))
			return false;
	}
	return true;
}

int sleep_causes_find(struct model *model)
{
	uint32_t fault = 0, request = 0, object = INDEX_NONE;

	model->io_waits.count = 0;
	for (uint32_t thread = 0; thread < model->timelines.count; thread++) {
		mark_faults(model, thread, &fault, &object);
		if (!find_requests(model, thread, &request))
			return -ENOMEM;
	}
	return 0;
}

const struct block_request *sleep_request(const struct model *model, const struct span *span)
{
	const struct io_wait *waits = model->io_waits.row;
	uint64_t index = (uint64_t)(span - model->spans.row); /* a span of no thread waits for no request */
	uint32_t at = BISECT(i, 0, model->io_waits.count, waits[i].span < index);

	if (at == model->io_waits.count || waits[at].span != index)
		return NULL;
	return &model->block_requests.row[waits[at].request];
}
