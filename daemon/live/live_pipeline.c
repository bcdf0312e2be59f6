/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/live/live_pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/trace/column.h"

#define POP "_ZN9mindspore7dataset9DatasetOp10GetNextRowE"
#define PUSH "_ZN9mindspore7dataset5QueueINS0_9TensorRowEE"

#define FUNCTIONS_MAX 256
#define THREADS_MAX 4096
#define QUEUES_MAX 1024
#define OPERATORS_MAX 1024
#define EVENTS_MAX (1u << 20) /* per frame */
#define OPERATOR_ID_MAX 4096
#define CAPACITY_MAX (1u << 20)
#define WAIT_NS 1000000 /* a call that takes longer has slept: the queue was empty, or full */

/* Where the arguments with these roles are; -1 = nowhere. */
struct known_function {
	uint32_t id;
	bool pop;
	int handle, value, count;
};

struct known_thread {
	uint32_t tid;
	uint32_t op; /* index into operators */
};

struct queue {
	uint32_t pid;
	uint64_t handle;
	uint64_t tree; /* the tree of its known threads; 0 = unknown */
	int32_t op; /* number of the operator that fills it; -1 = no operator's */
	uint32_t capacity;
	bool gone; /* its process has ended */
	bool known; /* size is */
	uint32_t size;
	uint64_t in, out; /* total of pushes and pops; 0 = unknown */
	uint64_t last_ns; /* up to here the sums go */
	double area; /* size by ns, of this frame */
	uint64_t known_ns, pushes, pops, push_wait_ns, pop_wait_ns;
};

struct event {
	uint64_t end_ns;
	uint64_t dur_ns;
	uint32_t queue;
	bool pop;
	bool first; /* the first push of the queue */
	uint64_t nth; /* number of the element in the queue, from 1; 0 = unknown */
};

struct live_pipeline {
	struct known_function functions[FUNCTIONS_MAX];
	struct known_thread *threads;
	struct live_operator *operators;
	struct queue *queues;
	struct event *events;
	size_t function_count, thread_count, operator_count, queue_count, event_count, event_room;
	uint64_t left_out; /* events without room */
};

struct live_pipeline *live_pipeline_new(void)
{
	struct live_pipeline *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->threads = calloc(THREADS_MAX, sizeof(*p->threads));
	p->operators = calloc(OPERATORS_MAX, sizeof(*p->operators));
	p->queues = calloc(QUEUES_MAX, sizeof(*p->queues));
	if (!p->threads || !p->operators || !p->queues) {
		live_pipeline_free(p);
		return NULL;
	}
	return p;
}

void live_pipeline_free(struct live_pipeline *p)
{
	if (!p)
		return;
	free(p->threads);
	free(p->operators);
	free(p->queues);
	free(p->events);
	free(p);
}

static bool begins(const char *text, const char *with)
{
	return text && strncmp(text, with, strlen(with)) == 0;
}

int live_role_at(const Profbpf__Function *function, Profbpf__Function__Role role)
{
	for (size_t i = 0; i < function->n_roles && i < 3; i++)
		if (function->roles[i] == role)
			return (int)i;
	return -1;
}

uint64_t live_pipeline_left_out(const struct live_pipeline *p)
{
	return p->left_out;
}

bool live_pipeline_function(struct live_pipeline *p, const Profbpf__Function *function)
{
	bool pop = begins(function->name, POP);
	struct known_function row = {
		.id = function->id,
		.pop = pop,
		.handle = live_role_at(function, PROFBPF__FUNCTION__ROLE__HANDLE),
		.value = live_role_at(function, PROFBPF__FUNCTION__ROLE__VALUE),
		.count = live_role_at(function, PROFBPF__FUNCTION__ROLE__COUNT),
	};

	if ((!pop && !begins(function->name, PUSH)) || row.handle < 0 || row.value < 0)
		return false;
	for (size_t i = 0; i < p->function_count; i++)
		if (p->functions[i].id == row.id)
			return true;
	if (p->function_count == FUNCTIONS_MAX) {
		p->left_out++;
		return false;
	}
	p->functions[p->function_count++] = row;
	return true;
}

