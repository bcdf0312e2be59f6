/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/device_bounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "analyzer/analyse/calls/copy_way.h"
#include "analyzer/analyse/device/device_workers.h"
#include "analyzer/analyse/intervals.h"
#include "analyzer/join/launch/call_kind.h"
#include "analyzer/analyse/idle/idle_sleep.h"
#include "analyzer/analyse/idle/launch_turns.h"
#include "lib/base/bisect.h"

#define LIKELY_PERCENT 1 /* a likely bound that is nearer to the proven one tells nothing */
#define STREAMS_MAX 64 /* with more streams the bounds stay unknown */

/* A stream, and the time of the last submission to it. */
struct stream {
	uint64_t id;
	uint64_t submitted_ns;
	bool done;
};

struct bounds {
	const struct model *model;
	const struct walker *walker;
	const struct analysis_options *options; /* NULL: all traced processes count */
	uint64_t from_ns;
	uint64_t to_ns;
	uint64_t *shortest_ns; /* by function */
	struct work_names names;
	MODEL_ARRAY(struct host_moment) moments;
	uint32_t first; /* the first moment that is not before the part whose rows were loaded */
	struct stream streams[STREAMS_MAX];
	uint32_t stream_count;
	bool too_many;
	struct intervals busy;
	struct intervals idle;
	uint64_t copied_ns;
};

static bool is_target(const struct model *model, const struct call *call)
{
	return call->thread < model->threads.count && model->threads.row[call->thread].target;
}

/* Is it a call of a selected process? */
static bool is_wanted(const struct bounds *b, const struct call *call)
{
	return is_target(b->model, call) &&
	       (!b->options || analysis_wants_process(b->model, b->options,
						      b->model->threads.row[call->thread].process));
}

static bool is_whole(const struct call *call)
{
	return !(call->flags & (MODEL_CALL_NOT_RETURNED | MODEL_CALL_INNER | MODEL_CALL_PART));
}

/* Does the thread wait for the device in this step of a waiting call? */
static bool is_busy(const struct bounds *b, const struct walk_step *step, bool copy)
{
	const struct span *span;

	if (step->span == INDEX_NONE)
		return false;
	span = &b->model->spans.row[step->span];
	if (span->state == STATE_RUNNING)
		return !copy;
	return (span->state == STATE_SLEEP || span->state == STATE_DISK) &&
	       span_ends_device_wait(b->model, b->walker, span, step->thread, step->call);
}

/* The thread of the same process that delivered the notice of completion; INDEX_NONE: no thread of this process did. */
static uint32_t messenger(const struct bounds *b, const struct walk_step *step)
{
	const struct model *model = b->model;
	const struct span *span = &model->spans.row[step->span];

	if (!span_woken_by_thread(span) ||
	    model->threads.row[span->other].process != model->threads.row[step->thread].process)
		return INDEX_NONE;
	return span->other;
}

/* The time at which the messenger got the notice of a wait that ended at @end_ns: the end of its last sleep. */
static uint64_t news_ns(const struct bounds *b, uint32_t thread, uint64_t end_ns)
{
	const struct timeline *line;
	uint32_t next;

	if (thread == INDEX_NONE)
		return end_ns;
	line = &b->model->timelines.row[thread];
	next = BISECT(i, 0, line->count, b->model->spans.row[line->first + i].start_ns < end_ns);
	while (next-- > 0) {
		const struct span *span = &b->model->spans.row[line->first + next];

		if (span->state == STATE_SLEEP || span->state == STATE_DISK)
			return MIN(span->end_ns, end_ns);
	}
	return end_ns;
}

/* The end of the device's work in a step of a waiting call. */
static uint64_t work_end_ns(const struct bounds *b, const struct walk_step *step)
{
	uint64_t end_ns = step->end_ns;

	if (b->model->spans.row[step->span].state != STATE_RUNNING) {
		end_ns = news_ns(b, messenger(b, step), end_ns);
		end_ns -= MIN(end_ns, BOUNDS_NOTICE_NS);
	}
	return MIN(end_ns, b->to_ns);
}

/* Is a copy complete when its call returns? A copy to the device may only have left the host's memory. */
static bool copy_is_made(struct bounds *b, const struct call *call)
{
	uint32_t name = call_function(b->model, call)->name;

	return !(work_names_of(&b->names, name) & WORK_NAME_ASYNC) &&
	       call_copy_way(&b->names, call) != LOOP_FEED;
}

