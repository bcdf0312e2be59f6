/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sleepers.c - threads that sleep a known number of times, each with a different kind of sleep.
 *
 * The waker first waits until the kernel reports that the thread is asleep: so
 * each call sleeps exactly once.
 */
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <signal.h>

#include "tests/truth/truth.h"

#define SLEEPS 30
#define CHILDREN 10

/* A sleeper and its waker; in memory that child processes share. */
struct pair {
	atomic_int tid;
	atomic_long voluntary; /* switches of the sleeper before it sleeps */
	atomic_int turn; /* number of the sleep that the sleeper is about to begin */
	_Atomic uint32_t word;
	int fd[2];
	long slept; /* real number of sleeps */
};

static struct pair *pairs; /* of all threads below */
static int sleeping_process;
static atomic_flag printing = ATOMIC_FLAG_INIT; /* a spin lock, because a wait for a mutex would be one more sleep */

enum { NAPPER, LOCKER, TIMED, READER, POLLER, EVENTER, WAITER, PAIRS };

static const char *const names[PAIRS] = { "napper", "locker", "timed",	"reader",
					  "poller", "eventer", "waiter" };

static void pause_briefly(void)
{
	struct timespec ts = { .tv_nsec = 200000 };

	nanosleep(&ts, NULL);
}

/* A wake-up before the thread is asleep would prevent the sleep, and the count would be too low. */
static void until_asleep(struct pair *p, int turn)
{
	while (p->turn < turn || !is_asleep(sleeping_process, p->tid, p->voluntary))
		pause_briefly();
}

/* Announces that the thread now sleeps for the @turn-th time. */
static void about_to_sleep(struct pair *p, int turn)
{
	p->voluntary = own_sleeps();
	p->turn = turn;
}

static struct pair *begin(int which)
{
	struct pair *p = &pairs[which];

	pthread_setname_np(pthread_self(), names[which]);
	p->tid = own_tid();
	while (atomic_flag_test_and_set(&printing))
		sched_yield();
	printf("%s.tid=%d\n", names[which], own_tid());
	atomic_flag_clear(&printing);
	return p;
}

/* Counts sleeps of a thread with a timeout, which may expire before the thread is asleep. */
static void add_sleeps(int which, long sleeps)
{
	pairs[which].slept += sleeps;
}

static void *napper(void *unused)
{
	struct timespec ts = { .tv_nsec = 2000000 };

	begin(NAPPER);
	add_sleeps(NAPPER, -own_sleeps());
	for (int i = 0; i < SLEEPS; i++)
		nanosleep(&ts, NULL);
	add_sleeps(NAPPER, own_sleeps());
	return NULL;
}

static void *locker(void *unused)
{
	struct pair *p = begin(LOCKER);

	for (int i = 1; i <= SLEEPS; i++) {
		about_to_sleep(p, i);
		syscall(SYS_futex, &p->word, FUTEX_WAIT, i - 1, NULL, NULL, 0);
	}
	return NULL;
}

static void *unlocker(void *unused)
{
	struct pair *p = &pairs[LOCKER];

	pthread_setname_np(pthread_self(), "unlocker");
	for (int i = 1; i <= SLEEPS; i++) {
		until_asleep(p, i);
		p->word = i;
		syscall(SYS_futex, &p->word, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	return NULL;
}

static void *timed(void *unused)
{
	struct timespec ts = { .tv_nsec = 2000000 };
	struct pair *p = begin(TIMED);

	add_sleeps(TIMED, -own_sleeps());
	for (int i = 0; i < SLEEPS; i++)
		syscall(SYS_futex, &p->word, FUTEX_WAIT, 0, &ts, NULL, 0);
	add_sleeps(TIMED, own_sleeps());
	return NULL;
}

static void *reader(void *unused)
{
	struct pair *p = begin(READER);
	char c;

	for (int i = 1; i <= SLEEPS; i++) {
		about_to_sleep(p, i);
		if (read(p->fd[0], &c, 1) != 1)
			perror("read");
	}
	return NULL;
}

/* Starts another process that writes the data for the reader. */
static int start_writer(void)
{
	struct pair *p = &pairs[READER];
	int pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_NAME, "pipe-writer");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 1; i <= SLEEPS; i++) {
		until_asleep(p, i);
		if (write(p->fd[1], "x", 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void *poller(void *unused)
{
	struct pair *p = begin(POLLER);
	struct pollfd polled = { .fd = p->fd[0], .events = POLLIN };
	char c;

	for (int i = 1; i <= SLEEPS; i++) {
		about_to_sleep(p, i);
		if (poll(&polled, 1, 60000) != 1 || read(p->fd[0], &c, 1) != 1)
			perror("poll");
	}
	return NULL;
}

static void *sender(void *unused)
{
	struct pair *p = &pairs[POLLER];

	for (int i = 1; i <= SLEEPS; i++) {
		until_asleep(p, i);
		if (write(p->fd[1], "x", 1) != 1)
			perror("write");
	}
	return NULL;
}

static void *eventer(void *unused)
{
	struct pair *p = begin(EVENTER);
	uint64_t value;

	for (int i = 1; i <= SLEEPS; i++) {
		about_to_sleep(p, i);
		if (read(p->fd[0], &value, sizeof(value)) != sizeof(value))
			perror("read");
	}
	return NULL;
}

static void *poster(void *unused)
{
	struct pair *p = &pairs[EVENTER];
	uint64_t one = 1;

	for (int i = 1; i <= SLEEPS; i++) {
		until_asleep(p, i);
		if (write(p->fd[0], &one, sizeof(one)) != sizeof(one))
			perror("write");
	}
	return NULL;
}

static void *waiter(void *unused)
{
	struct pair *p = begin(WAITER);

	for (int i = 1; i <= CHILDREN; i++) {
		int pid = fork();

		if (!pid) {
			until_asleep(p, i);
			_exit(0);
		}
		about_to_sleep(p, i);
		if (waitpid(pid, NULL, 0) != pid)
			perror("waitpid");
	}
	return NULL;
}

int main(void)
{
	void *(*const all[])(void *) = { napper, locker,  unlocker, timed, reader, poller,
					 sender, eventer, poster,   waiter };
	pthread_t threads[sizeof(all) / sizeof(all[0])];
	int writer;

	pairs = mmap(NULL, PAIRS * sizeof(*pairs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	if (pairs == MAP_FAILED || pipe(pairs[READER].fd) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[POLLER].fd)) {
		perror("sleepers");
		return 1;
	}
	pairs[EVENTER].fd[0] = eventfd(0, 0);
	sleeping_process = getpid();
	truth_ready();
	writer = start_writer();
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		pthread_create(&threads[i], NULL, all[i], NULL);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		pthread_join(threads[i], NULL);
	waitpid(writer, NULL, 0);
	for (int i = 0; i < PAIRS; i++)
		printf("%s.slept=%ld\n", names[i], pairs[i].slept);
	printf("writer.pid=%d\nsleeps=%d\nchildren=%d\n", writer, SLEEPS, CHILDREN);
	truth_done();
	return 0;
}
