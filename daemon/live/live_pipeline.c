/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/live/live_pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/trace/column.h"

/* Calls.flags of the file */
#define FILE_CALL_OPEN 1
#define FILE_CALL_END_UNKNOWN (32 | 64) /* left, or only its entry seen */

#define POP "_ZN9mindspore7dataset9DatasetOp10GetNextRowE"
#define PUSH "_ZN9mindspore7dataset5QueueINS0_9TensorRowEE"

#define FUNCTIONS_MAX 256
#define THREADS_MAX 4096
#define QUEUES_MAX 1024
#define OPERATORS_MAX 1024
#define EVENTS_MAX (1u << 20) /* of one frame */
#define OPERATOR_ID_MAX 4096
#define CAPACITY_MAX (1u << 20)
#define WAIT_NS 1000000 /* who takes longer has slept: the queue was empty, or full */

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
	uint64_t tree; /* of those of its threads that are known; 0 = unknown */
	int32_t op; /* number of the operator that fills it; -1 = no operator's */
	uint32_t capacity;
	bool known; /* size is */
	uint32_t size;
	uint64_t in, out; /* ever put in and taken out; 0 = not told */
	uint64_t last_ns; /* up to here the sums go */
	double area; /* size by ns, of this frame */
	uint64_t known_ns, pushes, pops, push_wait_ns, pop_wait_ns;
};

struct event {
	uint64_t end_ns;
	uint64_t dur_ns;
	uint32_t queue;
	bool pop;
	bool first; /* nothing was ever put in before */
	uint64_t nth; /* it is the n-th of the queue, from 1; 0 = not told */
};

