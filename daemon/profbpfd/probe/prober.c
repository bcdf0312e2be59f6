/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/prober.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "lib/base/map.h"

#define LOOK_SECONDS 1

struct job {
	struct job *next;
	pid_t pid; /* 0: look up addresses */
	bool forget;
	uint64_t began_ns; /* the process, or its program, began then; 0: it was there */
	uint64_t tail; /* target of a function's tail jump; 0 = none */
	uint32_t probe; /* with @tail: that function's */
	uint64_t ts_ns; /* of the end that it is forgotten for; else of the event that caused the job */
};

struct prober {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct job *first, **last;
	struct job **scans; /* those that have not begun and serve further requests; at most one per process */
	size_t scan_count, scan_room;
	struct map scan_of; /* index in @scans, by process id */
	bool ending;
	struct timespec look; /* time of the next check of the probes' cost */
	struct probes *probes;
	struct code_names *code_names;
	uint32_t functions, files; /* read by other threads */
};

static bool time_to_look(struct prober *p)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec < p->look.tv_sec ||
	    (now.tv_sec == p->look.tv_sec && now.tv_nsec < p->look.tv_nsec))
		return false;
	p->look = now;
	p->look.tv_sec += LOOK_SECONDS;
	return true;
}

static struct job *scan_of(const struct prober *p, pid_t pid)
{
	uint32_t index = map_get(&p->scan_of, (uint64_t)pid);

	return index == MAP_NONE ? NULL : p->scans[index];
}

/* Without memory the scan just serves no other request. */
static void add_scan(struct prober *p, struct job *job)
{
	size_t room = p->scan_room ? 2 * p->scan_room : 64;
	struct job **grown;

	if (p->scan_count == p->scan_room) {
		grown = reallocarray(p->scans, room, sizeof(struct job *));
		if (!grown)
			return;
		p->scans = grown;
		p->scan_room = room;
	}
	if (map_put(&p->scan_of, (uint64_t)job->pid, (uint32_t)p->scan_count))
		p->scans[p->scan_count++] = job;
}

/* @job is a scan that serves no further request, or no scan. */
static void remove_scan(struct prober *p, const struct job *job)
{
	uint32_t index = map_get(&p->scan_of, (uint64_t)job->pid);
	struct job *last;

	if (index == MAP_NONE || p->scans[index] != job)
		return;
	map_remove(&p->scan_of, (uint64_t)job->pid);
	last = p->scans[--p->scan_count];
	p->scans[index] = last;
	if (last != job)
		map_put(&p->scan_of, (uint64_t)last->pid, index);
}

static struct job *take_first(struct prober *p)
{
	struct job *job = p->first;

	remove_scan(p, job);
	p->first = job->next;
	if (!p->first)
		p->last = &p->first;
	return job;
}

/* Returns false at the end. If *@job is NULL, the cost has to be checked. */
static bool next_job(struct prober *p, struct job **job)
{
	bool look, ending;

	pthread_mutex_lock(&p->lock);
	while (!(look = time_to_look(p)) && !p->first && !p->ending)
		pthread_cond_timedwait(&p->filled, &p->lock, &p->look);
	ending = p->ending;
	*job = look || ending ? NULL : take_first(p);
	pthread_mutex_unlock(&p->lock);
	return !ending;
}

static void do_job(struct prober *p, const struct job *job)
{
	if (!job)
		probes_look(p->probes);
	else if (!job->pid)
		code_names_resolve(p->code_names);
	else if (job->forget)
		probes_ended(p->probes, job->pid, job->ts_ns);
	else if (job->tail)
		probes_tail(p->probes, job->pid, job->tail, job->probe);
	else if (probes_follow(p->probes, job->pid, job->ts_ns, job->began_ns) == -ESRCH && job->began_ns)
		probes_missed(p->probes, job->pid, job->ts_ns);
}

static void note_counts(struct prober *p)
{
	__atomic_store_n(&p->functions, probes_functions(p->probes), __ATOMIC_RELAXED);
	__atomic_store_n(&p->files, probes_files(p->probes), __ATOMIC_RELAXED);
}

void prober_counts(const struct prober *prober, uint32_t *functions, uint32_t *files)
{
	*functions = __atomic_load_n(&prober->functions, __ATOMIC_RELAXED);
	*files = __atomic_load_n(&prober->files, __ATOMIC_RELAXED);
}

static void *run(void *context)
{
	struct prober *p = context;
	struct job *job;

	pthread_setname_np(pthread_self(), "profbpfd/probe");
	while (next_job(p, &job)) {
		do_job(p, job);
		note_counts(p);
		free(job);
	}
	return NULL;
}

static void make_condition(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

struct prober *prober_new(struct probes *probes, struct code_names *code_names)
{
	struct prober *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->probes = probes;
	p->code_names = code_names;
	p->last = &p->first;
	note_counts(p);
	pthread_mutex_init(&p->lock, NULL);
	make_condition(&p->filled);
	if (pthread_create(&p->thread, NULL, run, p)) {
		free(p);
		return NULL;
	}
	return p;
}

static void append(struct prober *p, struct job *job)
{
	struct job *scan = scan_of(p, job->pid);

	*p->last = job;
	p->last = &job->next;
	if (job->forget && scan)
		remove_scan(p, scan);
	else if (!job->forget && !job->tail)
		add_scan(p, job);
	pthread_cond_signal(&p->filled);
}

/*
 * A process that loads many libraries causes many requests: one scan that has not begun serves all of them. If the
 * process is forgotten after that scan, the request is for another process with its id.
 */
static void ask(struct prober *p, struct job asked)
{
	struct job *job;

	pthread_mutex_lock(&p->lock);
	job = asked.forget || asked.tail ? NULL : scan_of(p, asked.pid);
	if (job) {
		if (job->began_ns < asked.began_ns)
			job->began_ns = asked.began_ns;
	} else if ((job = malloc(sizeof(*job)))) {
		*job = asked;
		append(p, job);
	}
	pthread_mutex_unlock(&p->lock);
}

void prober_scan(struct prober *p, pid_t pid, bool began, uint64_t ts_ns)
{
	ask(p, (struct job){ .pid = pid, .began_ns = began ? ts_ns : 0, .ts_ns = ts_ns });
}

void prober_forget(struct prober *p, pid_t pid, uint64_t ended_ns)
{
	ask(p, (struct job){ .pid = pid, .forget = true, .ts_ns = ended_ns });
}

void prober_tail(struct prober *p, pid_t pid, uint64_t address, uint32_t probe)
{
	ask(p, (struct job){ .pid = pid, .tail = address, .probe = probe });
}

void prober_resolve(struct prober *p)
{
	if (p->code_names)
		ask(p, (struct job){ .pid = 0 });
}

void prober_free(struct prober *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->ending = true;
	pthread_cond_signal(&p->filled);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	while (p->first) {
		struct job *next = p->first->next;

		if (p->first->began_ns)
			probes_missed(p->probes, p->first->pid, p->first->ts_ns);
		free(p->first);
		p->first = next;
	}
	free(p->scans);
	map_free(&p->scan_of);
	pthread_cond_destroy(&p->filled);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
