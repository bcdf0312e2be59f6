/* SPDX-License-Identifier: Apache-2.0 */
/* unwinder.c - the thread: reads processes' mappings, makes and frees tables. unwinder_sessions.c has the requests. */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>

#include "daemon/profbpfd/capture/programs.h"
#include "daemon/profbpfd/control/priority.h"
#include "daemon/profbpfd/stacks/unwind_files.h"
#include "daemon/profbpfd/stacks/unwinder_private.h"

#define PUBLISH_NS 10000000ull /* interval of publishing finished tables while further ones are made */
#define TRIES 5 /* the kernel refills its preallocated memory for map elements with a short delay */

uint64_t unwinder_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct unwinder *unwinder_new(void)
{
	struct unwinder *u = calloc(1, sizeof(*u));
	pthread_condattr_t attributes;

	if (!u)
		return NULL;
	pthread_mutex_init(&u->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&u->wake, &attributes);
	pthread_cond_init(&u->done, &attributes);
	pthread_condattr_destroy(&attributes);
	return u;
}

/* Frees a process that holds no tables. */
static void free_process(struct process *p)
{
	code_maps_free(&p->maps);
	free(p->mapping);
	free(p->held);
	free(p->no_room);
	free(p->wanted);
	free(p->more);
	free(p);
}

/* Releases the tables of a process that no program sees any more. Called by the thread; @p may be NULL. */
static void drop_process(struct unwinder *u, struct process *p)
{
	if (!p)
		return;
	if (p->held)
		unwind_files_drop_all(u->files, p->held, p->maps.count, p->user);
	free_process(p);
}

/* The caller holds the lock. Releases the tables of processes that are gone. */
static void drop_gone(struct unwinder *u)
{
	struct process *gone = u->gone, *next;

	u->gone = NULL;
	pthread_mutex_unlock(&u->lock);
	for (; gone; gone = next) {
		next = gone->next;
		drop_process(u, gone);
	}
	pthread_mutex_lock(&u->lock);
}

static void forget_tables(struct unwinder *u)
{
	unwind_files_free(u->files);
	unwind_store_free(u->store);
	u->files = NULL;
	u->store = NULL;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	pthread_mutex_lock(&u->lock);
	u->stopping = true;
	pthread_cond_signal(&u->wake);
	pthread_mutex_unlock(&u->lock);
	if (u->started)
		pthread_join(u->thread, NULL);
	pthread_mutex_lock(&u->lock);
	drop_gone(u);
	pthread_mutex_unlock(&u->lock);
	forget_tables(u);
	pthread_cond_destroy(&u->wake);
	pthread_cond_destroy(&u->done);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

void unwinder_leave_process(struct unwinder *u, struct process *p)
{
	if (!p)
		return;
	p->next = u->gone;
	u->gone = p;
	pthread_cond_signal(&u->wake);
}

int unwinder_compare(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

struct process *unwinder_take_process(struct unwinder_session *s, pid_t pid)
{
	struct process key = { .pid = pid }, *process;
	struct process **found = tfind(&key, &s->processes, unwinder_compare);

	if (!found)
		return NULL;
	process = *found;
	tdelete(&key, &s->processes, unwinder_compare);
	return process;
}

/* Returns the index of the same mapping of the same file in @before, whose table it keeps, or -1. */
static ssize_t known_mapping(const struct process *before, const struct code_map *map)
{
	const struct code_map *old = before ? code_maps_find(&before->maps, map->map.start) : NULL;
	size_t place = old ? (size_t)(old - before->maps.map) : 0;

	if (!old || old->map.start != map->map.start || old->map.end != map->map.end ||
	    old->map.offset != map->map.offset || old->map.inode != map->map.inode || old->map.dev != map->map.dev ||
	    before->no_room[place])
		return -1;
	return (ssize_t)place;
}

/* If there are too many mappings, the ones with the highest addresses are left out. */
static void fill_scratch(struct unwinder *u, const struct process *p)
{
	uint32_t count = p->maps.count < UNWIND_MAPPINGS ? (uint32_t)p->maps.count : UNWIND_MAPPINGS;

	u->scratch.count = count;
	u->scratch.whole = count == p->maps.count;
	u->scratch.version = ++u->versions;
	memcpy(u->scratch.mapping, p->mapping, count * sizeof(p->mapping[0]));
	for (uint32_t i = count; i < UNWIND_MAPPINGS; i++)
		u->scratch.mapping[i] = (struct unwind_mapping){ .start = UINT64_MAX };
}

/* If the map has no room, the previous element must not stay, because its tables are released. */
bool unwinder_publish(struct unwinder *u, struct unwinder_session *s, const struct process *p)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	uint32_t key = (uint32_t)p->pid;
	bool wanted;
	int err;

	fill_scratch(u, p);
	for (int i = 0; i < TRIES; i++) {
		pthread_mutex_lock(&u->lock);
		wanted = !s->dropped;
		/* The session has not begun: unwinder_begin() publishes it. */
		if (s->map < 0) {
			pthread_mutex_unlock(&u->lock);
			break;
		}
		err = wanted && bpf_map_update_elem(s->map, &key, &u->scratch, BPF_ANY) ? errno : 0;
		if (err && i == TRIES - 1) {
			bpf_map_delete_elem(s->map, &key);
			s->left_out.processes++;
		}
		pthread_mutex_unlock(&u->lock);
		if (!err)
			break;
		nanosleep(&pause, NULL);
	}
	return wanted;
}

/* The mappings with the most code come last, because their tables take longest. */
static int by_size(const void *a, const void *b, void *context)
{
	const struct process *p = context;
	const struct unwind_mapping *x = &p->mapping[*(const uint32_t *)a], *y = &p->mapping[*(const uint32_t *)b];

	return x->end - x->start < y->end - y->start ? -1 : x->end - x->start > y->end - y->start;
}

/* Takes known mappings over from @before, writes the indices of the others to @missing, and returns their number. */
static uint32_t put_known(struct process *p, const struct process *before, uint32_t *missing)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < p->maps.count; i++) {
		const struct process_map *map = &p->maps.map[i].map;
		ssize_t known = known_mapping(before, &p->maps.map[i]);

		p->mapping[i] = known >= 0 ? before->mapping[known] :
					     (struct unwind_mapping){ .start = map->start, .end = map->end };
		if (known >= 0) {
			p->held[i] = unwind_files_hold(before->held[known], p->user);
			p->more[i] = before->more[known];
		}
		/* No table, or unwind_files_hold() had no memory. */
		if (!p->held[i])
			p->mapping[i].pages = 0;
		if (known < 0 && i < UNWIND_MAPPINGS)
			missing[count++] = i;
	}
	qsort_r(missing, count, sizeof(*missing), by_size, p);
	return count;
}

