/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plants.c KIND faulty|healthy TASK_US PERCENT SECONDS [DISK] - a job with one planted fault, or without it.
 *
 * The main thread feeds a device (plant.h) with items. With the fault an item takes PERCENT of a
 * task's time, so that the device is idle for the rest; in the healthy twin an eighth of it. At the end the job prints
 * the real activity of each thread and the expected result of an analysis: root.tid (any of several), causes, words
 * of the code location if it matters (where), and the number of threads in the chain (hops). DISK is a file on a
 * block device with no page in memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "bench/insight/plants.h"

bool faulty;
uint64_t task_ns, item_ns;
const char *disk;
pid_t children[POOL];

int rounds;
static int pipes[2];

_Noreturn void fail(const char *what)
{
	printf("failed=%s: %s\n", what, strerror(errno));
	fflush(stdout);
	exit(1);
}

void tell_root(void)
{
	printf("root.tid=%d\n", own_tid());
	fflush(stdout);
}

void init_queue(struct queue *queue)
{
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->filled, NULL);
	pthread_cond_init(&queue->room, NULL);
}

void put(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->count == QUEUE)
		pthread_cond_wait(&queue->room, &queue->lock);
	queue->count++;
	pthread_cond_signal(&queue->filled);
	pthread_mutex_unlock(&queue->lock);
}

void take(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	while (!queue->count)
		pthread_cond_wait(&queue->filled, &queue->lock);
	queue->count--;
	pthread_cond_signal(&queue->room);
	pthread_mutex_unlock(&queue->lock);
}

/* ---- Work */

/* Reads a block from the disk. */
void read_disk(uint64_t unused)
{
	static off_t at;
	static int fd = -1;
	static char *buffer;

	if (fd < 0) {
		fd = open(disk, O_RDONLY | O_DIRECT | O_CLOEXEC);
		if (fd < 0 || posix_memalign((void **)&buffer, 4096, BLOCK))
			fail(disk);
	}
	if (pread(fd, buffer, BLOCK, at) < BLOCK)
		fail("pread");
	at = (at + BLOCK) % DISK_BYTES;
}

/* Faults pages as an allocator does that returns memory to the kernel at once. */
static void fault_pages(uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
	size_t size = 4u << 20;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end) {
		char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0);

		if (memory == MAP_FAILED)
			fail("mmap");
		for (size_t at = 0; at < size && clock_ns(CLOCK_THREAD_CPUTIME_ID) < end;
		     at += 4096)
			((volatile char *)memory)[at] = 1;
		munmap(memory, size);
	}
}

static char *copied[2];

static void copy_memory(uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		memcpy(copied[0], copied[1], 1u << 20);
}

void do_work(struct stage *stage)
{
	struct plant_spell spell;

	plant_begin(&spell);
	stage->work(item_ns);
	plant_end(&spell, stage->kind);
}

static void *run_stage(void *argument)
{
	struct stage *stage = argument;

	pthread_setname_np(pthread_self(), stage->name);
	if (!stage->from)
		tell_root();
	for (;;) {
		if (stage->from)
			take(&stage->from->out);
		else
			do_work(stage);
		put(&stage->out);
	}
	return NULL;
}

void start(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, argument))
		fail("pthread_create");
}

/* ---- The main thread */

/* @kind: of an item, or NOTED if its spells are recorded elsewhere. */
void feed(void (*item)(void *), void *argument, int kind, uint64_t cost_ns)
{
	for (int i = 0; i <= rounds; i++) {
		struct plant_spell spell;

		plant_wait_room();
		plant_begin(&spell);
		item(argument);
		if (!cost_ns && kind != NOTED)
			plant_end(&spell, kind);
		plant_submit(cost_ns);
		if (cost_ns)
			plant_end(&spell, kind);
	}
}

void take_item(void *queue)
{
	take(queue);
}

void expect(const char *causes, int hops)
{
	printf("causes=%s\nhops=%d\n", causes, hops);
}

/* Makes a chain of @count stages, of which the last works: it is a pool of @workers threads. */
void chain(int count, int workers, void (*work)(uint64_t ns), int kind, const char *causes)
{
	static struct stage stages[STAGES];

	for (int i = 0; i < count; i++) {
		struct stage *stage = &stages[i];

		snprintf(stage->name, sizeof(stage->name), "stage%d", count - i);
		init_queue(&stage->out);
		stage->from = i + 1 < count ? &stages[i + 1] : NULL;
		stage->work = work;
		stage->kind = kind;
	}
	for (int i = 0; i < count; i++)
		for (int k = 0; k < (i + 1 == count ? workers : 1); k++)
			start(run_stage, &stages[i]);
	feed(take_item, &stages[0].out, PLANT_NOTHING, 0);
	expect(causes, count + 1);
}