struct live_pipeline {
	struct known_function functions[FUNCTIONS_MAX];
	struct known_thread *threads;
	struct live_operator *operators;
	struct queue *queues;
	struct event *events;
	size_t function_count, thread_count, operator_count, queue_count, event_count, event_room;
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

void live_pipeline_function(struct live_pipeline *p, const Profbpf__Function *function)
{
	bool pop = begins(function->name, POP);
	struct known_function row = {
		.id = function->id,
		.pop = pop,
		.handle = live_role_at(function, PROFBPF__FUNCTION__ROLE__HANDLE),
		.value = live_role_at(function, PROFBPF__FUNCTION__ROLE__VALUE),
		.count = live_role_at(function, PROFBPF__FUNCTION__ROLE__COUNT),
	};

	if ((!pop && !begins(function->name, PUSH)) || row.handle < 0 || row.value < 0 ||
	    p->function_count == FUNCTIONS_MAX)
		return;
	for (size_t i = 0; i < p->function_count; i++)
		if (p->functions[i].id == row.id)
			return;
	p->functions[p->function_count++] = row;
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
	if (i < p->operator_count || i == OPERATORS_MAX)
		return (uint32_t)i;
	p->operators[i] = (struct live_operator){ .pid = pid, .id = id, .tree = tree };
	snprintf(p->operators[i].name, sizeof(p->operators[i].name), "(ID:%d)", id);
	p->operator_count++;
	return (uint32_t)i;
}

/* "MapOp(ID:2)" is shown as "Map(ID:2)"; names of workers do not tell a number. */
static void name_operator(struct live_operator *op, const char *name)
{
	const char *number = strstr(name, "Op(ID:");

	if (number)
		snprintf(op->name, sizeof(op->name), "%.*s%s", (int)(number - name), name,
			 number + 2);
}

void live_pipeline_roles(struct live_pipeline *p, const struct pbt_packet *packet)
{
	Profbpf__ThreadRoles *m = profbpf__thread_roles__unpack(NULL, packet->size, packet->body);
	size_t rows;

	if (!m || strcmp(m->framework, "MindData") != 0 ||
	    COLUMN_ROWS(&rows, m->n_tid, m->n_operator_id, m->n_name, m->n_tree))
		rows = 0;
	for (size_t i = 0; i < rows && p->thread_count < THREADS_MAX; i++) {
		int32_t id = COLUMN_AT(m, operator_id, i);
		struct known_thread row = { .tid = COLUMN_AT(m, tid, i) };
		size_t at = 0;

		if (id < 0 || id >= OPERATOR_ID_MAX || !m->n_name)
			continue;
		row.op = operator_of(p, m->tgid, COLUMN_AT(m, tree, i), id);
		if (row.op == OPERATORS_MAX)
			break;
		name_operator(&p->operators[row.op], m->name[i]);
		while (at < p->thread_count && p->threads[at].tid != row.tid)
			at++;
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

/* The other half of the value tells which operator's queue it is, and how much it holds. */
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

static void take_call(struct live_pipeline *p, const struct known_function *function, uint32_t pid,
		      uint32_t tid, const uint64_t *args, struct event *event)
{
	uint64_t tree = tree_of(p, tid);

	event->queue = queue_of(p, pid, args[function->handle]);
	event->pop = function->pop;
	event->nth = function->count >= 0 ? args[function->count] + 1 : 0;
	event->first = !function->pop && event->nth == 1;
	if (event->queue == QUEUES_MAX || p->event_count == EVENTS_MAX)
		return;
	if (tree)
		p->queues[event->queue].tree = tree;
	if (function->pop)
		take_owner(&p->queues[event->queue], args[function->value]);
	add_event(p, event);
}

struct values {
	const Profbpf__Calls *m;
	struct column_table table;
	uint64_t *value; /* added up */
};

/* What a row's code stands for; false in a damaged batch. */
static bool value_at(struct values *values, size_t count, const uint32_t *codes, size_t row,
		     uint64_t *value)
{
	size_t entry;

	*value = 0;
	if (!count || !codes[row])
		return true;
	if (!column_table_at(&values->table, codes[row] - 1, &entry))
		return false;
	*value = values->value[entry];
	return true;
}

static bool check_calls(const Profbpf__Calls *m, size_t *rows, size_t *shapes)
{
	return m->n_shape &&
	       !COLUMN_ROWS(rows, m->n_end_ns, m->n_dur_ns, m->n_shape, m->n_ret_value,
			    m->n_value0, m->n_value1, m->n_value2) &&
	       !COLUMN_ROWS(shapes, m->n_tid, m->n_tgid, m->n_function, m->n_flags, m->n_text);
}

static void take_rows(struct live_pipeline *p, const Profbpf__Calls *m, size_t rows, size_t shapes,
		      struct values *values, uint32_t *ids, const struct top_counting *counting)
{
	uint32_t *tgids = ids, *tids = ids + shapes;
	struct column_table table = { .count = shapes };
	uint64_t end_ns = 0;
	int32_t tgid = 0, tid = 0;

	for (size_t i = 0; i < shapes; i++) {
		tgids[i] = (uint32_t)(tgid = column_s32_next(tgid, COLUMN_AT(m, tgid, i)));
		tids[i] = (uint32_t)(tid = column_s32_next(tid, COLUMN_AT(m, tid, i)));
	}
	for (size_t i = 0; i < rows; i++) {
		uint64_t ret, args[3], dur_ns;
		const struct known_function *function;
		uint32_t flags;
		struct event event;
		size_t shape;

		end_ns = (uint64_t)column_s64_next((int64_t)end_ns, COLUMN_AT(m, end_ns, i));
		if (!column_table_at(&table, m->shape[i], &shape) ||
		    !value_at(values, m->n_ret_value, m->ret_value, i, &ret) ||
		    !value_at(values, m->n_value0, m->value0, i, &args[0]) ||
		    !value_at(values, m->n_value1, m->value1, i, &args[1]) ||
		    !value_at(values, m->n_value2, m->value2, i, &args[2]))
			return;
		flags = COLUMN_AT(m, flags, shape);
		/* Open ones have not returned. */
		if (flags & FILE_CALL_OPEN)
			continue;
		dur_ns = flags & FILE_CALL_END_UNKNOWN ? 0 : COLUMN_AT(m, dur_ns, i);
		counting->count(counting->context,
				&(const struct live_called){ .function =
								    COLUMN_AT(m, function, shape),
							    .pid = tgids[shape],
							    .tid = tids[shape],
							    .text = COLUMN_AT(m, text, shape),
							    .depth = flags >> 8 & 0xff,
							    .end_ns = end_ns,
							    .dur_ns = dur_ns,
							    .args = { args[0], args[1],
								      args[2] } });
		function = function_of(p, COLUMN_AT(m, function, shape));
		if (!function || flags & FILE_CALL_END_UNKNOWN)
			continue;
		event = (struct event){ .end_ns = end_ns, .dur_ns = dur_ns };
		take_call(p, function, tgids[shape], tids[shape], args, &event);
	}
}

void live_pipeline_calls(struct live_pipeline *p, const struct pbt_packet *packet,
			const struct top_counting *counting)
{
	Profbpf__Calls *m = profbpf__calls__unpack(NULL, packet->size, packet->body);
	struct values values = { 0 };
	uint32_t *ids = NULL;
	size_t rows, shapes;
	int64_t sum = 0;

	if (!m || !check_calls(m, &rows, &shapes))
		goto cleanup;
	values = (struct values){ .m = m, .table = { .count = m->n_values } };
	values.value = calloc(m->n_values + 1, sizeof(*values.value));
	ids = calloc(2 * shapes + 1, sizeof(*ids));
	if (!values.value || !ids)
		goto cleanup;
	for (size_t i = 0; i < m->n_values; i++) {
		sum = column_s64_next(sum, m->values[i]);
		values.value[i] = (uint64_t)sum;
	}
	take_rows(p, m, rows, shapes, &values, ids, counting);
cleanup:
	free(values.value);
	free(ids);
	profbpf__calls__free_unpacked(m, NULL);
}

static int by_end(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	/* At one instant what was put in can be taken out. */
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

/* Both ends of the queue are told; false if not, or if they cannot be that. */
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

/* Whom a queue belongs to of which no known thread was seen: the only operator with that number, if there is one. */
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
		/* Some operators have the code of a push within their own: neither waits for room nor sizes can be told. */
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

size_t live_pipeline_frame(struct live_pipeline *p, uint64_t from_ns, uint64_t to_ns,
			  struct live_operator **rows)
{
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
	if (!*rows)
		return 0;
	qsort(*rows, p->operator_count, sizeof(**rows), by_number);
	mark_last(*rows, p->operator_count);
	return p->operator_count;
}
