/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.c - calls of threads whose ids differ by a multiple of 1024, so that they use the same slot of a
 * table, and of a thread whose id changes because it executes another program.
 *
 *	places		first and second live side by side, third begins after first has ended
 *	places exec	a thread calls and then executes this program again, which gets the process' id
 */
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/truth/truth.h"

#define PLACES 1024 /* NEAR_STACKS of bpf/call_stack.bpf.h */
#define CALLS 3000
#define TRIES (32 * PLACES)

struct caller {
	const char *name;
	int apart_from;	/* a thread id whose slot this thread must share, or 0 */
	bool last_try;
	bool fits;
	sem_t started, go, half, rest;
};

static void call(int calls)
{
	for (int i = 0; i < calls; i++)
		truth_noop(i);
	truth_outer(3);
}

static void *work(void *argument)
{
	struct caller *c = argument;

	c->fits = !c->apart_from || (own_tid() - c->apart_from) % PLACES == 0;
	if (!c->fits && !c->last_try) {
		sem_post(&c->started);
		return NULL;
	}
	printf("%s.tid=%d\n%s.fits=%d\n", c->name, own_tid(), c->name, c->fits);
	c->fits = true;
	c->apart_from = own_tid();
	sem_post(&c->started);
	sem_wait(&c->go);
	call(CALLS);
	sem_post(&c->half);
	sem_wait(&c->rest);
	call(CALLS);
	return NULL;
}

/* Starts threads until one has a fitting id; it may find none if other processes take ids, too. */
static pthread_t start(struct caller *c)
{
	pthread_t thread;

	sem_init(&c->started, 0, 0);
	sem_init(&c->go, 0, 0);
	sem_init(&c->half, 0, 0);
	sem_init(&c->rest, 0, 0);
	for (int i = 0; i < TRIES; i++) {
		c->last_try = i == TRIES - 1;
		if (pthread_create(&thread, NULL, work, c))
			exit(1);
		sem_wait(&c->started);
		if (c->fits)
			break;
		pthread_join(thread, NULL);
	}
	return thread;
}

static void share_a_place(void)
{
	struct caller first = { .name = "first" }, second = { .name = "second" },
		      third = { .name = "third" };
	pthread_t threads[3];

	threads[0] = start(&first);
	second.apart_from = first.apart_from;
	threads[1] = start(&second);
	sem_post(&first.go);
	sem_post(&second.go);
	sem_wait(&first.half);
	sem_wait(&second.half);
	sem_post(&first.rest);
	pthread_join(threads[0], NULL);
	third.apart_from = first.apart_from;
	threads[2] = start(&third);
	sem_post(&second.rest);
	sem_post(&third.go);
	sem_post(&third.rest);
	pthread_join(threads[1], NULL);
	pthread_join(threads[2], NULL);
	printf("each=%d\n", 2 * CALLS);
}

static void *run_anew(void *argument)
{
	(void)argument;
	call(CALLS);
	execl("/proc/self/exe", "places", "after", (char *)NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1 && !strcmp(argv[1], "after")) {
		printf("tid=%d\nnoops=%d\n", own_tid(), CALLS);
		truth_done();
		return 0;
	}
	truth_ready();
	if (argc > 1) {
		pthread_create(&thread, NULL, run_anew, NULL);
		pthread_join(thread, NULL);
		return 1;
	}
	share_a_place();
	truth_done();
	return 0;
}