static void slow_operator(void)
{
	chain(2, 1, burn, PLANT_CPU, "user_code");
}

static void chain_three(void)
{
	chain(3, 1, sleep_ns, PLANT_ASLEEP, "sleep");
}

static void chain_four(void)
{
	chain(4, 1, burn, PLANT_CPU, "user_code");
}

static void slow_disk(void)
{
	chain(2, 1, read_disk, PLANT_ASLEEP, "io");
}

/* An item takes a worker so long that three workers would be enough. */
static void few_workers(void)
{
	item_ns = 3 * task_ns / 2;
	chain(1, faulty ? 1 : POOL, sleep_ns, PLANT_ASLEEP, "sleep");
}

static void two_workers(void)
{
	item_ns *= faulty ? 2 : 1;
	chain(1, 2, sleep_ns, PLANT_ASLEEP, "sleep");
}

static void page_faults(void)
{
	chain(1, 1, fault_pages, PLANT_CPU, "user_code");
	printf("where=fault_pages\nwords=page faults\n");
}

static void memory_copy(void)
{
	for (int i = 0; i < 2; i++)
		copied[i] = calloc(1, 1u << 20);
	chain(1, 1, copy_memory, PLANT_CPU, "user_code");
	printf("where=memcpy|memmove|copy_memory|libc\n");
}

/* ---- CPUs */

static void *run_burner(void *unused)
{
	tell_root();
	plant_burn();
	return NULL;
}

/* Works in small spells, so that the part within idle times of the device is exact. */
static void limited_work(void *unused)
{
	struct plant_spell spell;

	for (uint64_t done = 0; done < task_ns / 2; done += PIECE_NS) {
		plant_begin(&spell);
		burn(PIECE_NS);
		plant_end(&spell, PLANT_OFF_CPU);
	}
}

static void own_work(void *unused)
{
	burn(task_ns / 2);
}

/* Starts @count foreign processes with @threads threads each, which keep the CPU of the job busy. */
static void thieves(int count, int threads)
{
	for (int i = 0; i < count && faulty; i++) {
		children[i] = fork();
		if (children[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "thief");
		tell_root();
		for (int k = 1; k < threads; k++)
			start(run_burner, NULL);
		plant_burn();
	}
	feed(own_work, NULL, NOTED, 0);
	expect("runnable", 1);
}

static void thief(void)
{
	thieves(1, 2);
}

static void three_thieves(void)
{
	thieves(3, 1);
}

/* All threads of the job share one CPU. */
static void one_cpu(void)
{
	for (int i = 0; i < 3 && faulty; i++)
		start(run_burner, NULL);
	feed(own_work, NULL, NOTED, 0);
	expect("runnable", 1);
}

static void quota(void)
{
	printf("root.tid=%d\n", own_tid());
	feed(limited_work, NULL, NOTED, 0);
	expect("throttled", 1);
}

/* ---- Locks */

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static struct stage holder = { .name = "holder" };

/* Takes the lock before each item, and signals that. */
static void *hold(void *unused)
{
	pthread_setname_np(pthread_self(), holder.name);
	tell_root();
	for (;;) {
		take(&holder.asked);
		pthread_mutex_lock(&held);
		put(&holder.out);
		do_work(&holder);
		pthread_mutex_unlock(&held);
	}
	return NULL;
}

static void lock_item(void *unused)
{
	put(&holder.asked);
	take(&holder.out);
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
}

void lock_with(void (*work)(uint64_t ns), int kind, const char *causes)
{
	init_queue(&holder.out);
	init_queue(&holder.asked);
	holder.work = work;
	holder.kind = kind;
	start(hold, NULL);
	feed(lock_item, NULL, PLANT_NOTHING, 0);
	expect(causes, 2);
}

static void lock_sleep(void)
{
	lock_with(sleep_ns, PLANT_ASLEEP, "sleep");
}

static void lock_burn(void)
{
	lock_with(burn, PLANT_CPU, "user_code");
}

/* ---- Other processes */

/* Does @work for each item, and then writes or reads a byte; runs in a process of its own. */
static void serve(void (*work)(uint64_t ns), int kind, int fd, bool writes)
{
	struct stage self = { .work = work, .kind = kind };
	char byte[4096];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "server");
	tell_root();
	for (;;) {
		do_work(&self);
		if (writes ? write(fd, byte, 1) != 1 : read(fd, byte, sizeof(byte)) <= 0)
			_exit(0);
	}
}

void serve_in_child(void (*work)(uint64_t ns), int kind, int fd, bool writes)
{
	children[0] = fork();
	if (children[0] < 0)
		fail("fork");
	if (!children[0])
		serve(work, kind, fd, writes);
}

void read_item(void *fd)
{
	char byte;

	if (read(*(int *)fd, &byte, 1) != 1)
		fail("read");
}

