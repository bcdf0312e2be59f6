/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/live/live_loaders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/live/live_instances.h"
#include "daemon/live/loader_operator.h"
#include "lib/base/bisect.h"

#define FUNCTIONS_MAX 64
#define PROCESSES_MAX 4096
#define OPERATORS_MAX 256
#define PATHS_MAX 256
#define THREADS_MAX 1024
#define CHANGES_MAX (1u << 20) /* per frame */
#define ANCESTORS_MAX 8

#define WORKER_NAME "pt_data_worker"
#define PATH_START "Iterator::"
#define BUFFER "Prefetch"

enum call_kind { TENSOR, SEAL, CONTAINS, NEXT, FETCH, FILL };

static const struct {
	const char *symbol; /* begins with */
	enum call_kind kind;
} FUNCTIONS[] = {
	{ "_ZN2at12MapAllocatorC1ENS_6WithFdE", TENSOR },
	{ "_ZN2at12MapAllocatorC2ENS_6WithFdE", TENSOR },
	{ "_ZN6plasma12PlasmaClient4SealE", SEAL },
	{ "_ZN6plasma12PlasmaClient8ContainsE", CONTAINS },
	{ "_ZN10tensorflow4data19DatasetBaseIterator7GetNextE", NEXT },
	{ "_ZN10tensorflow4data16IteratorResource7GetNextE", FETCH },
	{ "_ZN10tensorflow4data16IteratorResource22SetIteratorFromDatasetE", FILL },
};

/* Where the arguments with these roles are; -1 = nowhere. */
struct known_function {
	uint32_t id;
	enum call_kind kind;
	int handle, parent, data;
};

struct process {
	uint32_t pid, parent;
	uint32_t op; /* that it works for; OPERATORS_MAX = none (yet) */
	uint64_t run_ns, runnable_ns; /* of this frame */
	bool names_itself; /* PyTorch's worker */
	bool gone;
};

struct thread {
	uint32_t pid, tid;
	uint32_t op; /* OPERATORS_MAX: determined at the frame */
	bool gone; /* its process has ended */
	uint64_t run_ns, runnable_ns; /* of this frame */
};

struct change {
	uint64_t end_ns, dur_ns;
	uint32_t op; /* OPERATORS_MAX = not found yet: then these tell what to look for */
	uint32_t pid;
	enum call_kind kind;
	bool pop, told; /* told: its duration says whether it waited */
	bool found; /* what it is of, which may be nothing; the rest is of NEXT */
	uint32_t tid, path; /* index into paths */
	uint32_t depth;
	uint64_t handle;
};

struct live_loaders {
	struct known_function functions[FUNCTIONS_MAX];
	struct process *processes; /* by pid */
	struct thread *threads;
	struct loader_operator *ops;
	struct change *changes;
	struct live_instances *instances;
	uint64_t left_out; /* events without room */
	char (*paths)[LOADER_PATH]; /* of tf.data */
	size_t path_count;
	size_t function_count, process_count, thread_count, op_count, change_count, change_room;
};

struct live_loaders *live_loaders_new(void)
{
	struct live_loaders *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->processes = calloc(PROCESSES_MAX, sizeof(*l->processes));
	l->threads = calloc(THREADS_MAX, sizeof(*l->threads));
	l->ops = calloc(OPERATORS_MAX, sizeof(*l->ops));
	l->paths = calloc(PATHS_MAX, sizeof(*l->paths));
	l->instances = live_instances_new();
	if (!l->processes || !l->threads || !l->ops || !l->paths || !l->instances) {
		live_loaders_free(l);
		return NULL;
	}
	return l;
}

void live_loaders_free(struct live_loaders *l)
{
	if (!l)
		return;
	free(l->processes);
	free(l->threads);
	free(l->ops);
	free(l->changes);
	free(l->paths);
	live_instances_free(l->instances);
	free(l);
}

static bool begins(const char *text, const char *with)
{
	return text && strncmp(text, with, strlen(with)) == 0;
}

