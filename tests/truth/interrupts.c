/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupts.c - a thread that keeps its CPU busy while a known number of its own timers interrupt it.
 *
 * Each timer is set after the signal of the timer before, so that at most one expires while the thread
 * has lost its CPU. Other uses of the CPU show as time that the thread's loop lacks.
 */
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/truth/truth.h"

#define TIMERS 300
#define TIMER_NS 1000000

static volatile sig_atomic_t told;

static void tell(int unused)
{
	told++;
}

/* Returns the count of interrupts that a CPU handled: all software interrupts, or numbered hardware ones. */
static unsigned long long handled(const char *path, int cpu, bool numbered)
{
	unsigned long long sum = 0;
	char line[16384];
	FILE *file = fopen(path, "r");
	int column = -1, columns = 0;

	if (!file || !fgets(line, sizeof(line), file))
		exit(1);
	for (char *save, *word = strtok_r(line, " \n", &save); word; word = strtok_r(NULL, " \n", &save), columns++)
		if (atoi(word + strlen("CPU")) == cpu)
			column = columns;
	while (column >= 0 && fgets(line, sizeof(line), file)) {
		char *save, *word = strtok_r(line, " \n", &save);

		if (!word || (numbered && (*word < '0' || *word > '9')))
			continue;
		for (int i = 0; i <= column && word; i++)
			word = strtok_r(NULL, " \n", &save);
		sum += word ? strtoull(word, NULL, 10) : 0;
	}
	fclose(file);
	return sum;
}

static void say(const char *when, int cpu)
{
	printf("%s.soft=%llu\n%s.hard=%llu\n", when, handled("/proc/softirqs", cpu, false), when,
	       handled("/proc/interrupts", cpu, true));
}

static timer_t make_timer(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN };
	struct sigaction action = { .sa_handler = tell };
	timer_t timer;

	event._sigev_un._tid = own_tid();
	sigaction(SIGRTMIN, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer)) {
		perror("timer_create");
		exit(1);
	}
	return timer;
}

static void *interrupted(void *cpu)
{
	const struct itimerspec soon = { .it_value.tv_nsec = TIMER_NS };
	uint64_t begin, last, now, least = UINT64_MAX, turns = 0;
	struct rusage before, after;
	timer_t timer = make_timer();
	const struct sched_param first = { .sched_priority = 1 };

	pin(*(int *)cpu);
	/* With real-time priority, if allowed, it keeps its CPU: then every timer interrupts it. */
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
	pthread_setname_np(pthread_self(), "interrupted");
	getrusage(RUSAGE_THREAD, &before);
	begin = last = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < TIMERS; i++) {
		timer_settime(timer, 0, &soon, NULL);
		for (int until = i + 1; told < until; turns++) {
			now = clock_ns(CLOCK_MONOTONIC);
			least = now - last < least ? now - last : least;
			last = now;
		}
	}
	now = clock_ns(CLOCK_MONOTONIC);
	getrusage(RUSAGE_THREAD, &after);
	printf("tid=%d\nbegin_ns=%llu\nend_ns=%llu\nlacking_ns=%llu\n", own_tid(), (unsigned long long)begin,
	       (unsigned long long)now, (unsigned long long)(now - begin - turns * least));
	printf("switches=%ld\n", after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw);
	timer_delete(timer);
	return NULL;
}

int main(void)
{
	int cpu = first_cpu();
	pthread_t thread;

	say("before", cpu);
	truth_ready();
	pthread_create(&thread, NULL, interrupted, &cpu);
	pthread_join(thread, NULL);
	printf("timers=%d\ncpu=%d\n", TIMERS, cpu);
	say("after", cpu);
	truth_done();
	return 0;
}
