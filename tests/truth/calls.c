/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - known numbers of calls from known threads, with known errors, arguments and durations. */
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/truth/truth.h"

#define THREADS 3
#define NOOPS 5000

static void *work(void *argument)
{
	long index = (long)argument;

	for (int i = 0; i < NOOPS * (index + 1); i++)
		truth_noop(i);
	for (int i = 1; i <= 100; i++)
		truth_fail_every(i, 10);
	printf("thread.%ld.tid=%d\nthread.%ld.noops=%ld\n", index, own_tid(), index,
	       NOOPS * (index + 1));
	return NULL;
}

static atomic_int blocked_tid;
static atomic_long blocked_sleeps;

/* One thread stays inside a call until the program ends. */
static void *block(void *argument)
{
	blocked_sleeps = own_sleeps();
	blocked_tid = own_tid();
	truth_block(*(int *)argument);
	return NULL;
}

/* Returns the duration of the calls. */
static uint64_t call_methods(void)
{
	struct truth_object *object = truth_object();
	uint64_t start = clock_ns(CLOCK_MONOTONIC);

	for (int i = 1; i <= 20; i++)
		truth_method(object, i, 4);
	return clock_ns(CLOCK_MONOTONIC) - start;
}

static int run_here(void *object, int n, int every)
{
	return object && n < every ? 0 : 1;
}

/* The target of the tail call is in a page that is in memory only after the function has read it. */
static void call_dropped(void)
{
	long page = sysconf(_SC_PAGESIZE);
	int file = memfd_create("methods", MFD_CLOEXEC);
	void *methods = MAP_FAILED;

	if (file >= 0 && !ftruncate(file, page))
		methods = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (methods == MAP_FAILED)
		exit(1);
	*(struct truth_methods *)methods = (struct truth_methods){ .run = run_here };
	madvise(methods, page, MADV_DONTNEED);
	truth_dropped(&(struct truth_object){ methods }, 1, 4);
}

/* Only with TRUTH_SMASH; the library must have stack protectors. */
static void smash(void)
{
	const struct rlimit none = { 0, 0 };
	pid_t pid;

	if (!getenv("TRUTH_SMASH"))
		return;
	pid = fork();
	if (!pid) {
		setrlimit(RLIMIT_CORE, &none);
		truth_smash();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

int main(void)
{
	pthread_t threads[THREADS], blocked;
	uint64_t out, start, slept, methods;
	int pipe_fds[2], failures = 0;

	truth_ready();
	/* The target of the tail call is probed once it is known, so this call comes first, before the counted ones. */
	truth_method(truth_object(), 1, 4);
	truth_pass(truth_keeper());
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 10; i++)
		truth_outer(3);
	truth_recurse(5);
	for (int i = 1; i <= 9; i++)
		truth_count(i);
	smash();
	call_dropped();
	for (int i = 0; i < 20; i++)
		truth_make(i % 4);
	start = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < 20; i++)
		truth_sleep(5000);
	slept = clock_ns(CLOCK_MONOTONIC) - start;
	for (uint64_t i = 0; i < 7; i++) {
		truth_arguments("kernel_name_of_seven", 1000 + i, (void *)0xabcd0000ull, 1, 1, 1,
				5000, &out);
		failures += out != 6000 + i;
	}
	if (pipe(pipe_fds))
		return 1;
	pthread_create(&blocked, NULL, block, &pipe_fds[0]);
	do
		sleep_ns(50000000);
	while (!blocked_tid || !is_asleep(getpid(), blocked_tid, blocked_sleeps));
	methods = call_methods();
	for (int i = 0; i < 20; i++)
		truth_pass(truth_keeper());
	for (int i = 0; i < 3; i++)
		truth_borrow(truth_keeper());
	printf("noops=%d\nsleep_total_ns=%llu\nmethods_total_ns=%llu\nfailures=%d\n", NOOPS * 6,
	       (unsigned long long)slept, (unsigned long long)methods, failures);
	truth_done();
	return failures != 0;
}