static const struct known_function *function_of(const struct live_loaders *l, uint32_t id)
{
	for (size_t i = 0; i < l->function_count; i++)
		if (l->functions[i].id == id)
			return &l->functions[i];
	return NULL;
}

uint64_t live_loaders_left_out(const struct live_loaders *l)
{
	return l->left_out;
}

bool live_loaders_function(struct live_loaders *l, const Profbpf__Function *function)
{
	if (function_of(l, function->id))
		return true;
	for (size_t i = 0; i < sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]); i++) {
		if (!begins(function->name, FUNCTIONS[i].symbol))
			continue;
		if (l->function_count == FUNCTIONS_MAX) {
			l->left_out++;
			return false;
		}
		l->functions[l->function_count++] = (struct known_function){
			function->id, FUNCTIONS[i].kind,
			live_role_at(function, PROFBPF__FUNCTION__ROLE__HANDLE),
			live_role_at(function, PROFBPF__FUNCTION__ROLE__CORRELATION),
			live_role_at(function, PROFBPF__FUNCTION__ROLE__VALUE)
		};
		return true;
	}
	return false;
}

/* Where a process stands, or would. */
static size_t place_of(const struct live_loaders *l, uint32_t pid)
{
	return BISECT(i, 0, l->process_count, l->processes[i].pid < pid);
}

static struct process *find_process(const struct live_loaders *l, uint32_t pid)
{
	size_t at = place_of(l, pid);

	return at < l->process_count && l->processes[at].pid == pid ? &l->processes[at] : NULL;
}

void live_loaders_process(struct live_loaders *l, uint32_t pid, uint32_t parent, const char *name)
{
	struct process *p = find_process(l, pid);

	if (!p && l->process_count == PROCESSES_MAX) {
		l->left_out++;
		return;
	}
	if (!p) {
		p = &l->processes[place_of(l, pid)];
		memmove(p + 1, p, (size_t)(&l->processes[l->process_count++] - p) * sizeof(*p));
		*p = (struct process){ .pid = pid, .op = OPERATORS_MAX };
	}
	if (p->parent != parent || !p->names_itself)
		p->op = OPERATORS_MAX;
	p->gone = false;
	p->parent = parent;
	p->names_itself = strcmp(name, WORKER_NAME) == 0;
}

void live_loaders_gone(struct live_loaders *l, uint32_t pid)
{
	struct process *p = find_process(l, pid);

	if (p)
		p->gone = true;
	for (size_t i = 0; i < l->op_count; i++)
		l->ops[i].gone |= l->ops[i].pid == pid;
	for (size_t i = 0; i < l->thread_count; i++)
		l->threads[i].gone |= l->threads[i].pid == pid;
}

static void drop_gone(struct live_loaders *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->process_count; i++)
		if (!l->processes[i].gone)
			l->processes[kept++] = l->processes[i];
	l->process_count = kept;
}

/* Index of an operator, made if it is new; OPERATORS_MAX = no room. */
static uint32_t operator_of(struct live_loaders *l, uint32_t pid, uint32_t instance,
			    const char *path)
{
	size_t i = 0;

	while (i < l->op_count && (l->ops[i].pid != pid || l->ops[i].instance != instance ||
				   strcmp(l->ops[i].path, path) != 0))
		i++;
	l->left_out += i == OPERATORS_MAX;
	if (i < l->op_count || i == OPERATORS_MAX)
		return (uint32_t)i;
	l->ops[i] = (struct loader_operator){ .pid = pid, .instance = instance };
	snprintf(l->ops[i].path, sizeof(l->ops[i].path), "%s", path);
	l->op_count++;
	return (uint32_t)i;
}

/* The loader of the nearest ancestor with one; OPERATORS_MAX = none. */
static uint32_t loader_above(const struct live_loaders *l, uint32_t pid, const char *path)
{
	for (int n = 0; n < ANCESTORS_MAX; n++) {
		const struct process *p = find_process(l, pid);

		if (!p)
			break;
		pid = p->parent;
		for (uint32_t i = 0; i < l->op_count; i++)
			if (l->ops[i].pid == pid && strcmp(l->ops[i].path, path) == 0)
				return i;
	}
	return OPERATORS_MAX;
}

