/* SPDX-License-Identifier: Apache-2.0 */
/* unwinder_sessions.c - the requests of sessions to the unwinder's thread. */
#include <search.h>
#include <stdlib.h>

#include <bpf/bpf.h>

#include "daemon/profbpfd/stacks/unwind_store.h"
#include "daemon/profbpfd/stacks/unwinder_private.h"

#define REQUESTS_MAX 4096 /* pending requests of one session */
#define LOOK_AGAIN_NS 10000000ull /* a process that maps code soon maps more */
#define LOOK_SHARE 20 /* minimum of pause / duration (struct process): other processes wait for the thread */

static void enter_ring(struct unwinder *u, struct unwinder_session *s)
{
	s->next = u->turn ? u->turn : s;
	s->previous = u->turn ? u->turn->previous : s;
	s->next->previous = s->previous->next = s;
	u->turn = s;
	u->sessions++;
}

static void leave_ring(struct unwinder *u, struct unwinder_session *s)
{
	s->next->previous = s->previous;
	s->previous->next = s->next;
	if (u->turn == s)
		u->turn = s->next == s ? NULL : s->next;
	u->sessions--;
}

struct unwinder_session *unwinder_join(struct unwinder *u)
{
	struct unwinder_session *s = calloc(1, sizeof(*s));
	bool ready;

	if (!s)
		return NULL;
	s->unwinder = u;
	s->map = -1;
	pthread_mutex_lock(&u->lock);
	ready = unwinder_is_ready(u);
	if (ready)
		enter_ring(u, s);
	pthread_mutex_unlock(&u->lock);
	if (ready)
		return s;
	free(s);
	return NULL;
}

int unwinder_shards(const struct unwinder_session *s)
{
	return unwind_store_shards(s->unwinder->store);
}

int unwinder_rules(const struct unwinder_session *s)
{
	return unwind_store_rules(s->unwinder->store);
}

/* Drops the requests for process @pid, or for all if @pid is 0. */
static void drop_requests(struct unwinder_session *s, pid_t pid)
{
	struct request **at = &s->first;

	while (*at) {
		struct request *request = *at;

		if (pid && request->pid != pid) {
			at = &request->next;
			continue;
		}
		*at = request->next;
		s->request_count--;
		free(request);
	}
}

void unwinder_leave(struct unwinder_session *s)
{
	struct unwinder *u;

	if (!s)
		return;
	u = s->unwinder;
	pthread_mutex_lock(&u->lock);
	drop_requests(s, 0);
	while (s->looked_at) {
		s->dropped = true;
		pthread_cond_wait(&u->done, &u->lock);
	}
	while (s->processes)
		unwinder_leave_process(u, unwinder_take_process(s, (*(struct process **)s->processes)->pid));
	leave_ring(u, s);
	pthread_cond_signal(&u->wake);
	pthread_mutex_unlock(&u->lock);
	free(s);
}

/* Returns when the process may be handled again; 0 if it was not handled before. */
static uint64_t due_again(struct unwinder_session *s, pid_t pid)
{
	struct process key = { .pid = pid };
	struct process *const *found = tfind(&key, &s->processes, unwinder_compare);
	uint64_t took_ns = found ? (*found)->took_ns : s->looked_took_ns, now_ns = unwinder_now();
	uint64_t due_ns = found ? (*found)->looked_ns : now_ns;

	if (!found && s->looked_at != pid)
		return 0;
	due_ns += LOOK_SHARE * took_ns > LOOK_AGAIN_NS ? LOOK_SHARE * took_ns : LOOK_AGAIN_NS;
	return due_ns > now_ns ? due_ns : now_ns;
}

/* The caller holds the lock. Ignores a request that equals a pending one, or is beyond the limit. */
static bool put_request(struct unwinder_session *s, pid_t pid, bool more, uint64_t due_ns)
{
	struct request *new, **at;

	for (at = &s->first; *at && ((*at)->pid != pid || (*at)->more != more);)
		at = &(*at)->next;
	new = *at || s->request_count >= REQUESTS_MAX ? NULL : calloc(1, sizeof(*new));
	if (!new)
		return false;
	*new = (struct request){ NULL, pid, more, due_ns };
	for (at = &s->first; *at && (*at)->due_ns <= due_ns;)
		at = &(*at)->next;
	new->next = *at;
	*at = new;
	s->request_count++;
	pthread_cond_signal(&s->unwinder->wake);
	return true;
}