static const struct known_function *function_of(const struct live_pipeline *p, uint32_t id)
{
	for (size_t i = 0; i < p->function_count; i++)
		if (p->functions[i].id == id)
			return &p->functions[i];
	return NULL;
}

/* Index of an operator, made if it is new; OPERATORS_MAX = no room. */
static uint32_t operator_of(struct live_pipeline *p, uint32_t pid, uint64_t tree, int32_t id)
{
	size_t i = 0;

	while (i < p->operator_count &&
	       (p->operators[i].pid != pid || p->operators[i].id != id ||
		p->operators[i].tree != tree))
		i++;
	p->left_out += i == OPERATORS_MAX;
	if (i < p->operator_count || i == OPERATORS_MAX)
		return (uint32_t)i;
	p->operators[i] = (struct live_operator){ .pid = pid, .id = id, .tree = tree };
	snprintf(p->operators[i].name, sizeof(p->operators[i].name), "(ID:%d)", id);
	p->operator_count++;
	return (uint32_t)i;
}

/* "MapOp(ID:2)" is shown as "Map(ID:2)"; names of workers have no number. */
static void name_operator(struct live_operator *op, const char *name)
{
	const char *number = strstr(name, "Op(ID:");

	if (number)
		snprintf(op->name, sizeof(op->name), "%.*s%s", (int)(number - name), name,
			 number + 2);
}

void live_pipeline_roles(struct live_pipeline *p, const uint8_t *body, size_t size)
{
	Profbpf__ThreadRoles *m = profbpf__thread_roles__unpack(NULL, size, body);
	size_t rows;

	if (!m || strcmp(m->framework, "MindData") != 0 ||
	    COLUMN_ROWS(&rows, m->n_tid, m->n_operator_id, m->n_name, m->n_tree))
		rows = 0;
	for (size_t i = 0; i < rows; i++) {
		int32_t id = COLUMN_AT(m, operator_id, i);
		struct known_thread row = { .tid = COLUMN_AT(m, tid, i) };
		size_t at = 0;

		if (id < 0 || id >= OPERATOR_ID_MAX || !m->n_name)
			continue;
		row.op = operator_of(p, m->tgid, COLUMN_AT(m, tree, i), id);
		if (row.op == OPERATORS_MAX)
			continue;
		name_operator(&p->operators[row.op], m->name[i]);
		while (at < p->thread_count && p->threads[at].tid != row.tid)
			at++;
		if (at == THREADS_MAX) {
			p->left_out++;
			continue;
		}
		p->threads[at] = row;
		p->thread_count += at == p->thread_count;
	}
	profbpf__thread_roles__free_unpacked(m, NULL);
}

void live_pipeline_ran(struct live_pipeline *p, uint32_t tid, uint64_t run_ns, uint64_t runnable_ns)
{
	for (size_t i = 0; i < p->thread_count; i++) {
		if (p->threads[i].tid != tid)
			continue;
		p->operators[p->threads[i].op].run_ns += run_ns;
		p->operators[p->threads[i].op].runnable_ns += runnable_ns;
	}
}

static uint32_t queue_of(struct live_pipeline *p, uint32_t pid, uint64_t handle)
{
	size_t i = 0;

	while (i < p->queue_count && (p->queues[i].pid != pid || p->queues[i].handle != handle))
		i++;
	if (i < p->queue_count || i == QUEUES_MAX)
		return (uint32_t)i;
	p->queues[p->queue_count++] = (struct queue){ .pid = pid, .handle = handle, .op = -1 };
	return (uint32_t)i;
}

static bool add_event(struct live_pipeline *p, const struct event *event)
{
	if (p->event_count == p->event_room) {
		size_t room = p->event_room ? 2 * p->event_room : 1024;
		struct event *grown = reallocarray(p->events, room, sizeof(*grown));

		if (!grown)
			return false;
		p->events = grown;
		p->event_room = room;
	}
	p->events[p->event_count++] = *event;
	return true;
}

/* The upper half of the value has the queue's operator and its capacity. */
static void take_owner(struct queue *queue, uint64_t value)
{
	uint32_t capacity = (uint32_t)value;
	int32_t id = (int32_t)(value >> 32);

	if (id < 0 || id >= OPERATOR_ID_MAX || !capacity || capacity >= CAPACITY_MAX)
		return;
	queue->op = id;
	queue->capacity = capacity;
}

