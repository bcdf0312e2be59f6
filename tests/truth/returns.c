/* SPDX-License-Identifier: Apache-2.0 */
/*
 * returns.c - long sleeps that do not end with a plain return to user space: interrupted by a signal with a
 * handler, ended by SIGKILL, and several sleeps in one system call, in many threads at once. Also those of processes that
 * end just after their only sleep.
 *
 * Compiled with frame pointers; system calls are made inline, so that each place has its own function name.
 */
#include <signal.h>
#include <sys/wait.h>

#include "tests/truth/system_call.h"
#include "tests/truth/truth.h"

#define TIMES 20
#define SLEEP_NS 20000000l
#define SHORT_SLEEPS 20 /* short sleeps, after which a long one is not expected */
#define SHORT_NS 20000l
#define WRITERS 24 /* more than the walks that can be requested at once, with few CPUs */
#define PIPE_BYTES 65536 /* capacity of a pipe */
#define WRITE_SLEEPS 5 /* of each writer */
#define DRAIN_NS 12000000l

static volatile sig_atomic_t signals;

/* Runs for a while: a stack that is walked too late would end here. */
__attribute__((noipa)) static void on_alarm(int number)
{
	signals++;
	burn(2000000);
	NOT_A_LEAF;
}

static void sleep_shortly(void)
{
	for (int i = 0; i < SHORT_SLEEPS; i++)
		sleep_ns(SHORT_NS);
}

__attribute__((noipa)) static void block_until_signal(void)
{
	const struct timespec second = { 1, 0 };

	system_call(SYS_nanosleep, (long)&second, 0, 0);
	NOT_A_LEAF;
}

__attribute__((noipa)) static void be_interrupted(void)
{
	const struct itimerspec once = { .it_value = { 0, SLEEP_NS } };
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, NULL, &timer))
		return;
	for (int i = 0; i < TIMES; i++) {
		sleep_shortly();
		timer_settime(timer, 0, &once, NULL);
		block_until_signal();
	}
	timer_delete(timer);
	NOT_A_LEAF;
}

__attribute__((noipa)) static void block_until_killed(void)
{
	const struct timespec minute = { 60, 0 };

	system_call(SYS_nanosleep, (long)&minute, 0, 0);
	NOT_A_LEAF;
}

/* Their first sleep makes their mappings known before they are killed. */
static int kill_sleepers(uint64_t known_ns)
{
	pid_t pids[TIMES];
	int killed = 0, status;

	for (int i = 0; i < TIMES; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			sleep_ns(SLEEP_NS);
			sleep_shortly();
			block_until_killed();
			_exit(0);
		}
	}
	sleep_ns(known_ns);
	for (int i = 0; i < TIMES; i++) {
		kill(pids[i], SIGKILL);
		killed += waitpid(pids[i], &status, 0) == pids[i] && WIFSIGNALED(status);
	}
	return killed;
}

__attribute__((noipa)) static void block_once(void)
{
	const struct timespec once = { 0, SLEEP_NS };

	system_call(SYS_nanosleep, (long)&once, 0, 0);
	NOT_A_LEAF;
}

/* Most of them are gone before a reader of records has seen anything of them. */
static int short_lives(void)
{
	int ended = 0, status;

	for (int i = 0; i < TIMES; i++) {
		pid_t pid = fork();

		if (!pid) {
			block_once();
			_exit(0);
		}
		ended += waitpid(pid, &status, 0) == pid && !status;
	}
	return ended;
}

static char bytes[PIPE_BYTES * (WRITE_SLEEPS + 1)];
static int pipes[WRITERS][2];

__attribute__((noipa)) static void block_in_write(int fd)
{
	system_call(SYS_write, fd, (long)bytes, sizeof(bytes));
	NOT_A_LEAF;
}

__attribute__((noipa)) static void write_all(int fd)
{
	block_in_write(fd);
	NOT_A_LEAF;
}

/* Its call is the first frame to expect on the stack: the function of the system call itself may have no frame. */
static void *writer(void *argument)
{
	write_all(*(int *)argument);
	return NULL;
}

static void drain_all(void)
{
	static char taken[PIPE_BYTES];

	for (int round = 0; round <= WRITE_SLEEPS; round++) {
		sleep_ns(DRAIN_NS);
		for (int i = 0; i < WRITERS; i++)
			while (read(pipes[i][0], taken, sizeof(taken)) == -1)
				;
	}
}

static int write_side_by_side(void)
{
	pthread_t threads[WRITERS];

	for (int i = 0; i < WRITERS; i++)
		if (pipe(pipes[i]) || pthread_create(&threads[i], NULL, writer, &pipes[i][1]))
			return 1;
	drain_all();
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_alarm };
	uint64_t known_ms = argc > 1 ? strtoull(argv[1], NULL, 10) : 600;
	int failures;

	sigaction(SIGALRM, &action, NULL);
	truth_ready();
	be_interrupted();
	printf("interrupted=%d\nkilled=%d\n", (int)signals, kill_sleepers(known_ms * 1000000));
	printf("short_lives=%d\n", short_lives());
	failures = write_side_by_side();
	printf("writers=%d\nwrite_sleeps=%d\n", WRITERS, WRITERS * WRITE_SLEEPS);
	truth_done();
	return failures;
}
