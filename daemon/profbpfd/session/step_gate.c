/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/session/step_gate.h"

#include <fnmatch.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/live/live_marks.h"
#include "daemon/profbpfd/session/fetch_calls.h"

struct step_function {
	uint32_t id;
	bool marks; /* only calls whose mark is a fetch count */
};

/* A step that begins, or a process that ends. */
struct event {
	uint64_t ts_ns;
	uint32_t tgid;
	bool ends;
};

struct process {
	uint32_t tgid;
	uint64_t steps; /* number of begun steps */
};

struct step_gate {
	char call[STEP_CALL_MAX];
	uint64_t wanted;
	struct step_function function[STEP_FUNCTIONS_MAX];
	struct event *pending; /* not counted yet */
	size_t pending_count, pending_room;
	struct process *processes;
	size_t process_count;

	pthread_mutex_t lock; /* protects the facts, which only the writer's thread changes */
	struct step_gate_facts facts;
};

struct step_gate *step_gate_new(const char *call, uint64_t first, uint64_t steps)
{
	struct step_gate *gate = calloc(1, sizeof(*gate));

	if (!gate)
		return NULL;
	snprintf(gate->call, sizeof(gate->call), "%s", call);
	gate->facts.first = first;
	gate->wanted = steps;
	pthread_mutex_init(&gate->lock, NULL);
	return gate;
}

void step_gate_free(struct step_gate *gate)
{
	if (!gate)
		return;
	pthread_mutex_destroy(&gate->lock);
	free(gate->pending);
	free(gate->processes);
	free(gate);
}

void step_gate_facts(struct step_gate *gate, struct step_gate_facts *facts)
{
	pthread_mutex_lock(&gate->lock);
	*facts = gate->facts;
	pthread_mutex_unlock(&gate->lock);
}

static const struct step_function *function_of(const struct step_gate *gate, uint32_t id)
{
	for (uint32_t i = 0; i < gate->facts.functions; i++)
		if (gate->function[i].id == id)
			return &gate->function[i];
	return NULL;
}

static void note_functions(struct step_gate *gate, const struct item *item)
{
	Profbpf__Functions *message = profbpf__functions__unpack(NULL, item->size, item->data);

	pthread_mutex_lock(&gate->lock);
	for (size_t i = 0; message && i < message->n_function; i++) {
		const char *name = message->function[i]->name;
		bool marks = !*gate->call && !strncmp(name, LIVE_MARK_BEGINS, strlen(LIVE_MARK_BEGINS));
		bool begins = *gate->call ? !fnmatch(gate->call, name, 0) : marks || is_fetch_call(name);

		if (!begins || function_of(gate, message->function[i]->id))
			continue;
		if (gate->facts.functions < STEP_FUNCTIONS_MAX)
			gate->function[gate->facts.functions++] =
				(struct step_function){ message->function[i]->id, marks };
		else
			gate->facts.functions_left_out++;
	}
	pthread_mutex_unlock(&gate->lock);
	if (message)
		profbpf__functions__free_unpacked(message, NULL);
}

static void leave_out(struct step_gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->facts.uncounted++;
	pthread_mutex_unlock(&gate->lock);
}

static void add_pending(struct step_gate *gate, const struct event *event)
{
	size_t room = gate->pending_room ? 2 * gate->pending_room : 64;
	struct event *rows;

	if (gate->pending_count == gate->pending_room) {
		rows = room <= STEP_PENDING_MAX ? reallocarray(gate->pending, room, sizeof(*rows)) : NULL;
		if (!rows) {
			leave_out(gate);
			return;
		}
		gate->pending = rows;
		gate->pending_room = room;
	}
	gate->pending[gate->pending_count++] = *event;
}

static void note_calls(struct step_gate *gate, const struct item *item, struct texts *texts)
{
	const struct rec_call *calls = item->data;

	for (uint32_t i = 0; i < item->count; i++) {
		const struct step_function *function = function_of(gate, calls[i].probe);
		char text[REC_STRING_LEN] = "";

		if (!function)
			continue;
		if (function->marks && calls[i].header.flags & CALL_HAS_STRING)
			texts_get(texts, calls[i].text, text, sizeof(text));
		if (!function->marks || !strncmp(text, LIVE_MARK_LOADER, strlen(LIVE_MARK_LOADER)))
			add_pending(gate, &(struct event){ calls[i].header.ts_ns, calls[i].tgid, false });
	}
}