static void add_change(struct live_loaders *l, const struct change *change)
{
	if (l->change_count == l->change_room) {
		size_t room = l->change_room ? 2 * l->change_room : 1024;
		struct change *grown = room <= CHANGES_MAX
					       ? reallocarray(l->changes, room, sizeof(*grown))
					       : NULL;

		l->left_out += !grown;
		if (!grown)
			return;
		l->changes = grown;
		l->change_room = room;
	}
	l->changes[l->change_count++] = *change;
}

/*
 * A process pushed or popped an element. Its queue is determined at the frame, because the trainer's first
 * call may arrive after many calls of its workers, from another CPU.
 */
static void take_handed(struct live_loaders *l, const struct live_called *call, enum call_kind kind)
{
	add_change(l, &(struct change){ .end_ns = call->end_ns,
					.op = OPERATORS_MAX,
					.pid = call->pid,
					.kind = kind });
}

static const char *loader_path(enum call_kind kind)
{
	return kind == TENSOR ? LIVE_TORCH : "MegEngine workers";
}

static void find_taken(struct live_loaders *l, struct change *change)
{
	const struct process *p = find_process(l, change->pid);

	change->pop = change->kind == CONTAINS || (change->kind == TENSOR && !(p && p->names_itself));
	if (change->pop)
		change->op = operator_of(l, change->pid, 0, loader_path(change->kind));
}

static void find_handed(struct live_loaders *l, struct change *change)
{
	struct process *p = find_process(l, change->pid);

	change->op = loader_above(l, change->pid, loader_path(change->kind));
	if (p && change->op != OPERATORS_MAX)
		p->op = change->op;
}

/* A process that pops is a trainer; its queue is the one for its workers. */
static void find_queues(struct live_loaders *l)
{
	for (size_t i = 0; i < l->change_count; i++)
		if (l->changes[i].op == OPERATORS_MAX && l->changes[i].kind != NEXT)
			find_taken(l, &l->changes[i]);
	for (size_t i = 0; i < l->change_count; i++)
		if (l->changes[i].op == OPERATORS_MAX && l->changes[i].kind != NEXT &&
		    !l->changes[i].pop)
			find_handed(l, &l->changes[i]);
}

static struct thread *find_thread(const struct live_loaders *l, uint32_t tid)
{
	for (size_t i = 0; i < l->thread_count; i++)
		if (l->threads[i].tid == tid)
			return &l->threads[i];
	return NULL;
}

/* A thread that asks as the outermost call is the thread of the operator above, which gets the element. */
static void find_above(struct live_loaders *l, const struct change *call, uint32_t instance)
{
	const char *path = l->paths[call->path], *name = live_last_name(path);
	struct change change = *call;
	char above[LOADER_PATH];

	if (call->depth || name < path + strlen(PATH_START) + 2)
		return;
	snprintf(above, sizeof(above), "%.*s", (int)(name - 2 - path), path);
	change.op = operator_of(l, call->pid, instance, above);
	change.pop = false;
	if (change.op == OPERATORS_MAX)
		return;
	if (find_thread(l, call->tid))
		find_thread(l, call->tid)->op = change.op;
	l->ops[change.op].buffer = begins(live_last_name(above), BUFFER);
	if (l->ops[change.op].buffer)
		add_change(l, &change);
}

/* Finds the operator that was asked for an element; an operator with a buffer took it from there. */
static void find_next(struct live_loaders *l, struct change *change, uint32_t instance)
{
	const char *path = l->paths[change->path];
	uint32_t op = operator_of(l, change->pid, instance, path);

	if (op == OPERATORS_MAX)
		return;
	l->ops[op].elements++;
	l->ops[op].buffer = begins(live_last_name(path), BUFFER);
	if (!l->ops[op].buffer)
		return;
	l->ops[op].times_pops = true;
	change->op = op;
	change->pop = true;
}

