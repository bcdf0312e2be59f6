/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stress.c - combined load for SECONDS: many threads that call, short-lived processes, a library
 * that is loaded and unloaded; checks each result and counts each call.
 *
 *     stress SECONDS
 *
 * Threads and child processes call truth_noop and truth_arguments; the printed counts contain both.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/truth/truth.h"

#define THREADS 64
#define BATCH 50
#define PAUSE_NS 20000000
#define CHILD_CALLS 10

struct stress {
	const char *exe;
	char library[PATH_MAX];
	uint64_t end_ns;
	/* Each is written by one thread, and read after that thread has ended. */
	uint64_t children;
	uint64_t child_failures;
	uint64_t loads;
	uint64_t load_failures;
};

struct worker {
	pthread_t thread;
	const struct stress *stress;
	uint64_t noops;
	uint64_t copies;
	uint64_t wrong;
};

static bool more(const struct stress *stress)
{
	return clock_ns(CLOCK_MONOTONIC) < stress->end_ns;
}

static void *work(void *context)
{
	struct worker *w = context;
	uint64_t out;

	while (more(w->stress)) {
		for (int i = 0; i < BATCH; i++)
			w->wrong += truth_noop(i) != 0;
		w->noops += BATCH;
		w->wrong += truth_arguments("stress", w->noops, w, 1, 1, 1, 7, &out) != 0 ||
			    out != w->noops + 7;
		w->copies++;
		sleep_ns(PAUSE_NS);
	}
	return NULL;
}

static int child_calls(void)
{
	int wrong = 0;

	for (int i = 0; i < CHILD_CALLS; i++)
		wrong |= truth_noop(i);
	return wrong;
}

/* Every eighth child becomes another program, which makes the same calls. */
static void *breed(void *context)
{
	struct stress *s = context;
	int status;

	while (more(s)) {
		pid_t pid = fork();

		if (!pid && s->children % 8 == 7) {
			execl(s->exe, s->exe, "child", NULL);
			_exit(127);
		}
		if (!pid)
			_exit(child_calls());
		if (pid < 0 || waitpid(pid, &status, 0) != pid) {
			s->child_failures++;
			sleep_ns(PAUSE_NS);
			continue;
		}
		s->children++;
		s->child_failures += status != 0;
	}
	return NULL;
}

static void *load(void *context)
{
	struct stress *s = context;

	while (more(s)) {
		void *handle = dlopen(s->library, RTLD_NOW);
		int (*second)(int) = handle ? (int (*)(int))dlsym(handle, "truth_second") : NULL;

		s->load_failures += !second || second(1) != 0;
		s->loads++;
		if (handle)
			dlclose(handle);
		sleep_ns(1000000);
	}
	return NULL;
}

static int start(struct stress *s, struct worker *workers, pthread_t *breeder, pthread_t *loader)
{
	int err = pthread_create(breeder, NULL, breed, s) | pthread_create(loader, NULL, load, s);

	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .stress = s };
		err |= pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	return err;
}

static uint64_t print_sums(const struct stress *s, const struct worker *workers)
{
	uint64_t noops = 0, copies = 0, wrong = 0;

	for (int i = 0; i < THREADS; i++) {
		noops += workers[i].noops;
		copies += workers[i].copies;
		wrong += workers[i].wrong;
	}
	wrong += s->child_failures + s->load_failures;
	printf("threads=%d\nnoops=%llu\ncopies=%llu\nchildren=%llu\nloads=%llu\nwrong=%llu\n",
	       THREADS, (unsigned long long)(noops + s->children * CHILD_CALLS),
	       (unsigned long long)copies, (unsigned long long)s->children,
	       (unsigned long long)s->loads, (unsigned long long)wrong);
	return wrong;
}

int main(int argc, char **argv)
{
	struct stress s = { .exe = argv[0] };
	struct worker workers[THREADS];
	pthread_t breeder, loader;
	char *slash;
	int failed;

	if (argc > 1 && !strcmp(argv[1], "child"))
		return child_calls();
	if (argc < 2 || readlink("/proc/self/exe", s.library, sizeof(s.library) - 32) < 0)
		return 2;
	slash = strrchr(s.library, '/');
	strcpy(slash, "/libtruth2.so");
	truth_ready();
	s.end_ns = clock_ns(CLOCK_MONOTONIC) + strtoull(argv[1], NULL, 10) * 1000000000;
	if (start(&s, workers, &breeder, &loader))
		return 1;
	pthread_join(breeder, NULL);
	pthread_join(loader, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	failed = print_sums(&s, workers) != 0;
	truth_done();
	return failed;
}