/* Adds the time in which a call waits for the device. *@had_to_ns: that time, 0 if the call and the notice take as long. */
static int add_busy(struct bounds *b, const struct call *call, uint64_t *had_to_ns)
{
	const struct analysis_window window = { b->from_ns, b->to_ns };
	bool copy = call_function(b->model, call)->kind == PROFBPF__FUNCTION__KIND__COPY;
	bool made = copy && copy_is_made(b, call), waited = false;
	uint64_t own_ns = MIN(b->shortest_ns[call->function], BOUNDS_OVERHEAD_NS), waited_ns = 0;
	struct walk walk;
	struct walk_step step;
	int err = 0;

	walk_start(&walk, b->walker, call->thread, call->start_ns + own_ns, call->end_ns);
	while (!err && walk_next(&walk, &step)) {
		if (is_busy(b, &step, copy)) {
			err = intervals_add(&b->busy, MAX(step.start_ns, b->from_ns),
					    work_end_ns(b, &step));
			waited = true;
			waited_ns += step.end_ns - step.start_ns;
		} else if (made && waited && step.span != INDEX_NONE &&
			   b->model->spans.row[step.span].state == STATE_RUNNING) {
			b->copied_ns += analysis_clipped(step.start_ns, step.end_ns, &window);
		}
	}
	*had_to_ns = waited_ns > BOUNDS_NOTICE_NS ? waited_ns : 0;
	return err;
}

static uint64_t stream_of(const struct model *model, const struct call *call)
{
	uint64_t stream = 0;

	call_stream(model, call, &stream);
	return stream;
}

static struct stream *find_stream(struct bounds *b, uint64_t id)
{
	for (uint32_t i = 0; i < b->stream_count; i++)
		if (b->streams[i].id == id)
			return &b->streams[i];
	if (b->stream_count == STREAMS_MAX) {
		b->too_many = true;
		return NULL;
	}
	b->streams[b->stream_count] = (struct stream){ .id = id };
	return &b->streams[b->stream_count++];
}

/* The streams for which a call waits: all, one, or none that is known. */
enum waits_for { FOR_NONE, FOR_STREAM, FOR_ALL };

static enum waits_for waits_for(struct bounds *b, const struct call *call)
{
	const struct model *model = b->model;
	const struct function *function = call_function(model, call);
	uint64_t stream;

	if (!call_waits(model, call) || !is_whole(call))
		return FOR_NONE;
	if (function->kind == PROFBPF__FUNCTION__KIND__COPY)
		return copy_is_made(b, call) ? FOR_STREAM : FOR_NONE;
	if (call_stream(model, call, &stream))
		return FOR_STREAM;
	return work_names_of(&b->names, function->name) & WORK_NAME_SYNC_ALL ? FOR_ALL : FOR_NONE;
}

static bool is_submission(const struct model *model, const struct counted_call *row)
{
	return is_target(model, &row->call) && call_is_launch(model, &row->call);
}

static int collect(struct bounds *b)
{
	const struct model *model = b->model;

	for (uint32_t i = 0; i < model->counted_calls.count; i++) {
		const struct counted_call *row = &model->counted_calls.row[i];

		if (!row->unsure && is_submission(model, row) && is_wanted(b, &row->call))
			find_stream(b, stream_of(model, &row->call));
	}
	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];
		bool submits = call_is_launch(model, call);
		uint64_t waited_ns = 0;

		if (!is_wanted(b, call))
			continue;
		if (submits && find_stream(b, stream_of(model, call)) &&
		    !MODEL_PUSH(&b->moments, ((struct host_moment){ .ts_ns = call->start_ns, .call = i })))
			return -ENOMEM;
		if (!call_waits(model, call) || !is_whole(call))
			continue;
		if (add_busy(b, call, &waited_ns) ||
		    !MODEL_PUSH(&b->moments,
				((struct host_moment){ .ts_ns = call->end_ns,
						       .call = i,
						       .waits = true,
						       .proves = waits_for(b, call) != FOR_NONE,
						       .waited_ns = waited_ns })))
			return -ENOMEM;
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct host_moment *x = a, *y = b;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	if (x->waits != y->waits)
		return x->waits ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

static bool all_done(const struct bounds *b)
{
	for (uint32_t i = 0; i < b->stream_count; i++)
		if (!b->streams[i].done)
			return false;
	return true;
}

static void has_waited(struct bounds *b, const struct call *call)
{
	enum waits_for all = waits_for(b, call);
	uint64_t id = stream_of(b->model, call);

	for (uint32_t i = 0; i < b->stream_count; i++) {
		struct stream *stream = &b->streams[i];

		if ((all == FOR_ALL || stream->id == id) && stream->submitted_ns <= call->start_ns)
			stream->done = true;
	}
}