/* Assigns iterators to data sets at the frame: the parent's call is recorded only when it has returned itself. */
static void find_iterators(struct live_loaders *l)
{
	size_t count = l->change_count;

	for (size_t i = 0; i < count; i++)
		if (l->changes[i].kind == NEXT && !l->changes[i].found)
			live_instances_made(l->instances, l->changes[i].pid, l->changes[i].handle,
					   l->changes[i].path,
					   (uint32_t)strlen(l->paths[l->changes[i].path]));
	for (size_t i = 0; i < count; i++) {
		struct change change = l->changes[i];
		uint32_t instance;

		if (change.kind != NEXT || change.found)
			continue;
		instance = live_instances_of(l->instances, change.pid, change.handle,
					    change.end_ns - change.dur_ns, change.end_ns);
		change.found = true;
		find_next(l, &change, instance);
		find_above(l, &change, instance);
		l->changes[i] = change;
	}
}

/* PATHS_MAX = too long, or no room. */
static uint32_t path_number(struct live_loaders *l, const char *path)
{
	char plain[LOADER_PATH];
	size_t i = 0;

	if (!live_plain_path(path, plain, sizeof(plain))) {
		l->left_out++;
		return PATHS_MAX;
	}
	while (i < l->path_count && strcmp(l->paths[i], plain) != 0)
		i++;
	l->left_out += i == PATHS_MAX;
	if (i == l->path_count && i < PATHS_MAX)
		memcpy(l->paths[l->path_count++], plain, sizeof(plain));
	return (uint32_t)i;
}

static uint64_t argument(const struct live_called *call, int at)
{
	return at < 0 ? 0 : call->args[at];
}

static void take_next(struct live_loaders *l, const struct live_called *call, uint64_t handle,
		      uint64_t parent, const char *path)
{
	struct change change = { .end_ns = call->end_ns,
				 .dur_ns = call->dur_ns,
				 .op = OPERATORS_MAX,
				 .pid = call->pid,
				 .tid = call->tid,
				 .depth = call->depth,
				 .handle = handle,
				 .kind = NEXT,
				 .told = true };

	if (!begins(path, PATH_START))
		return;
	change.path = path_number(l, path);
	if (change.path == PATHS_MAX)
		return;
	if (!call->depth && !find_thread(l, call->tid) && l->thread_count == THREADS_MAX)
		l->left_out++;
	else if (!call->depth && !find_thread(l, call->tid))
		l->threads[l->thread_count++] = (struct thread){ .pid = call->pid, .tid = call->tid, .op = OPERATORS_MAX };
	live_instances_asked(l->instances, call->pid, call->tid, handle, parent);
	add_change(l, &change);
}

void live_loaders_call(struct live_loaders *l, const struct live_called *call, const char *path)
{
	const struct known_function *function = function_of(l, call->function);
	uint64_t handle = function ? argument(call, function->handle) : 0;

	if (!function)
		return;
	switch (function->kind) {
	case NEXT:
		take_next(l, call, handle, argument(call, function->parent), path);
		break;
	case FETCH: live_instances_fetched(l->instances, call->pid, call->tid, handle); break;
	case FILL:
		live_instances_filled(l->instances, call->pid, handle,
				     argument(call, function->data));
		break;
	default: take_handed(l, call, function->kind); break;
	}
}

void live_loaders_ran(struct live_loaders *l, uint32_t pid, uint32_t tid, uint64_t run_ns,
		     uint64_t runnable_ns)
{
	struct thread *t = find_thread(l, tid);
	struct process *p = find_process(l, pid);

	if (t) {
		t->run_ns += run_ns;
		t->runnable_ns += runnable_ns;
	} else if (p) {
		p->run_ns += run_ns;
		p->runnable_ns += runnable_ns;
	}
}