static struct process *process_of(struct step_gate *gate, uint32_t tgid)
{
	struct process *rows;

	for (size_t i = 0; i < gate->process_count; i++)
		if (gate->processes[i].tgid == tgid)
			return &gate->processes[i];
	rows = reallocarray(gate->processes, gate->process_count + 1, sizeof(*rows));
	if (!rows)
		return NULL;
	gate->processes = rows;
	rows[gate->process_count] = (struct process){ .tgid = tgid };
	return &rows[gate->process_count++];
}

/* The caller holds the lock. */
static void count_step(struct step_gate *gate, const struct event *beginning)
{
	struct process *process = process_of(gate, beginning->tgid);
	struct step_gate_facts *facts = &gate->facts;
	uint64_t number = process ? process->steps++ : 0;

	facts->uncounted += !process;
	if (!process || facts->state == STEPS_OVER || (facts->state == STEPS_BEGUN && facts->tgid != beginning->tgid))
		return;
	if (facts->state == STEPS_BEGUN || process->steps > facts->steps) {
		facts->tgid = beginning->tgid;
		facts->steps = process->steps;
	}
	if (facts->state == STEPS_AWAITED && number == facts->first) {
		facts->state = STEPS_BEGUN;
		facts->from_ns = beginning->ts_ns;
	} else if (facts->state == STEPS_BEGUN && number >= facts->first + gate->wanted) {
		facts->state = STEPS_OVER;
		facts->to_ns = beginning->ts_ns;
	}
}

/* Forgets the process, because its id may be reused. The caller holds the lock. */
static void end_process(struct step_gate *gate, const struct event *end)
{
	struct step_gate_facts *facts = &gate->facts;

	for (size_t i = 0; i < gate->process_count; i++)
		if (gate->processes[i].tgid == end->tgid)
			gate->processes[i--] = gate->processes[--gate->process_count];
	if (facts->state != STEPS_BEGUN || facts->tgid != end->tgid)
		return;
	facts->state = STEPS_OVER;
	facts->exited = true;
	facts->to_ns = end->ts_ns;
}

static int by_instant(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return (x->ts_ns > y->ts_ns) - (x->ts_ns < y->ts_ns);
}

/*
 * Counts the pending steps until @until_ns. All calls that began by then are known, except calls that still run, whose
 * threads begin no other step meanwhile.
 */
static void count_steps(struct step_gate *gate, uint64_t until_ns)
{
	size_t done = 0;

	if (gate->pending_count)
		qsort(gate->pending, gate->pending_count, sizeof(*gate->pending), by_instant);
	pthread_mutex_lock(&gate->lock);
	for (; done < gate->pending_count && gate->pending[done].ts_ns <= until_ns; done++) {
		if (gate->pending[done].ends)
			end_process(gate, &gate->pending[done]);
		else
			count_step(gate, &gate->pending[done]);
	}
	pthread_mutex_unlock(&gate->lock);
	gate->pending_count -= done;
	if (done)
		memmove(gate->pending, gate->pending + done, gate->pending_count * sizeof(*gate->pending));
}

static void note_tasks(struct step_gate *gate, const struct item *item)
{
	const struct task_row *rows = item->data;

	for (uint32_t i = 0; i < item->count; i++)
		if (rows[i].record.event == TASK_EXEC ||
		    (rows[i].record.event == TASK_EXIT && rows[i].record.header.flags & TASK_LAST))
			add_pending(gate,
				    &(struct event){ rows[i].record.header.ts_ns, rows[i].record.tgid, true });
}

bool step_gate_item(struct step_gate *gate, const struct item *item, struct texts *texts)
{
	enum step_gate_state before = gate->facts.state;
	const struct statistics_row *statistics = item->data;

	if (item->kind == ITEM_BODY && item->body == PROFBPF__PACKET__KIND__FUNCTIONS)
		note_functions(gate, item);
	else if (item->kind == ITEM_TASKS)
		note_tasks(gate, item);
	else if (item->kind == ITEM_RECORDS && item->type == REC_CALL)
		note_calls(gate, item, texts);
	else if (item->kind == ITEM_STATISTICS)
		count_steps(gate, statistics->ts_ns);
	return gate->facts.state != before;
}
