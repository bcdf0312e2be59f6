/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/calls/host_loops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/calls/copy_way.h"
#include "analyzer/analyse/calls/work_names.h"
#include "analyzer/analyse/tally.h"
#include "analyzer/join/launch/call_kind.h"
#include "analyzer/model/step_names.h"
#include "lib/base/bisect.h"

#define RANGES_MAX 64 /* maximal nesting */
#define SURE_PERCENT 90 /* a loop that explains less may consist of several threads' loops */

/* A call, as an event of its process. */
struct call_event {
	struct loop_event event;
	uint64_t end_ns;
	uint32_t process;
	uint32_t thread;
};

struct call_mark {
	uint64_t start_ns;
	uint64_t end_ns; /* 0 = unknown */
	uint64_t number;
	uint32_t process;
	uint8_t name; /* enum step_name */
};

struct search {
	const struct model *model;
	const struct analysis_options *options;
	struct host_loops *loops;
	MODEL_ARRAY(struct call_event) events; /* by (process, ns) */
	MODEL_ARRAY(struct call_mark) marks; /* by (process, start) */
	struct work_names names;
};

/* Identifies the graph or model by its handle, if the catalog says which argument it is. */
static uint32_t symbol_of(const struct function *function, const struct call *call, bool whole)
{
	uint32_t symbol = call->text ? call->text : call->function ^ UINT32_C(0x80000000);

	for (int i = 0; i < 3 && whole; i++)
		if (function->roles[i] == PROFBPF__FUNCTION__ROLE__HANDLE)
			symbol ^= (uint32_t)((call->args[i] ^ call->args[i] >> 32) * 2654435761u);
	return symbol;
}

static bool is_event(struct search *search, const struct call *call, struct call_event *to)
{
	const struct model *model = search->model;
	const struct function *function = call_function(model, call);
	struct loop_event *event = &to->event;
	uint8_t says;

	if (!function || call->thread >= model->threads.count || call->flags & MODEL_CALL_ERROR ||
	    !model_has_calls(model, call->start_ns))
		return false;
	says = work_names_of(&search->names, function->name);
	if (function->kind == PROFBPF__FUNCTION__KIND__MARKER && says & WORK_NAME_ENDS)
		return false;
	/* Parts of a step repeat within the step. */
	if (function->scope && function->scope < SCOPE_RANGE)
		return false;
	if (function->scope == SCOPE_MODULE)
		return false;
	*to = (struct call_event){ .end_ns = call->end_ns,
				   .thread = call->thread,
				   .process = model->threads.row[call->thread].process };
	*event = (struct loop_event){ .ns = call->start_ns, .kind = LOOP_OTHER };
	event->whole = says & WORK_NAME_WHOLE;
	event->symbol = symbol_of(function, call, event->whole);
	event->optimizer = (says | work_names_of(&search->names, call->text)) & WORK_NAME_OPTIMIZER;
	switch (function->kind) {
	case PROFBPF__FUNCTION__KIND__LAUNCH: event->kind = LOOP_WORK; break;
	case PROFBPF__FUNCTION__KIND__COLLECTIVE:
		event->kind = LOOP_WORK;
		event->collective = true;
		break;
	case PROFBPF__FUNCTION__KIND__COPY: event->kind = call_copy_way(&search->names, call); break;
	case PROFBPF__FUNCTION__KIND__SYNC: event->kind = LOOP_RESULT; break;
	default: break;
	}
	return to->process < model->processes.count &&
	       !(call->flags & (function_submits(function) ? MODEL_CALL_PART : MODEL_CALL_INNER));
}