/* Credits the usage of threads to their operator, and that of worker processes to their loader. */
static void credit_workers(struct live_loaders *l)
{
	for (size_t i = 0; i < l->thread_count; i++) {
		struct thread *t = &l->threads[i];

		if (t->op != OPERATORS_MAX) {
			l->ops[t->op].run_ns += t->run_ns;
			l->ops[t->op].runnable_ns += t->runnable_ns;
		}
		t->run_ns = t->runnable_ns = 0;
	}
	for (size_t i = 0; i < l->process_count; i++) {
		struct process *p = &l->processes[i];

		if (p->op != OPERATORS_MAX) {
			l->ops[p->op].run_ns += p->run_ns;
			l->ops[p->op].runnable_ns += p->runnable_ns;
		}
		p->run_ns = p->runnable_ns = 0;
	}
}

static int by_end(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	/* At equal instants a push comes before a pop. */
	return x->pop - y->pop;
}

static void apply(struct live_loaders *l, const struct change *change)
{
	struct loader_operator *op;

	if (change->op == OPERATORS_MAX)
		return;
	op = &l->ops[change->op];
	if (change->kind != NEXT) {
		op->buffer = true;
		op->elements += change->pop;
	}
	if (change->pop)
		loader_operator_pop(op, change->end_ns, change->dur_ns, change->told);
	else
		loader_operator_push(op, change->end_ns);
}

/* @place: where operators are now, by where they were; OPERATORS_MAX = nowhere */
static void drop_threads(struct live_loaders *l, const uint32_t *place)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->thread_count; i++) {
		struct thread t = l->threads[i];

		if (t.gone || (t.op != OPERATORS_MAX && place[t.op] == OPERATORS_MAX))
			continue;
		t.op = place[t.op];
		l->threads[kept++] = t;
	}
	l->thread_count = kept;
}

static void drop_changes(struct live_loaders *l, const uint32_t *place)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->change_count; i++) {
		struct change c = l->changes[i];

		if (c.op != OPERATORS_MAX && place[c.op] == OPERATORS_MAX)
			continue;
		c.op = place[c.op];
		l->changes[kept++] = c;
	}
	l->change_count = kept;
}

/* Drops operators of processes that have ended; the rest of their last calls is ignored. */
static void drop_operators(struct live_loaders *l)
{
	uint32_t place[OPERATORS_MAX + 1];
	size_t kept = 0;

	place[OPERATORS_MAX] = OPERATORS_MAX;
	for (size_t i = 0; i < l->op_count; i++) {
		place[i] = l->ops[i].gone ? OPERATORS_MAX : (uint32_t)kept;
		if (l->ops[i].gone)
			live_instances_gone(l->instances, l->ops[i].pid);
		else
			l->ops[kept++] = l->ops[i];
	}
	drop_threads(l, place);
	if (kept == l->op_count)
		return;
	l->op_count = kept;
	for (size_t i = 0; i < l->process_count; i++)
		l->processes[i].op = place[l->processes[i].op];
	drop_changes(l, place);
	if (!l->op_count && !l->change_count)
		l->path_count = 0;
}

size_t live_loaders_frame(struct live_loaders *l, uint64_t from_ns, uint64_t to_ns,
			 struct live_operator **rows, size_t count)
{
	struct live_operator *all;
	size_t done = 0;

	for (size_t i = 0; i < l->op_count; i++)
		loader_operator_begin(&l->ops[i], from_ns);
	find_queues(l);
	find_iterators(l);
	credit_workers(l);
	if (l->change_count)
		qsort(l->changes, l->change_count, sizeof(*l->changes), by_end);
	/* Calls that ended later may still be missing, from other CPUs. */
	for (; done < l->change_count && l->changes[done].end_ns <= to_ns; done++)
		apply(l, &l->changes[done]);
	l->change_count -= done;
	if (done)
		memmove(l->changes, l->changes + done, l->change_count * sizeof(*l->changes));
	drop_gone(l);
	all = reallocarray(*rows, count + l->op_count + 1, sizeof(*all));
	if (!all)
		return count;
	*rows = all;
	for (size_t i = 0; i < l->op_count; i++)
		loader_operator_show(&l->ops[i], from_ns, to_ns, (int32_t)i, &all[count + i]);
	count += l->op_count;
	drop_operators(l);
	return count;
}
