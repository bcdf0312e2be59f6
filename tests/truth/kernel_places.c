/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_places.c - threads that sleep in several system calls in turn, each made in a separate function:
 * the recorded kernel function of each sleep must match that call.
 *
 * Compiled with frame pointers.
 */
#include <poll.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include <linux/futex.h>

#include "tests/truth/system_call.h"
#include "tests/truth/truth.h"

#define THREADS 4
#define ROUNDS 16
#define SLEEP_NS 6000000l

enum kind {
	KIND_NANOSLEEP, KIND_POLL, KIND_TIMER,
	WOKEN_KINDS, /* sleeps from here on are ended by another thread */
	KIND_PIPE = WOKEN_KINDS, KIND_SOCKET, KIND_EVENT, KIND_FUTEX,
	KINDS
};

/* A thread, and a thread that wakes it. */
struct sleeper {
	sem_t asks;
	enum kind kind; /* kind of its current sleep */
	int pipe[2], sockets[2], event, timer;
	int word;  /* a futex */
};

static bool wake(struct sleeper *s)
{
	uint64_t one = 1;

	switch (s->kind) {
	case KIND_PIPE: return write(s->pipe[1], &one, 1) == 1;
	case KIND_SOCKET: return write(s->sockets[1], &one, 1) == 1;
	case KIND_EVENT: return write(s->event, &one, sizeof(one)) == sizeof(one);
	case KIND_FUTEX:
		__atomic_store_n(&s->word, 1, __ATOMIC_SEQ_CST);
		return syscall(SYS_futex, &s->word, FUTEX_WAKE, 1, NULL, NULL, 0) >= 0;
	default: return false;
	}
}

static void *wake_when_asked(void *argument)
{
	struct sleeper *s = argument;

	for (int i = 0; i < ROUNDS * (KINDS - WOKEN_KINDS); i++) {
		while (sem_wait(&s->asks))
			;
		sleep_ns(SLEEP_NS);
		if (!wake(s))
			abort();
	}
	return NULL;
}

__attribute__((noipa)) static void block_in_nanosleep(struct sleeper *s)
{
	const struct timespec time = { 0, SLEEP_NS };

	system_call(SYS_nanosleep, (long)&time, 0, 0);
	NOT_A_LEAF;
}

__attribute__((noipa)) static void block_in_poll(struct sleeper *s)
{
	struct pollfd never = { .fd = s->pipe[0], .events = POLLIN };

#if defined(SYS_poll)
	system_call(SYS_poll, (long)&never, 1, SLEEP_NS / 1000000);
#else
	poll(&never, 1, SLEEP_NS / 1000000);
#endif
	NOT_A_LEAF;
}

__attribute__((noipa)) static void block_in_timer(struct sleeper *s)
{
	const struct itimerspec once = { .it_value = { 0, SLEEP_NS } };
	uint64_t times;

	timerfd_settime(s->timer, 0, &once, NULL);
	system_call(SYS_read, s->timer, (long)&times, sizeof(times));
	NOT_A_LEAF;
}

__attribute__((noipa)) static void block_in_pipe(struct sleeper *s)
{
	char byte;

	system_call(SYS_read, s->pipe[0], (long)&byte, 1);
	NOT_A_LEAF;
}

__attribute__((noipa)) static void block_in_socket(struct sleeper *s)
{
	char byte;

	system_call(SYS_read, s->sockets[0], (long)&byte, 1);
	NOT_A_LEAF;
}

__attribute__((noipa)) static void block_in_event(struct sleeper *s)
{
	uint64_t times;

	system_call(SYS_read, s->event, (long)&times, sizeof(times));
	NOT_A_LEAF;
}

/* futex() has a fourth argument, so libc makes the call: the first visible frame is that of libc's caller. */
__attribute__((noipa)) static void wait_for_word(struct sleeper *s)
{
	while (!__atomic_load_n(&s->word, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &s->word, FUTEX_WAIT, 0, NULL, NULL, 0);
	s->word = 0;
	NOT_A_LEAF;
}

__attribute__((noipa)) static void block_in_futex(struct sleeper *s)
{
	wait_for_word(s);
	NOT_A_LEAF;
}

static void (*const block[KINDS])(struct sleeper *) = {
	block_in_nanosleep, block_in_poll,  block_in_timer, block_in_pipe,
	block_in_socket,    block_in_event, block_in_futex,
};

static void *sleep_by_turns(void *argument)
{
	struct sleeper *s = argument;

	for (int i = 0; i < ROUNDS * KINDS; i++) {
		s->kind = i * 5 % KINDS;
		if (s->kind >= WOKEN_KINDS)
			sem_post(&s->asks);
		block[s->kind](s);
	}
	return NULL;
}

static bool prepare(struct sleeper *s)
{
	s->timer = timerfd_create(CLOCK_MONOTONIC, 0);
	s->event = eventfd(0, 0);
	return !sem_init(&s->asks, 0, 0) && s->timer >= 0 && s->event >= 0 && !pipe(s->pipe) &&
	       !socketpair(AF_UNIX, SOCK_STREAM, 0, s->sockets);
}

int main(int argc, char **argv)
{
	static struct sleeper sleepers[THREADS];
	pthread_t threads[THREADS], wakers[THREADS];

	truth_ready();
	for (int i = 0; i < THREADS; i++)
		if (!prepare(&sleepers[i]) ||
		    pthread_create(&wakers[i], NULL, wake_when_asked, &sleepers[i]) ||
		    pthread_create(&threads[i], NULL, sleep_by_turns, &sleepers[i]))
			return 1;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		pthread_join(wakers[i], NULL);
	}
	printf("sleeps=%d\n", THREADS * ROUNDS);
	truth_done();
	return 0;
}