/* Adds the marks of one thread, calls [first, end): an end mark ends the range that began last and is still open. */
static bool add_marks(struct search *search, uint32_t first, uint32_t end)
{
	const struct model *model = search->model;
	uint32_t open[RANGES_MAX], depth = 0;

	for (uint32_t i = first; i < end; i++) {
		const struct call *call = &model->calls.row[i];
		const struct function *function = call_function(model, call);
		struct call_mark mark = { .start_ns = call->start_ns };
		uint8_t says;

		if (!function || function->kind != PROFBPF__FUNCTION__KIND__MARKER)
			continue;
		says = work_names_of(&search->names, function->name);
		if (!function->scope && says & WORK_NAME_ENDS) {
			if (depth && --depth < RANGES_MAX && open[depth] != INDEX_NONE)
				search->marks.row[open[depth]].end_ns = call->start_ns;
			continue;
		}
		mark.process = model->threads.row[call->thread].process;
		mark.name = step_name_of(model_text(model, function->scope ? function->name :
									     call->text),
					 &mark.number);
		if (function->scope)
			mark.end_ns = call->end_ns;
		if (!function->scope && says & WORK_NAME_BEGINS) {
			if (depth < RANGES_MAX)
				open[depth] = mark.name ? search->marks.count : INDEX_NONE;
			depth++;
		}
		if (mark.name && mark.process < model->processes.count &&
		    !MODEL_PUSH(&search->marks, mark))
			return false;
	}
	return true;
}

/* Adds steps that are marked by other means than a name. */
static bool add_unnamed_marks(struct search *search)
{
	const struct model *model = search->model;

	for (uint32_t i = 0; i < model->step_marks.count; i++) {
		const struct step_mark *from = &model->step_marks.row[i];
		struct call_mark mark = { .start_ns = from->start_ns,
					  .end_ns = from->end_ns,
					  .number = from->number,
					  .process = from->process,
					  .name = STEP_NAME_STEP };

		if (from->unnamed && from->process < model->processes.count &&
		    !MODEL_PUSH(&search->marks, mark))
			return false;
	}
	return true;
}

