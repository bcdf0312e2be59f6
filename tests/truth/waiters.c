/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiters.c - threads of a program without any runtime that wait for known other threads.
 *
 * The main thread waits for "maker", which waits for a process "source", which sleeps. A thread "second" waits for a
 * mutex that "holder" holds while it sleeps. Prints the threads' ids; runs until its standard input ends.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/truth/truth.h"

#define SLEEP_NS 20000000
#define HELD_NS 20000000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t made = PTHREAD_COND_INITIALIZER;
static int pipes[2], items;

static void name_self(const char *name)
{
	pthread_setname_np(pthread_self(), name);
	printf("%s=%d\n", name, own_tid());
	fflush(stdout);
}

static void run_source(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "source");
	printf("source=%d\n", own_tid());
	fflush(stdout);
	for (;;) {
		sleep_ns(SLEEP_NS);
		if (write(pipes[1], "", 1) != 1)
			_exit(0);
	}
}

static void *run_maker(void *unused)
{
	char byte;

	name_self("maker");
	while (read(pipes[0], &byte, 1) == 1) {
		pthread_mutex_lock(&lock);
		items++;
		pthread_cond_signal(&made);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *run_holder(void *unused)
{
	name_self("holder");
	for (;;) {
		pthread_mutex_lock(&held);
		sleep_ns(HELD_NS);
		pthread_mutex_unlock(&held);
		sleep_ns(500000);
	}
	return NULL;
}

static void *run_second(void *unused)
{
	name_self("second");
	for (;;) {
		pthread_mutex_lock(&held);
		pthread_mutex_unlock(&held);
		sleep_ns(100000);
	}
	return NULL;
}

static void *wait_for_end(void *unused)
{
	while (getchar() != EOF)
		;
	_exit(0);
}

int main(void)
{
	void *(*const runs[])(void *) = { run_maker, run_holder, run_second, wait_for_end };

	if (pipe(pipes))
		return 1;
	if (!fork())
		run_source();
	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, runs[i], NULL))
			return 1;
	}
	sleep_ns(100000000);
	printf("main=%d\nready\n", own_tid());
	fflush(stdout);
	for (;;) {
		pthread_mutex_lock(&lock);
		while (!items)
			pthread_cond_wait(&made, &lock);
		items--;
		pthread_mutex_unlock(&lock);
		burn(100000);
	}
}