/* CPU time: delays by other load on the machine do not count for the process. */
static uint64_t own_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A table that is made. */
struct making {
	struct unwinder *unwinder;
	struct unwinder_session *session;
	struct process *process;
	uint32_t place;
};

static void publish_begun(void *context, const struct unwind_mapping *mapping)
{
	struct making *m = context;

	m->process->mapping[m->place] = *mapping;
	unwinder_publish(m->unwinder, m->session, m->process);
}

/* A table without room is tried again each time: that time counts for the process, as reading its mappings does. */
static void find_table(struct unwinder *u, struct unwinder_session *s, struct process *p, uint32_t place)
{
	struct making making = { u, s, p, place };
	const struct unwind_user soon = { publish_begun, &making };
	struct unwind_mapping mapping;
	uint64_t began_ns = own_time();

	p->no_room[place] = unwind_files_map(u->files, p->pid, &p->maps.map[place].map, UNWIND_TOLD, p->user, &soon,
					     &mapping, &p->held[place]) != 0;
	p->mapping[place] = mapping;
	p->more[place] = unwind_files_more(p->held[place]);
	if (p->no_room[place])
		p->took_ns += own_time() - began_ns;
}

static void find_tables(struct unwinder *u, struct unwinder_session *s, struct process *p, const struct process *before)
{
	uint32_t missing[UNWIND_MAPPINGS], count = put_known(p, before, missing);
	uint64_t published_ns = unwinder_now(), files = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t place;

		/* With hundreds of files left, code in which walks ended comes first. */
		pthread_mutex_lock(&u->lock);
		seen_code_first(&s->seen, &p->maps, missing + i, count - i);
		pthread_mutex_unlock(&u->lock);
		place = missing[i];
		find_table(u, s, p, place);
		files += p->no_room[place];
		if (unwinder_now() - published_ns < PUBLISH_NS)
			continue;
		if (!unwinder_publish(u, s, p))
			return;
		published_ns = unwinder_now();
	}
	unwinder_publish(u, s, p);
	pthread_mutex_lock(&u->lock);
	if (files > s->left_out.files)
		s->left_out.files = files;
	if (p->maps.count > UNWIND_MAPPINGS && p->maps.count - UNWIND_MAPPINGS > s->left_out.mappings)
		s->left_out.mappings = p->maps.count - UNWIND_MAPPINGS;
	pthread_mutex_unlock(&u->lock);
}

static struct process *read_process(const struct right *right, pid_t pid)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->took_ns = own_time();
	p->pid = pid;
	p->user = right ? right->uid : (uid_t)-1;
	if (!code_maps_read(pid, &p->maps) && p->maps.count && right_holds(right, pid)) {
		p->took_ns = own_time() - p->took_ns;
		p->mapping = calloc(p->maps.count, sizeof(*p->mapping));
		p->held = calloc(p->maps.count, sizeof(struct unwind_file *));
		p->no_room = calloc(p->maps.count, sizeof(*p->no_room));
		p->wanted = calloc(p->maps.count, sizeof(*p->wanted));
		p->more = calloc(p->maps.count, sizeof(*p->more));
		if (p->mapping && p->held && p->no_room && p->wanted && p->more)
			return p;
	}
	free_process(p);
	return NULL;
}

