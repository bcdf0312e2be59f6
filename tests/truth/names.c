/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c - calls on objects with names: successive objects at one address, and successive names at one
 * address; in several threads, after fork() and after execve(). The expected name of a call is "name_"
 * and its argument.
 */
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>

#include "tests/truth/truth.h"

#define THREADS 4
#define ROUNDS 400
#define CALLS 6 /* on one object before it is named again */
#define SHARED 8
#define SHARED_EVERY 10 /* rounds; a thread keeps the name of one object only */
#define NAME_SIZE 32

struct thing {
	struct truth_named named;
	char name[NAME_SIZE];
};

static struct thing shared[SHARED], fixed;
static int calls[THREADS + 1]; /* of each thread, then of the first */

static void write_name(struct thing *thing, unsigned int number)
{
	snprintf(thing->name, sizeof(thing->name), "name_%u", number);
}

static void make(struct thing *thing, unsigned int number)
{
	write_name(thing, number);
	truth_name(&thing->named, thing->name);
}

static void call(struct thing *thing, unsigned int number, int *count)
{
	*count += truth_named(&thing->named, number) == 0;
}

static void call_shared(unsigned int first, int *count)
{
	for (unsigned int i = 0; i < SHARED; i++)
		call(&shared[i], first + i, count);
}

static void make_shared(unsigned int first)
{
	for (unsigned int i = 0; i < SHARED; i++)
		make(&shared[i], first + i);
}

static void *work(void *argument)
{
	unsigned int thread = (unsigned int)(long)argument;
	struct thing own;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		unsigned int number = 1000 * (thread + 1) + i;

		make(&own, number);
		for (int j = 0; j < CALLS; j++)
			call(&own, number, &calls[thread]);
		if (i % SHARED_EVERY == 0)
			call_shared(100, &calls[thread]);
	}
	return NULL;
}

static void run_threads(void)
{
	pthread_t threads[THREADS];

	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* After a change that the catalog does not see the old name is recorded until another object is named. */
static void change_unseen(int *count)
{
	struct thing thing, other;

	make(&thing, 10);
	call(&thing, 10, count);
	write_name(&thing, 11);
	call(&thing, 10, count);
	make(&other, 12);
	call(&thing, 11, count);
}

/* A child has the same objects with different names. */
static void run_child(int *count)
{
	struct thing thing;
	int in_child = 0;
	pid_t pid;

	make(&thing, 20);
	call(&thing, 20, count);
	pid = fork();
	if (!pid) {
		write_name(&thing, 21);
		call(&thing, 21, &in_child);
		_exit(in_child != 1);
	}
	*count += pid > 0 && waitpid(pid, &in_child, 0) == pid && !in_child;
	call(&thing, 20, count);
}

/* The next program has different objects at the same addresses. */
static int next_program(const char *made)
{
	int count = atoi(made);

	write_name(&fixed, 31);
	fixed.named.name = fixed.name;
	call(&fixed, 31, &count);
	printf("calls=%d\n", count);
	truth_done();
	return 0;
}

static void become(char **argv, int count)
{
	char made[16];

	snprintf(made, sizeof(made), "%d", count);
	execl("/proc/self/exe", argv[0], made, NULL);
	exit(1);
}

int main(int argc, char **argv)
{
	int count = 0;

	if (argc > 1)
		return next_program(argv[1]);
	if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE)) {
		personality(personality(0xffffffff) | ADDR_NO_RANDOMIZE);
		execl("/proc/self/exe", argv[0], NULL);
	}
	make_shared(100);
	truth_ready();
	run_threads();
	call_shared(100, &count);
	make_shared(200);
	call_shared(200, &count);
	change_unseen(&count);
	run_child(&count);
	make(&fixed, 30);
	call(&fixed, 30, &count);
	for (int i = 0; i < THREADS; i++)
		count += calls[i];
	become(argv, count);
}