static int by_process(const void *a, const void *b)
{
	const struct call_event *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->event.ns != y->event.ns)
		return x->event.ns < y->event.ns ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int marks_by_process(const void *a, const void *b)
{
	const struct call_mark *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int gather(struct search *search)
{
	const struct model *model = search->model;

	for (uint32_t first = 0, end; first < model->calls.count; first = end) {
		for (end = first; end < model->calls.count &&
				  model->calls.row[end].thread == model->calls.row[first].thread;
		     end++) {
			struct call_event event;

			if (is_event(search, &model->calls.row[end], &event) &&
			    analysis_wants_process(model, search->options, event.process) &&
			    !MODEL_PUSH(&search->events, event))
				return -ENOMEM;
		}
		if (model->calls.row[first].thread < model->threads.count &&
		    !add_marks(search, first, end))
			return -ENOMEM;
	}
	if (!add_unnamed_marks(search))
		return -ENOMEM;
	if (search->events.count)
		qsort(search->events.row, search->events.count, sizeof(struct call_event),
		      by_process);
	if (search->marks.count)
		qsort(search->marks.row, search->marks.count, sizeof(struct call_mark),
		      marks_by_process);
	return 0;
}

/* Events of a process: rows [0, count); of one thread, or of all. */
struct part {
	const struct call_event *row;
	uint32_t count;
	uint32_t thread; /* INDEX_NONE = all */
};

/* Returns the start of the copies that feed the event at @ns, with no work in between; @ns if there are none. */
static uint64_t fed_at(const struct part *part, uint64_t ns, uint64_t not_before_ns)
{
	uint32_t i = BISECT(k, 0, part->count, part->row[k].event.ns < ns);

	while (i-- > 0) {
		const struct loop_event *event = &part->row[i].event;

		if (event->kind == LOOP_WORK || event->ns < not_before_ns)
			break;
		if (event->kind == LOOP_FEED)
			ns = event->ns;
	}
	return ns;
}

static bool is_of(const struct part *part, const struct call_event *row)
{
	return part->thread == INDEX_NONE || row->thread == part->thread;
}

static uint64_t last_end(const struct part *part)
{
	uint64_t end_ns = 0;

	for (uint32_t i = 0; i < part->count; i++)
		if (is_of(part, &part->row[i]) && part->row[i].end_ns > end_ns)
			end_ns = part->row[i].end_ns;
	return end_ns;
}

static int add_loop(struct search *search, struct host_loop loop)
{
	struct host_loops *loops = search->loops;

	loop.count = loops->turns.count - loop.first;
	if (!loop.count)
		return 0;
	return MODEL_PUSH(&loops->loops, loop) ? 0 : -ENOMEM;
}

static int loop_of_marks(struct search *search, const struct part *part,
			 const struct call_mark *marks, uint32_t count)
{
	struct host_loop loop = { .process = marks->process,
				  .thread = INDEX_NONE,
				  .evidence = LOOP_BY_MARKS,
				  .confidence = 100,
				  .first = search->loops->turns.count };
	struct host_turn *last = NULL;
	uint8_t name = UINT8_MAX;

	for (uint32_t i = 0; i < count; i++)
		name = marks[i].name < name ? marks[i].name : name;
	for (uint32_t i = 0; i < count; i++) {
		struct host_turn turn = { .number = marks[i].number,
					  .start_ns =
						  fed_at(part, marks[i].start_ns,
							 last && last->end_ns ? last->end_ns : 0),
					  .end_ns = marks[i].end_ns };

		if (marks[i].name != name)
			continue;
		/* Nested, or on two threads at once: the same step. */
		if (last && last->end_ns > turn.start_ns)
			continue;
		if (last && !last->end_ns)
			last->end_ns = turn.start_ns;
		if (turn.number == UINT64_MAX)
			turn.number = search->loops->turns.count - loop.first;
		if (!MODEL_PUSH(&search->loops->turns, turn))
			return -ENOMEM;
		last = &search->loops->turns.row[search->loops->turns.count - 1];
	}
	if (last && !last->end_ns)
		last->end_ns = last_end(part);
	return add_loop(search, loop);
}

static bool has_work(const struct part *part)
{
	for (uint32_t i = 0; i < part->count; i++)
		if (part->row[i].event.kind == LOOP_WORK)
			return true;
	return false;
}

/* In a process without submitted work, the loop is searched in all calls. */
static int loop_of_calls(struct search *search, const struct part *part)
{
	struct loop_event *events = malloc(((size_t)part->count + 1) * sizeof(*events));
	struct host_loop loop = { .process = part->row->process,
				  .thread = part->thread,
				  .first = search->loops->turns.count };
	bool any = part->thread == INDEX_NONE && !has_work(part);
	struct loop_finding finding = { 0 };
	uint32_t count = 0;
	int err = -ENOMEM;

	if (!events)
		return -ENOMEM;
	for (uint32_t i = 0; i < part->count; i++) {
		if (!is_of(part, &part->row[i]))
			continue;
		events[count] = part->row[i].event;
		if (any && events[count].kind == LOOP_OTHER)
			events[count].kind = LOOP_WORK;
		count++;
	}
	err = loop_find(events, count, &finding);
	loop.evidence = finding.evidence;
	loop.confidence = finding.confidence;
	for (uint32_t i = 0; i < finding.count && !err; i++) {
		struct host_turn turn = { .number = i, .start_ns = events[finding.begins[i]].ns };

		turn.end_ns = i + 1 < finding.count ? events[finding.begins[i + 1]].ns
						    : last_end(part);
		if (!MODEL_PUSH(&search->loops->turns, turn))
			err = -ENOMEM;
	}
	loop_finding_free(&finding);
	free(events);
	return err ? err : add_loop(search, loop);
}

/* Searches a loop in each thread that submits work. */
static int loops_of_threads(struct search *search, const struct part *whole)
{
	struct tally threads = { 0 };
	bool several = false;
	uint64_t all = 0;
	int err = 0;

	for (uint32_t i = 0; i < whole->count && !err; i++) {
		several |= whole->row[i].thread != whole->row[0].thread;
		if (whole->row[i].event.kind != LOOP_WORK)
			continue;
		if (!tally_add(&threads, whole->row[i].thread))
			err = -ENOMEM;
		all++;
	}
	if (!err && !tally_sort(&threads))
		err = -ENOMEM;
	for (uint32_t i = 0; i < threads.kinds.count && !err; i++) {
		struct part part = { whole->row, whole->count, threads.kinds.row[i].key };
		uint64_t count = threads.kinds.row[i].count;

		/*
		 * The calls of a single thread are the process's; a thread with little work is not worth a pass over
		 * all events. One with all the work may have a loop that copies and waits of others cut to pieces.
		 */
		if (several && count * 16 >= all)
			err = loop_of_calls(search, &part);
	}
	tally_free(&threads);
	return err;
}

/* Removes @count loops; their turns remain unused. */
static void drop_from(struct host_loops *loops, uint32_t first, uint32_t count)
{
	uint32_t left = loops->loops.count - first - count;

	memmove(loops->loops.row + first, loops->loops.row + first + count,
		left * sizeof(*loops->loops.row));
	loops->loops.count -= count;
}

static double least_confidence(const struct host_loops *loops, uint32_t first)
{
	double least = 100;

	for (uint32_t i = first; i < loops->loops.count; i++)
		if (loops->loops.row[i].confidence < least)
			least = loops->loops.row[i].confidence;
	return least;
}

/* Several threads with loops of their own can look like one loop of low confidence. */
static int find(struct search *search, const struct part *part, const struct call_mark *marks,
		uint32_t mark_count)
{
	struct host_loops *loops = search->loops;
	uint32_t before = loops->loops.count, whole;
	double percent;
	int err;

	if (mark_count)
		return loop_of_marks(search, part, marks, mark_count);
	err = loop_of_calls(search, part);
	whole = loops->loops.count;
	percent = whole > before ? loops->loops.row[before].confidence : 0;
	if (err || percent >= SURE_PERCENT)
		return err;
	err = loops_of_threads(search, part);
	if (err || whole == before)
		return err;
	if (loops->loops.count > whole + 1 && least_confidence(loops, whole) >= SURE_PERCENT)
		drop_from(loops, before, 1);
	else
		drop_from(loops, whole, loops->loops.count - whole);
	return 0;
}

static void find_main(struct host_loops *loops)
{
	loops->main = INDEX_NONE;
	for (uint32_t i = 0; i < loops->loops.count; i++)
		if (loops->main == INDEX_NONE ||
		    loops->loops.row[i].count > loops->loops.row[loops->main].count)
			loops->main = i;
}

int host_loops_find(const struct model *model, const struct analysis_options *options,
		    struct host_loops *loops)
{
	struct search search = { .model = model, .options = options, .loops = loops };
	uint32_t mark = 0, mark_end;
	int err;

	*loops = (struct host_loops){ .main = INDEX_NONE };
	err = work_names_init(&search.names, model) ? gather(&search) : -ENOMEM;
	for (uint32_t first = 0, end; first < search.events.count && !err; first = end) {
		struct part part = { &search.events.row[first], 0, INDEX_NONE };
		uint32_t process = part.row->process;

		for (end = first;
		     end < search.events.count && search.events.row[end].process == process;)
			end++;
		part.count = end - first;
		while (mark < search.marks.count && search.marks.row[mark].process < process)
			mark++;
		for (mark_end = mark; mark_end < search.marks.count &&
				      search.marks.row[mark_end].process == process;)
			mark_end++;
		err = find(&search, &part, search.marks.row ? &search.marks.row[mark] : NULL,
			   mark_end - mark);
		mark = mark_end;
	}
	find_main(loops);
	free(search.events.row);
	free(search.marks.row);
	work_names_free(&search.names);
	return err;
}

void host_loops_free(struct host_loops *loops)
{
	free(loops->loops.row);
	free(loops->turns.row);
	*loops = (struct host_loops){ 0 };
}