/* The tree that a thread works for; 0 = not known, or none: the trainer's. */
static uint64_t tree_of(const struct live_pipeline *p, uint32_t tid)
{
	for (size_t i = 0; i < p->thread_count; i++)
		if (p->threads[i].tid == tid)
			return p->operators[p->threads[i].op].tree;
	return 0;
}

static void take_call(struct live_pipeline *p, const struct known_function *function, const struct live_called *call)
{
	const uint64_t *args = call->args;
	uint64_t tree = tree_of(p, call->tid);
	struct event event = { .end_ns = call->end_ns, .dur_ns = call->dur_ns, .pop = function->pop };

	event.queue = queue_of(p, call->pid, args[function->handle]);
	event.nth = function->count >= 0 ? args[function->count] + 1 : 0;
	event.first = !function->pop && event.nth == 1;
	if (event.queue == QUEUES_MAX || p->event_count == EVENTS_MAX) {
		p->left_out++;
		return;
	}
	if (tree)
		p->queues[event.queue].tree = tree;
	if (function->pop)
		take_owner(&p->queues[event.queue], args[function->value]);
	p->left_out += !add_event(p, &event);
}

void live_pipeline_call(struct live_pipeline *p, const struct live_called *call)
{
	const struct known_function *function = function_of(p, call->function);

	if (function && !call->end_unknown)
		take_call(p, function, call);
}

static int by_end(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	/* At equal instants a push comes before a pop. */
	return x->pop - y->pop;
}

/* Its size stays up to an instant. */
static void stay(struct queue *queue, uint64_t to_ns)
{
	if (to_ns <= queue->last_ns)
		return;
	if (queue->known) {
		queue->area += (double)queue->size * (double)(to_ns - queue->last_ns);
		queue->known_ns += to_ns - queue->last_ns;
	}
	queue->last_ns = to_ns;
}

/* Computes the size if both ends of the queue are recorded; returns false if they are not, or are inconsistent. */
static bool count_size(struct queue *queue, const struct event *event)
{
	if (event->pop)
		queue->out = event->nth;
	else
		queue->in = event->nth;
	if (!queue->in || !queue->out || queue->in + 1 < queue->out ||
	    queue->in > queue->out + queue->capacity + 1)
		return false;
	queue->size = queue->in > queue->out ? (uint32_t)(queue->in - queue->out) : 0;
	queue->known = true;
	return true;
}

static void apply(struct queue *queue, const struct event *event)
{
	bool waited = event->dur_ns >= WAIT_NS;

	stay(queue, event->end_ns);
	if (event->pop) {
		queue->pops++;
		queue->pop_wait_ns += event->dur_ns;
		if (count_size(queue, event))
			return;
		queue->size -= queue->size > 0;
		if (waited) {
			queue->size = 0;
			queue->known = true;
		}
		return;
	}
	queue->pushes++;
	queue->push_wait_ns += event->dur_ns;
	if (count_size(queue, event)) {
		if (queue->size > queue->capacity)
			queue->size = queue->capacity;
		return;
	}
	queue->size++;
	if (event->first) {
		queue->size = 1;
		queue->known = true;
	}
	if (waited && queue->capacity) {
		queue->size = queue->capacity;
		queue->known = true;
	}
	if (queue->capacity && queue->size > queue->capacity)
		queue->size = queue->capacity;
}

/* The owner of a queue without known threads: the only operator with that number, if there is one. */
static uint64_t likely_tree(const struct live_pipeline *p, const struct queue *queue)
{
	uint64_t tree = queue->tree;
	bool found = false;

	for (size_t i = 0; i < p->operator_count && !queue->tree; i++) {
		if (p->operators[i].pid != queue->pid || p->operators[i].id != queue->op)
			continue;
		if (found)
			return 0;
		found = true;
		tree = p->operators[i].tree;
	}
	return tree;
}