/* Does this row of counted calls count? @unsure: include rows with uncertain facts. */
static bool counts(const struct counted_call *row, bool unsure)
{
	return row->call.start_ns && (unsure || !row->unsure);
}

/* Finds the last submission to each stream before the part whose rows were loaded. */
static void begin_submitted(struct bounds *b, bool unsure)
{
	const struct model *model = b->model;

	for (uint32_t i = 0; i < model->counted_calls.count; i++) {
		const struct counted_call *row = &model->counted_calls.row[i];
		struct stream *stream = counts(row, unsure) && is_submission(model, row) &&
						      is_wanted(b, &row->call)
						? find_stream(b, stream_of(model, &row->call))
						: NULL;

		if (stream)
			stream->submitted_ns = MAX(stream->submitted_ns, row->call.start_ns);
	}
	for (uint32_t i = 0; i < b->first; i++) {
		const struct host_moment *moment = &b->moments.row[i];
		struct stream *stream;

		if (moment->waits)
			continue;
		stream = find_stream(b, stream_of(model, &model->calls.row[moment->call]));
		stream->submitted_ns = MAX(stream->submitted_ns, moment->ts_ns);
	}
}

/* Finds the streams that had completed all work by then. */
static void begin_done(struct bounds *b, bool unsure)
{
	const struct model *model = b->model;

	for (uint32_t i = 0; i < model->counted_calls.count; i++) {
		const struct counted_call *row = &model->counted_calls.row[i];

		if (counts(row, unsure) && is_wanted(b, &row->call) &&
		    waits_for(b, &row->call) != FOR_NONE)
			has_waited(b, &row->call);
	}
}

/* @b may be NULL. */
static bool same_stream(const struct stream *a, const struct stream *b)
{
	return b && a->done == b->done && (a->done || a->submitted_ns == b->submitted_ns);
}

/* Is the state of the streams the same, with and without the uncertain calls? */
static bool streams_settled(const struct model *model)
{
	/* There are few rows of counted calls: caching their names is not worthwhile. */
	struct bounds late = { .model = model, .names = { .model = model } };
	struct bounds soon = { .model = model, .names = { .model = model } };

	begin_submitted(&late, true);
	begin_done(&late, false);
	begin_submitted(&soon, false);
	begin_done(&soon, true);
	for (uint32_t i = 0; i < late.stream_count; i++) {
		struct stream *other = find_stream(&soon, late.streams[i].id);

		if (!same_stream(&late.streams[i], other))
			return false;
	}
	return !late.too_many;
}

static bool has_sure_stream(const struct model *model, const struct counted_call *of)
{
	for (uint32_t i = 0; i < model->counted_calls.count; i++) {
		const struct counted_call *row = &model->counted_calls.row[i];

		if (!row->unsure && is_submission(model, row) &&
		    stream_of(model, &row->call) == stream_of(model, &of->call))
			return true;
	}
	return false;
}

static bool has_sure_shorter(const struct model *model, const struct counted_call *of)
{
	for (uint32_t i = 0; i < model->counted_calls.count; i++) {
		const struct counted_call *row = &model->counted_calls.row[i];

		if (!(row->unsure & COUNTED_INSIDE) && is_whole(&row->call) &&
		    row->call.function == of->call.function && row->shortest_ns <= of->shortest_ns)
			return true;
	}
	return false;
}

bool device_bounds_settled(const struct model *model)
{
	for (uint32_t i = 0; i < model->counted_calls.count; i++) {
		const struct counted_call *row = &model->counted_calls.row[i];

		if (!row->unsure)
			continue;
		if (row->unsure & COUNTED_INSIDE && call_waits(model, &row->call) &&
		    row->shortest_ns < BOUNDS_OVERHEAD_NS && !has_sure_shorter(model, row))
			return false;
		if (!row->call.start_ns && is_submission(model, row) &&
		    !has_sure_stream(model, row))
			return false;
	}
	return streams_settled(model);
}