/* The caller holds the lock. Withdraws a process that cannot be read or is not the user's any more. */
static void take_back(struct unwinder_session *s, pid_t pid)
{
	uint32_t key = (uint32_t)pid;

	bpf_map_delete_elem(s->map, &key);
}

/*
 * Runs with raised priority: samples have no callers until the files' tables exist, which could take seconds on a busy
 * machine. Not for an ordinary user, who may have many files.
 */
static struct process *look_soon(struct unwinder *u, struct unwinder_session *s, const struct right *right, pid_t pid,
				 const struct process *before)
{
	struct process *p;

	if (!right_limited(right))
		priority_raise();
	p = read_process(right, pid);
	if (p)
		find_tables(u, s, p, before);
	if (!right_limited(right))
		priority_lower();
	return p;
}

/* Reads the mappings of a process and makes its tables. The caller holds the lock, which is released meanwhile. */
static void look(struct unwinder *u, struct unwinder_session *s, pid_t pid)
{
	struct process *before = unwinder_take_process(s, pid), *p;
	const struct right *right = s->right;

	s->looked_at = pid;
	s->looked_took_ns = before ? before->took_ns : 0;
	s->dropped = false;
	s->seen.count = 0;
	pthread_mutex_unlock(&u->lock);
	p = look_soon(u, s, right, pid, before);
	if (p)
		p->looked_ns = unwinder_now();
	pthread_mutex_lock(&u->lock);
	if (!p && before)
		take_back(s, pid);
	pthread_mutex_unlock(&u->lock);
	drop_process(u, before);
	pthread_mutex_lock(&u->lock);
	if (p && (s->dropped || !tsearch(p, &s->processes, unwinder_compare))) {
		take_back(s, pid);
		unwinder_leave_process(u, p);
	}
	s->looked_at = 0;
	pthread_cond_broadcast(&u->done);
}

/* Waits for a wake-up, at most until @due_ns; 0: without a limit. */
static void wait_for(struct unwinder *u, uint64_t due_ns)
{
	const struct timespec until = { .tv_sec = (time_t)(due_ns / 1000000000),
					.tv_nsec = (long)(due_ns % 1000000000) };

	if (due_ns)
		pthread_cond_timedwait(&u->wake, &u->lock, &until);
	else
		pthread_cond_wait(&u->wake, &u->lock);
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* The caller holds the lock. Returns the next session with due work; NULL: none before *@due_ns (0: no work at all). */
static struct unwinder_session *whose_turn(struct unwinder *u, uint64_t *due_ns)
{
	struct unwinder_session *s = u->turn;
	uint64_t now_ns = unwinder_now();

	*due_ns = 0;
	if (!s)
		return NULL;
	do {
		if (s->first && s->first->due_ns <= now_ns) {
			u->turn = s->next;
			return s;
		}
		if (s->first)
			*due_ns = sooner(*due_ns, s->first->due_ns);
		s = s->next;
	} while (s != u->turn);
	return NULL;
}

static void take_request(struct unwinder *u, struct unwinder_session *s)
{
	struct request *request = s->first;

	s->first = request->next;
	s->request_count--;
	if (request->more)
		unwinder_derive(u, s, request->pid);
	else
		look(u, s, request->pid);
	free(request);
}

/* The caller holds the lock. Frees old tables; returns the time of the next call, or 0. */
static uint64_t trim(struct unwinder *u)
{
	uint64_t due_ns;

	if (!u->files)
		return 0;
	pthread_mutex_unlock(&u->lock);
	due_ns = unwind_files_trim(u->files, unwinder_now());
	pthread_mutex_lock(&u->lock);
	if (!due_ns && !u->sessions && !u->gone)
		forget_tables(u);
	return due_ns;
}

static void *run(void *context)
{
	struct unwinder *u = context;
	struct unwinder_session *session;
	uint64_t due_ns, trim_ns;

	pthread_setname_np(pthread_self(), "profbpfd/unwind");
	pthread_mutex_lock(&u->lock);
	while (!u->stopping) {
		if (u->gone)
			drop_gone(u);
		trim_ns = trim(u);
		session = whose_turn(u, &due_ns);
		if (session)
			take_request(u, session);
		else if (!u->gone && !u->stopping)
			wait_for(u, sooner(due_ns, trim_ns));
	}
	pthread_mutex_unlock(&u->lock);
	return NULL;
}

bool unwinder_is_ready(struct unwinder *u)
{
	if (!u->store)
		u->store = unwind_store_new();
	if (u->store && !u->files)
		u->files = unwind_files_new(u->store, programs_wait);
	if (u->files && !u->started)
		u->started = !pthread_create(&u->thread, NULL, run, u);
	return u->files && u->started;
}