static void write_item(void *fd)
{
	static char line[4096];

	if (write(*(int *)fd, line, sizeof(line)) != sizeof(line))
		fail("write");
}

static void slow_source(void)
{
	serve_in_child(sleep_ns, PLANT_ASLEEP, pipes[1], true);
	feed(read_item, &pipes[0], PLANT_NOTHING, 0);
	expect("sleep", 2);
}

static void busy_source(void)
{
	serve_in_child(burn, PLANT_CPU, pipes[1], true);
	feed(read_item, &pipes[0], PLANT_NOTHING, 0);
	expect("user_code", 2);
}

/* Writes a page of log for each item; the reader of the log is slow. */
static void slow_log(void)
{
	fcntl(pipes[1], F_SETPIPE_SZ, 4096);
	serve_in_child(sleep_ns, PLANT_ASLEEP, pipes[0], false);
	feed(write_item, &pipes[1], PLANT_NOTHING, 0);
	expect("sleep", 2);
}

static void remote_loader(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(server, (void *)&address, size) || listen(server, 1) ||
	    getsockname(server, (void *)&address, &size) || connect(client, (void *)&address, size))
		fail("socket");
	serve_in_child(sleep_ns, PLANT_ASLEEP, accept(server, NULL, NULL), true);
	feed(read_item, &client, PLANT_NOTHING, 0);
	expect("sleep", 2);
}

/* ---- The runtime */

void no_item(void *unused)
{
}

/* The wait for the device comes first and is no fault; plant_copy() records the spell of the copy. */
static void copy_item(void *unused)
{
	plant_copy(faulty ? item_ns : task_ns / 100);
}

static void slow_launch(void)
{
	printf("root.tid=%d\n", own_tid());
	feed(no_item, NULL, PLANT_CPU, item_ns);
	expect("runtime", 1);
	printf("where=plant_submit\n");
}

static void sync_copy(void)
{
	printf("root.tid=%d\n", own_tid());
	feed(faulty ? copy_item : no_item, NULL, NOTED, 0);
	expect("runtime", 1);
	printf("where=plant_copy\n");
}

static const struct plant plants[] = {
	{ "slow_operator", slow_operator, false },
	{ "chain_three", chain_three, false },
	{ "chain_four", chain_four, false },
	{ "slow_disk", slow_disk, false },
	{ "few_workers", few_workers, false },
	{ "two_workers", two_workers, false },
	{ "page_faults", page_faults, false },
	{ "memory_copy", memory_copy, false },
	{ "thief", thief, true },
	{ "three_thieves", three_thieves, true },
	{ "one_cpu", one_cpu, true },
	{ "quota", quota, false },
	{ "lock_sleep", lock_sleep, false },
	{ "lock_burn", lock_burn, false },
	{ "slow_source", slow_source, false },
	{ "busy_source", busy_source, false },
	{ "slow_log", slow_log, false },
	{ "remote_loader", remote_loader, false },
	{ "slow_launch", slow_launch, false },
	{ "sync_copy", sync_copy, false },
	{ NULL, NULL, false },
};

static const struct plant *const all_plants[] = { plants, plants_of_waits, plants_of_work };

#define LISTS (sizeof(all_plants) / sizeof(all_plants[0]))

static const struct plant *find(const char *name)
{
	for (size_t i = 0; i < LISTS; i++)
		for (const struct plant *plant = all_plants[i]; plant->name; plant++)
			if (!strcmp(plant->name, name))
				return plant;
	return NULL;
}

int main(int argc, char **argv)
{
	const struct plant *plant = argc > 5 ? find(argv[1]) : NULL;
	cpu_set_t set;

	if (!plant) {
		for (size_t i = 0; i < LISTS; i++)
			for (plant = all_plants[i]; plant->name; plant++)
				puts(plant->name);
		return argc > 1 ? 2 : 0;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	faulty = !strcmp(argv[2], "faulty");
	task_ns = strtoull(argv[3], NULL, 10) * 1000;
	item_ns = faulty ? task_ns * strtoull(argv[4], NULL, 10) / 100 : task_ns / 8;
	rounds = (int)(strtod(argv[5], NULL) * 1e9 /
		       (double)(item_ns > task_ns ? item_ns : task_ns));
	disk = argc > 6 ? argv[6] : NULL;
	if (pipe(pipes) || sched_getaffinity(0, sizeof(set), &set))
		fail("pipe");
	if (plant->one_cpu)
		pin(first_cpu());
	plant_open(task_ns);
	truth_ready();
	printf("main.tid=%d\n", own_tid());
	plant->run();
	plant_print();
	for (int i = 0; i < POOL; i++)
		if (children[i] > 0)
			kill(children[i], SIGKILL);
	truth_done();
	/* No destructors: running threads may still use the device's memory. */
	_exit(0);
}
