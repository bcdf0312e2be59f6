/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of the main thread itself, and of a helper: other work that delays feeding the device. */
#include <fcntl.h>
#include <linux/fs.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bench/insight/plants.h"

#define TINY 8 /* small tasks that replace one task */
#define COMPILE_EACH 25 /* items */

static void main_is_root(void)
{
	printf("root.tid=%d\n", own_tid());
}

/* ---- The runtime */

/* Tasks so short that a launch takes longer than its task. */
static void tiny_kernels(void)
{
	main_is_root();
	plant_set_task(task_ns / TINY);
	rounds *= TINY;
	feed(no_item, NULL, PLANT_CPU, item_ns / TINY);
	expect("runtime", 1);
	printf("where=plant_submit\n");
}

static void prepare(void *unused)
{
	struct plant_spell spell;

	if (faulty)
		plant_SyncDevice();
	plant_begin(&spell);
	burn(item_ns);
	plant_end(&spell, PLANT_CPU);
}

/* The main thread waits for each launch before it prepares the next item. */
static void blocking_launches(void)
{
	main_is_root();
	feed(prepare, NULL, NOTED, 0);
	expect("user_code", 1);
}

__attribute__((noinline)) static void compile_kernel(uint64_t ns)
{
	struct plant_spell spell;

	plant_begin(&spell);
	burn(ns);
	plant_end(&spell, PLANT_CPU);
}

static void compile_item(void *unused)
{
	static int items;

	if (++items % COMPILE_EACH == 0)
		compile_kernel((faulty ? COMPILE_EACH : 1) * item_ns);
}

/* Compiles during the run, rarely and for a long time. */
static void compiles(void)
{
	main_is_root();
	feed(compile_item, NULL, NOTED, 0);
	expect("user_code", 1);
	printf("where=compile_kernel|burn|clock_gettime\n");
}

/* ---- The kernel */

/* Makes ioctl calls to a block device that has nothing to flush. */
static void ask_driver(void *unused)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + item_ns;
	static int fd = -1;

	if (fd < 0)
		fd = open(disk, O_RDONLY | O_CLOEXEC);
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		if (ioctl(fd, BLKFLSBUF, 0))
			fail("BLKFLSBUF");
}

static void ioctl_storm(void)
{
	main_is_root();
	feed(ask_driver, NULL, PLANT_CPU, 0);
	expect("driver,user_code", 1);
}

static void trim(uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
	void *blocks[64];

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end) {
		for (int i = 0; i < 64; i++) {
			blocks[i] = malloc(64 << 10);
			memset(blocks[i], 1, 64 << 10);
		}
		for (int i = 0; i < 64; i++)
			free(blocks[i]);
		malloc_trim(0);
	}
}

static void trims(void)
{
	chain(1, 1, trim, PLANT_CPU, "user_code");
	printf("where=trim|madvise|memset|libc|fault\n");
}

/* Touches pages of a file that must be read from disk: no page stays in memory. */
static void touch_file(uint64_t unused)
{
	static char *memory;
	static size_t at;
	static int fd;
	volatile char sum;

	if (!memory) {
		fd = open(disk, O_RDONLY | O_CLOEXEC);
		memory = mmap(NULL, DISK_BYTES, PROT_READ, MAP_SHARED, fd, 0);
		if (fd < 0 || memory == MAP_FAILED)
			fail("mmap");
		madvise(memory, DISK_BYTES, MADV_RANDOM);
		if (faulty)
			posix_fadvise(fd, 0, DISK_BYTES, POSIX_FADV_DONTNEED);
	}
	for (size_t page = 0; page < BLOCK; page += 4096)
		sum = memory[(at + page) % DISK_BYTES];
	(void)sum;
	if (faulty)
		madvise(memory + at, BLOCK, MADV_DONTNEED);
	if (faulty)
		posix_fadvise(fd, (off_t)at, BLOCK, POSIX_FADV_DONTNEED);
	at = (at + BLOCK) % DISK_BYTES;
}

/* Reads the whole disk into memory, for healthy twins. It stays open: the last close would drop the pages. */
static void keep_disk(void)
{
	static char buffer[BLOCK];
	int fd = open(disk, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail(disk);
	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
}

static void major_faults(void)
{
	if (!faulty)
		keep_disk();
	chain(1, 1, touch_file, PLANT_ASLEEP, "page_fault,io");
}

/* Touches more memory than the cgroup's limit: each page that is read evicts a page that is needed soon. */
static void touch_too_much(uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + ns;
	static const char *memory;
	static size_t at;
	volatile char sum;

	if (!memory) {
		int fd = open(disk, O_RDONLY | O_CLOEXEC);

		memory = mmap(NULL, DISK_BYTES, PROT_READ, MAP_SHARED, fd, 0);
		if (fd < 0 || memory == MAP_FAILED)
			fail("mmap");
		if (faulty)
			posix_fadvise(fd, 0, DISK_BYTES, POSIX_FADV_DONTNEED);
	}
	while (clock_ns(CLOCK_MONOTONIC) < end) {
		sum = memory[at];
		at = (at + 4096) % DISK_BYTES;
	}
	(void)sum;
}

static void memory_pressure(void)
{
	if (!faulty)
		keep_disk();
	chain(1, 1, touch_too_much, PLANT_ALL, "page_fault,io,user_code");
	printf("remedy=Memory is short\n");
}

static void save(uint64_t unused)
{
	static char *buffer;
	static off_t at;
	static int fd;

	if (!buffer) {
		fd = open(disk, O_WRONLY | O_CLOEXEC);
		buffer = malloc(BLOCK);
		if (fd < 0 || !buffer)
			fail(disk);
		memset(buffer, 1, BLOCK);
	}
	if (pwrite(fd, buffer, BLOCK, at) != BLOCK || (faulty && fsync(fd)))
		fail("fsync");
	at = (at + BLOCK) % DISK_BYTES;
}

static void save_item(void *unused)
{
	save(0);
}

static void fsync_each(void)
{
	main_is_root();
	feed(save_item, NULL, PLANT_ASLEEP, 0);
	expect("io", 1);
}

/* ---- A helper without a CPU */

static void take_cpu(int number, int cpu)
{
	children[number] = fork();
	if (children[number] < 0)
		fail("fork");
	if (children[number])
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "thief");
	pin(cpu);
	tell_root();
	plant_burn();
}

static struct queue helped;
static int helper_cpu;

static void *help(void *unused)
{
	pthread_setname_np(pthread_self(), "helper");
	pin(helper_cpu);
	for (;;) {
		burn(task_ns / 2);
		put(&helped);
	}
	return NULL;
}

static void starved_helper(void)
{
	init_queue(&helped);
	helper_cpu = first_cpu();
	for (int i = 0; i < 3 && faulty; i++)
		take_cpu(i, helper_cpu);
	start(help, NULL);
	feed(take_item, &helped, NOTED, 0);
	expect("runnable", 2);
}

const struct plant plants_of_work[] = {
	{ "tiny_kernels", tiny_kernels, false },
	{ "blocking_launches", blocking_launches, false },
	{ "compiles", compiles, false },
	{ "ioctl_storm", ioctl_storm, false },
	{ "trims", trims, false },
	{ "major_faults", major_faults, false },
	{ "memory_pressure", memory_pressure, false },
	{ "fsync_each", fsync_each, false },
	{ "starved_helper", starved_helper, false },
	{ NULL, NULL, false },
};
