/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoders.c - a process that reads, threads that decode and a thread that submits, each of which
 * waits for the stage before it; ELEMENTS pass through all of them.
 *
 *     decoders ELEMENTS
 *
 * reader (a separate process): sleeps 4 ms and until the main thread sleeps, then writes a byte into a pipe
 * decode0, decode1: read a byte, put it into a list
 * main: takes a byte from the list, calls truth_noop()
 * idle: a thread for which no thread waits
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tests/truth/truth.h"

#define READ_NS 4000000
#define DECODERS 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static unsigned int waiting;
static int ends[2];

/* The elements that the main thread has taken, and its number of sleeps when it had taken the last. */
static struct {
	_Atomic int elements;
	_Atomic long sleeps;
} *taken;

static void read_elements(int elements, int taker)
{
	prctl(PR_SET_NAME, "reader");
	for (int i = 0; i < elements; i++) {
		do
			sleep_ns(READ_NS);
		while (taken->elements < i || !is_asleep(taker, taker, taken->sleeps));
		if (write(ends[1], "x", 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void *decode(void *name)
{
	char byte;

	pthread_setname_np(pthread_self(), name);
	while (read(ends[0], &byte, 1) == 1) {
		pthread_mutex_lock(&lock);
		waiting++;
		pthread_mutex_unlock(&lock);
		/* Without the lock, so that the woken thread does not sleep again for the lock. */
		pthread_cond_signal(&filled);
	}
	return NULL;
}

static void *idle(void *unused)
{
	pthread_setname_np(pthread_self(), "idle");
	sleep_ns(100 * READ_NS);
	return unused;
}

static void take_one(void)
{
	pthread_mutex_lock(&lock);
	while (!waiting)
		pthread_cond_wait(&filled, &lock);
	waiting--;
	pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
	static char names[DECODERS][16] = { "decode0", "decode1" };
	int elements = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t threads[DECODERS], sleeper;
	pid_t reader;

	truth_ready();
	taken = mmap(NULL, sizeof(*taken), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (taken == MAP_FAILED || pipe(ends)) {
		fprintf(stderr, "decoders: %s\n", strerror(errno));
		return 1;
	}
	reader = fork();
	if (reader == 0)
		read_elements(elements, getppid());
	close(ends[1]);
	for (int i = 0; i < DECODERS; i++)
		pthread_create(&threads[i], NULL, decode, names[i]);
	pthread_create(&sleeper, NULL, idle, NULL);
	for (int i = 0; i < elements; i++) {
		taken->sleeps = own_sleeps();
		taken->elements = i;
		take_one();
		truth_noop(i);
	}
	for (int i = 0; i < DECODERS; i++)
		pthread_join(threads[i], NULL);
	pthread_join(sleeper, NULL);
	waitpid(reader, NULL, 0);
	printf("elements=%d\nreader=%d\n", elements, reader);
	truth_done();
	return 0;
}
