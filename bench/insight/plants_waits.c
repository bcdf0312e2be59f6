/* SPDX-License-Identifier: Apache-2.0 */
/* Faults at the end of chains of waits: pools, locks, and the ways to pass items between threads and processes. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/insight/plants.h"

/* An item takes each of four workers four times as long, so together they make as many. */
static void four_workers(void)
{
	item_ns *= faulty ? 4 : 1;
	chain(1, 4, sleep_ns, PLANT_ASLEEP, "sleep");
}

static void relay(void)
{
	chain(2, 1, sleep_ns, PLANT_ASLEEP, "sleep");
}

/* ---- No items in advance: the worker begins on request */

static struct stage asked = { .name = "worker" };

static void *work_when_asked(void *unused)
{
	pthread_setname_np(pthread_self(), asked.name);
	tell_root();
	for (;;) {
		take(&asked.asked);
		do_work(&asked);
		put(&asked.out);
	}
	return NULL;
}

/* The main thread waits for the whole work on an item, after the device has become idle. */
static void ask_item(void *unused)
{
	if (faulty)
		plant_SyncDevice();
	put(&asked.asked);
	take(&asked.out);
}

static void ask(void (*work)(uint64_t ns), int kind, const char *causes)
{
	init_queue(&asked.out);
	init_queue(&asked.asked);
	asked.work = work;
	asked.kind = kind;
	start(work_when_asked, NULL);
	feed(ask_item, NULL, PLANT_NOTHING, 0);
	expect(causes, 2);
}

static void no_prefetch(void)
{
	ask(burn, PLANT_CPU, "user_code");
}

static void no_prefetch_sleep(void)
{
	ask(sleep_ns, PLANT_ASLEEP, "sleep");
}

/* ---- Locks */

static void lock_disk(void)
{
	lock_with(read_disk, PLANT_ASLEEP, "io");
}

static pthread_mutex_t convoy = PTHREAD_MUTEX_INITIALIZER;

static void *join_convoy(void *unused)
{
	struct stage self = { .work = sleep_ns, .kind = PLANT_ASLEEP };

	pthread_setname_np(pthread_self(), "convoy");
	tell_root();
	for (;;) {
		pthread_mutex_lock(&convoy);
		do_work(&self);
		pthread_mutex_unlock(&convoy);
		sleep_ns(PIECE_NS);
	}
	return NULL;
}

static void convoy_item(void *unused)
{
	pthread_mutex_lock(&convoy);
	pthread_mutex_unlock(&convoy);
}

/* Several threads contend for one lock, without an order among the waiters. */
static void lock_convoy(void)
{
	item_ns /= faulty ? 2 : 1;
	for (int i = 0; i < (faulty ? 3 : 1); i++)
		start(join_convoy, NULL);
	feed(convoy_item, NULL, NOTED, 0);
	expect("sleep", 2);
}

/* A lock shared by processes, held during a sleep. */
struct shared_lock {
	pthread_mutex_t lock;
};

static void shared_item(void *argument)
{
	struct shared_lock *shared = argument;

	pthread_mutex_lock(&shared->lock);
	pthread_mutex_unlock(&shared->lock);
}

static void hold_shared(struct shared_lock *shared)
{
	struct stage self = { .work = sleep_ns, .kind = PLANT_ASLEEP };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "other");
	tell_root();
	for (;;) {
		pthread_mutex_lock(&shared->lock);
		do_work(&self);
		pthread_mutex_unlock(&shared->lock);
		sleep_ns(PIECE_NS);
	}
}

static void lock_process(void)
{
	struct shared_lock *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attributes;

	if (shared == MAP_FAILED)
		fail("mmap");
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->lock, &attributes);
	children[0] = fork();
	if (children[0] < 0)
		fail("fork");
	if (!children[0])
		hold_shared(shared);
	feed(shared_item, shared, PLANT_NOTHING, 0);
	expect("sleep", 2);
}

/* ---- Ways to pass items */

static int events;

static void *signal_events(void *unused)
{
	struct stage self = { .work = sleep_ns, .kind = PLANT_ASLEEP };

	pthread_setname_np(pthread_self(), "signals");
	tell_root();
	for (;;) {
		do_work(&self);
		eventfd_write(events, 1);
	}
	return NULL;
}

static void event_item(void *unused)
{
	eventfd_t value;

	if (eventfd_read(events, &value))
		fail("eventfd");
}

static void event_fd(void)
{
	events = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	start(signal_events, NULL);
	feed(event_item, NULL, PLANT_NOTHING, 0);
	expect("sleep", 2);
}

static void unix_source(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		fail("socketpair");
	serve_in_child(sleep_ns, PLANT_ASLEEP, pair[1], true);
	feed(read_item, &pair[0], PLANT_NOTHING, 0);
	expect("sleep", 2);
}

/* A process that passes on the items of another process. */
static void hand_on(int from, int to)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "middle");
	while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
		;
	_exit(0);
}

static void three_processes(void)
{
	int first[2], second[2];

	if (pipe(first) || pipe(second))
		fail("pipe");
	serve_in_child(burn, PLANT_CPU, first[1], true);
	children[1] = fork();
	if (children[1] < 0)
		fail("fork");
	if (!children[1])
		hand_on(first[0], second[1]);
	feed(read_item, &second[0], PLANT_NOTHING, 0);
	expect("user_code", 3);
}

const struct plant plants_of_waits[] = {
	{ "four_workers", four_workers, false },
	{ "relay", relay, false },
	{ "no_prefetch", no_prefetch, false },
	{ "no_prefetch_sleep", no_prefetch_sleep, false },
	{ "lock_disk", lock_disk, false },
	{ "lock_convoy", lock_convoy, false },
	{ "lock_process", lock_process, false },
	{ "event_fd", event_fd, false },
	{ "unix_source", unix_source, false },
	{ "three_processes", three_processes, false },
	{ NULL, NULL, false },
};