/* Finds the times between the end of all work and the next submission. */
static int find_idle(struct bounds *b)
{
	uint64_t since_ns = 0;
	bool idle = false;

	if (b->moments.count)
		qsort(b->moments.row, b->moments.count, sizeof(*b->moments.row), by_time);
	if (b->model->counted_calls.count) {
		since_ns = b->model->survey.from_ns;
		b->first = BISECT(i, 0, b->moments.count, b->moments.row[i].ts_ns < since_ns);
		begin_submitted(b, false);
		begin_done(b, false);
		idle = all_done(b);
	}
	for (uint32_t i = b->first; i <= b->moments.count; i++) {
		const struct host_moment *moment = i < b->moments.count ? &b->moments.row[i] : NULL;
		uint64_t ts_ns = moment && moment->ts_ns < b->to_ns ? moment->ts_ns : b->to_ns;
		const struct call *call = moment ? &b->model->calls.row[moment->call] : NULL;

		if (idle && (!moment || !moment->waits)) {
			if (intervals_add(&b->idle, MAX(since_ns, b->from_ns), ts_ns))
				return -ENOMEM;
			idle = false;
		}
		if (!moment)
			break;
		if (!moment->waits) {
			struct stream *stream = find_stream(b, stream_of(b->model, call));

			stream->done = false;
			stream->submitted_ns = moment->ts_ns;
			continue;
		}
		if (!moment->proves)
			continue;
		has_waited(b, call);
		if (!idle && all_done(b)) {
			idle = true;
			since_ns = moment->ts_ns;
		}
	}
	return 0;
}

/* Calls that were too short to be recorded may have submitted work. */
static bool has_short_launches(const struct model *model)
{
	for (uint32_t i = 0; i < model->short_calls.count; i++) {
		uint32_t function = model->short_calls.row[i].function;

		if (function < model->functions.count &&
		    function_submits(&model->functions.row[function]))
			return true;
	}
	return false;
}

static bool find_shortest(struct bounds *b)
{
	const struct model *model = b->model;

	size_t size = ((size_t)model->functions.count + 1) * sizeof(*b->shortest_ns);

	b->shortest_ns = malloc(size);
	if (!b->shortest_ns)
		return false;
	memset(b->shortest_ns, 0xff, size); /* UINT64_MAX: no call yet */
	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];
		uint64_t ns = call->end_ns - call->start_ns;

		if (call->function < model->functions.count && is_whole(call))
			b->shortest_ns[call->function] = MIN(b->shortest_ns[call->function], ns);
	}
	for (uint32_t i = 0; i < model->counted_calls.count; i++) {
		const struct counted_call *row = &model->counted_calls.row[i];
		uint64_t *shortest_ns = &b->shortest_ns[row->call.function];

		if (!(row->unsure & COUNTED_INSIDE) && is_whole(&row->call))
			*shortest_ns = MIN(*shortest_ns, row->shortest_ns);
	}
	return true;
}

/* The busy time by likeness; the analysed time if nothing can be said. */
static uint64_t likely_ns(const struct bounds *b)
{
	uint32_t first = BISECT(i, 0, b->moments.count, b->moments.row[i].ts_ns < b->from_ns);
	uint32_t end = BISECT(i, first, b->moments.count, b->moments.row[i].ts_ns <= b->to_ns);

	if (b->stream_count != 1)
		return b->to_ns - b->from_ns;
	return launch_turns_busy(b->model, b->moments.row + first, end - first, b->from_ns, b->to_ns);
}

int device_bounds_find(const struct model *model, const struct walker *walker,
		       const struct analysis_options *options, uint64_t from_ns, uint64_t to_ns,
		       struct device_bounds *bounds)
{
	struct bounds b = { .model = model,
			    .walker = walker,
			    .options = options,
			    .from_ns = from_ns,
			    .to_ns = to_ns };
	double window_ns = (double)(to_ns - from_ns);
	int err = -ENOMEM;

	*bounds = (struct device_bounds){ .known = false };
	if (from_ns >= to_ns || has_short_launches(model))
		return 0;
	if (work_names_init(&b.names, model) && find_shortest(&b))
		err = collect(&b);
	if (!err && !b.too_many)
		err = find_idle(&b);
	if (!err && b.stream_count) {
		uint64_t busy_ns, idle_ns;

		intervals_unite(&b.busy);
		intervals_unite(&b.idle);
		busy_ns = intervals_length(&b.busy);
		idle_ns = intervals_length(&b.idle);
		bounds->known = true;
		bounds->copied_ns = b.copied_ns;
		bounds->at_least_percent = 100 * (double)busy_ns / window_ns;
		bounds->at_most_percent = 100 - 100 * (double)idle_ns / window_ns;
		bounds->likely_most_percent =
			MIN(bounds->at_most_percent, 100 * (double)likely_ns(&b) / window_ns);
	}
	work_names_free(&b.names);
	free(b.shortest_ns);
	free(b.moments.row);
	intervals_free(&b.busy);
	intervals_free(&b.idle);
	return err;
}

bool device_bounds_likely_tells(const struct device_bounds *bounds)
{
	return bounds->known && bounds->likely_most_percent + LIKELY_PERCENT < bounds->at_most_percent;
}
