/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocked.c - threads blocked in an ioctl, or asleep in a read, since before the session, until after it, or both.
 *
 * An ioctl that writes a number to memory whose pages a userfaultfd withholds is blocked until it gets them,
 * with any device. The program continues when the kernel reports that a thread is asleep, or when the thread
 * has returned.
 */
#include <fcntl.h>
#include <linux/random.h>
#include <linux/userfaultfd.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "tests/truth/truth.h"

#define AFTERWARDS 3 /* further ioctls of a thread whose first ioctl was blocked */

struct blocked {
	const char *name;
	bool ioctl; /* else a read of a pipe */
	int device; /* or the end of the pipe to read from */
	int other_end;
	char *page; /* withheld by the userfaultfd */
	atomic_int tid;
	atomic_bool over; /* the call has returned */
	_Atomic uint64_t entered_ns, returned_ns; /* just before and after the call */
	pthread_t thread;
};

enum { IOCTL_BEFORE, IOCTL_THROUGHOUT, IOCTL_AFTER, READ_BEFORE, READ_THROUGHOUT, READ_AFTER, THREADS };

static struct blocked all[THREADS] = {
	[IOCTL_BEFORE] = { .name = "ioctl_before", .ioctl = true },
	[IOCTL_THROUGHOUT] = { .name = "ioctl_through", .ioctl = true },
	[IOCTL_AFTER] = { .name = "ioctl_after", .ioctl = true },
	[READ_BEFORE] = { .name = "read_before" },
	[READ_THROUGHOUT] = { .name = "read_through" },
	[READ_AFTER] = { .name = "read_after" },
};
static int held_back, page_size;

static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

static int make_userfaultfd(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api))
		give_up("UFFDIO_API");
	return fd;
}

static void prepare(struct blocked *b)
{
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int ends[2];

	if (!b->ioctl) {
		if (pipe(ends))
			give_up("pipe");
		b->device = ends[0];
		b->other_end = ends[1];
		return;
	}
	b->device = open("/dev/urandom", O_RDONLY);
	b->page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range = (struct uffdio_range){ (uintptr_t)b->page, page_size };
	if (b->device < 0 || b->page == MAP_FAILED || ioctl(held_back, UFFDIO_REGISTER, &range))
		give_up("UFFDIO_REGISTER");
}

static void *block(void *argument)
{
	struct blocked *b = argument;
	int entropy;
	char byte;

	pthread_setname_np(pthread_self(), b->name);
	b->entered_ns = clock_ns(CLOCK_MONOTONIC);
	b->tid = own_tid();
	if (b->ioctl ? ioctl(b->device, RNDGETENTCNT, b->page) : read(b->device, &byte, 1) != 1)
		perror(b->name);
	b->returned_ns = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; b->ioctl && b == &all[IOCTL_BEFORE] && i < AFTERWARDS; i++)
		if (ioctl(b->device, RNDGETENTCNT, &entropy))
			perror(b->name);
	b->over = true;
	return NULL;
}

/* Returns whether the thread is asleep in the system call that must block it. */
static bool is_blocked(const struct blocked *b)
{
	char path[64], text[64] = "";
	FILE *file;

	if (!b->tid || !is_asleep(getpid(), b->tid, 0))
		return false;
	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", b->tid);
	file = fopen(path, "r");
	if (!file || !fgets(text, sizeof(text), file))
		text[0] = 0;
	if (file)
		fclose(file);
	return atoi(text) == (b->ioctl ? SYS_ioctl : SYS_read) && text[0] != 'r';
}

static void start(struct blocked *b)
{
	if (pthread_create(&b->thread, NULL, block, b))
		give_up("pthread_create");
	while (!is_blocked(b))
		sleep_ns(1000000);
}

static void release(struct blocked *b)
{
	struct uffdio_zeropage zero = { .range = { (uintptr_t)b->page, page_size } };

	if (b->ioctl ? ioctl(held_back, UFFDIO_ZEROPAGE, &zero) : write(b->other_end, "x", 1) != 1)
		give_up(b->name);
	while (!b->over)
		sleep_ns(1000000);
}

static void say(const struct blocked *b)
{
	printf("%s.tid=%d\n%s.entered_ns=%llu\n", b->name, b->tid, b->name, (unsigned long long)b->entered_ns);
	if (b->over)
		printf("%s.returned_ns=%llu\n", b->name, (unsigned long long)b->returned_ns);
}

int main(void)
{
	page_size = sysconf(_SC_PAGESIZE);
	held_back = make_userfaultfd();
	if (held_back < 0) {
		printf("no userfaultfd\n");
		return 1;
	}
	for (int i = 0; i < THREADS; i++)
		prepare(&all[i]);
	start(&all[IOCTL_BEFORE]);
	start(&all[IOCTL_THROUGHOUT]);
	start(&all[READ_BEFORE]);
	start(&all[READ_THROUGHOUT]);
	truth_ready();
	printf("released_ns=%llu\n", (unsigned long long)clock_ns(CLOCK_MONOTONIC));
	release(&all[IOCTL_BEFORE]);
	release(&all[READ_BEFORE]);
	start(&all[IOCTL_AFTER]);
	start(&all[READ_AFTER]);
	printf("blocked_ns=%llu\nafterwards=%d\n", (unsigned long long)clock_ns(CLOCK_MONOTONIC), AFTERWARDS);
	for (int i = 0; i < THREADS; i++)
		say(&all[i]);
	truth_done();
	release(&all[IOCTL_THROUGHOUT]);
	release(&all[READ_THROUGHOUT]);
	release(&all[IOCTL_AFTER]);
	release(&all[READ_AFTER]);
	return 0;
}