void unwinder_prepare(struct unwinder_session *s, pid_t pid)
{
	pthread_mutex_lock(&s->unwinder->lock);
	put_request(s, pid, false, unwinder_now());
	pthread_mutex_unlock(&s->unwinder->lock);
}

static void publish_soon(const void *node, VISIT visit, void *context)
{
	const struct process *p = *(struct process *const *)node;

	if (visit == preorder || visit == leaf)
		put_request(context, p->pid, false, unwinder_now());
}

/*
 * Publishes the prepared tables, which the programs do not have yet. Work in progress may end before it sees the
 * map, so that process is requested again.
 */
void unwinder_begin(struct unwinder_session *s, int processes, const struct right *right)
{
	pthread_mutex_lock(&s->unwinder->lock);
	s->map = processes;
	s->right = right;
	twalk_r(s->processes, publish_soon, s);
	if (s->looked_at)
		put_request(s, s->looked_at, false, unwinder_now());
	pthread_mutex_unlock(&s->unwinder->lock);
}

static bool is_looking(const struct unwinder_session *s)
{
	return s->looked_at || (s->first && s->first->due_ns <= unwinder_now());
}

void unwinder_wait(struct unwinder_session *s, uint64_t most_ns)
{
	struct unwinder *u = s->unwinder;
	uint64_t end_ns = unwinder_now() + most_ns;
	const struct timespec until = { .tv_sec = (time_t)(end_ns / 1000000000), .tv_nsec = (long)(end_ns % 1000000000) };
	int err = 0;

	pthread_mutex_lock(&u->lock);
	while (!err && is_looking(s))
		err = pthread_cond_timedwait(&u->done, &u->lock, &until);
	pthread_mutex_unlock(&u->lock);
}

void unwinder_look(struct unwinder_session *s, pid_t pid, bool again)
{
	struct unwinder *u = s->unwinder;
	uint64_t due_ns;

	pthread_mutex_lock(&u->lock);
	due_ns = due_again(s, pid);
	if (!due_ns || again)
		put_request(s, pid, false, due_ns ? due_ns : unwinder_now());
	pthread_mutex_unlock(&u->lock);
}

/* Requests more rules for the mapping at @address, if the process was handled and its code can provide them. */
static void want_more(struct unwinder_session *s, pid_t pid, uint64_t address)
{
	struct process key = { .pid = pid };
	struct process *const *found = tfind(&key, &s->processes, unwinder_compare);
	struct process *p = found ? *found : NULL;
	const struct code_map *map = p ? code_maps_find(&p->maps, address) : NULL;
	size_t place = map ? (size_t)(map - p->maps.map) : 0;
	uint64_t now_ns = unwinder_now();

	if (!map || !p->more[place])
		return;
	p->wanted[place] = true;
	if (!p->waits)
		p->waits = put_request(s, pid, true, p->again_ns > now_ns ? p->again_ns : now_ns);
}

void unwinder_saw(struct unwinder_session *s, pid_t pid, uint64_t address)
{
	pthread_mutex_lock(&s->unwinder->lock);
	if (s->looked_at == pid)
		seen_code_add(&s->seen, address);
	else
		want_more(s, pid, address);
	pthread_mutex_unlock(&s->unwinder->lock);
}

void unwinder_forget(struct unwinder_session *s, pid_t pid)
{
	struct unwinder *u = s->unwinder;
	uint32_t key = (uint32_t)pid;

	pthread_mutex_lock(&u->lock);
	drop_requests(s, pid);
	if (s->looked_at == pid)
		s->dropped = true;
	else
		unwinder_leave_process(u, unwinder_take_process(s, pid));
	if (s->map >= 0)
		bpf_map_delete_elem(s->map, &key);
	pthread_mutex_unlock(&u->lock);
}

struct unwinder_left_out unwinder_left_out(struct unwinder_session *s)
{
	struct unwinder_left_out left_out;

	pthread_mutex_lock(&s->unwinder->lock);
	left_out = s->left_out;
	pthread_mutex_unlock(&s->unwinder->lock);
	return left_out;
}