static void show_queue(struct live_pipeline *p, struct queue *queue)
{
	uint32_t op = queue->op < 0 ? OPERATORS_MAX : operator_of(p, queue->pid, likely_tree(p, queue), queue->op);
	struct live_operator *row = &p->operators[op];

	if (op != OPERATORS_MAX && (queue->pushes || queue->pops || !row->has_queue)) {
		row->has_queue = true;
		row->capacity = queue->capacity;
		row->pushes = queue->pushes;
		row->pops = queue->pops;
		row->has_pop_wait = true;
		row->push_wait_ns = queue->push_wait_ns;
		row->pop_wait_ns = queue->pop_wait_ns;
		/* Some operators have inlined the push: neither waits for room nor sizes are known. */
		row->has_push_wait = queue->pushes || !queue->pops;
		row->has_size = queue->known_ns && row->has_push_wait;
		row->mean_size = queue->known_ns ? queue->area / (double)queue->known_ns : 0;
	}
	queue->area = 0;
	queue->known_ns = queue->pushes = queue->pops = 0;
	queue->push_wait_ns = queue->pop_wait_ns = 0;
}

static int by_number(const void *a, const void *b)
{
	const struct live_operator *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tree != y->tree)
		return x->tree < y->tree ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Numbers go from the trainer down: of the first queue the trainer takes. */
static void mark_last(struct live_operator *rows, size_t count)
{
	bool found = false;

	for (size_t i = 0; i < count; i++) {
		found &= i && rows[i].pid == rows[i - 1].pid && rows[i].tree == rows[i - 1].tree;
		rows[i].to_trainer = rows[i].has_pop_wait && !found;
		found |= rows[i].has_queue;
	}
}

void live_pipeline_gone(struct live_pipeline *p, uint32_t pid)
{
	for (size_t i = 0; i < p->operator_count; i++)
		p->operators[i].gone |= p->operators[i].pid == pid;
	for (size_t i = 0; i < p->queue_count; i++)
		p->queues[i].gone |= p->queues[i].pid == pid;
}

/* When no event names a queue. */
static void drop_gone(struct live_pipeline *p)
{
	uint32_t place[OPERATORS_MAX];
	size_t kept = 0;

	for (size_t i = 0; i < p->operator_count; i++) {
		place[i] = p->operators[i].gone ? OPERATORS_MAX : (uint32_t)kept;
		if (!p->operators[i].gone)
			p->operators[kept++] = p->operators[i];
	}
	p->operator_count = kept;
	kept = 0;
	for (size_t i = 0; i < p->thread_count; i++) {
		struct known_thread t = p->threads[i];

		t.op = place[t.op];
		if (t.op != OPERATORS_MAX)
			p->threads[kept++] = t;
	}
	p->thread_count = kept;
	kept = 0;
	for (size_t i = 0; i < p->queue_count; i++)
		if (!p->queues[i].gone)
			p->queues[kept++] = p->queues[i];
	p->queue_count = kept;
}

size_t live_pipeline_frame(struct live_pipeline *p, uint64_t from_ns, uint64_t to_ns,
			  struct live_operator **rows)
{
	size_t count;

	for (size_t i = 0; i < p->queue_count; i++)
		if (p->queues[i].last_ns < from_ns)
			p->queues[i].last_ns = from_ns;
	if (p->event_count)
		qsort(p->events, p->event_count, sizeof(*p->events), by_end);
	for (size_t i = 0; i < p->event_count; i++)
		apply(&p->queues[p->events[i].queue], &p->events[i]);
	p->event_count = 0;
	for (size_t i = 0; i < p->queue_count; i++) {
		stay(&p->queues[i], to_ns);
		show_queue(p, &p->queues[i]);
	}
	*rows = calloc(p->operator_count + 1, sizeof(**rows));
	if (*rows)
		memcpy(*rows, p->operators, p->operator_count * sizeof(**rows));
	for (size_t i = 0; i < p->operator_count; i++) {
		p->operators[i].run_ns = p->operators[i].runnable_ns = 0;
		p->operators[i].has_queue = false;
	}
	count = *rows ? p->operator_count : 0;
	drop_gone(p);
	if (count)
		qsort(*rows, count, sizeof(**rows), by_number);
	mark_last(*rows, count);
	return count;
}
