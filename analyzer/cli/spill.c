/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/cli/output_file.h"

#define REGIONS_MAX 256
#define TICK_NS 250000 /* between two checks of the resident size */

/* The signal handler reads these at any time: @at is set last and cleared first; volatile keeps that order. */
struct region {
	void *volatile at;
	volatile size_t size;
	int fd;
};

/* Global, because malloc() has no argument for its state. */
static struct {
	const char *const *folders;
	struct region regions[REGIONS_MAX];
	int statm; /* 1 + descriptor of /proc/self/statm */
	size_t page_size;
	size_t keep; /* bytes of large blocks that malloc() may return */
	size_t kept;
} spill;

/* ---- Resident pages */

/* Bytes of file pages resident in this process: the third number of statm. Called in a signal handler. */
static size_t resident(void)
{
	char text[128];
	ssize_t size = pread(spill.statm - 1, text, sizeof(text), 0);
	size_t pages = 0;
	int spaces = 0;

	for (ssize_t i = 0; i < size && spaces < 3; i++) {
		if (text[i] == ' ')
			spaces++;
		else if (spaces == 2)
			pages = pages * 10 + (size_t)(text[i] - '0');
	}
	return pages * spill.page_size;
}

/* The contents stay in the file: only this process's mappings of pages are dropped. */
static void drop_pages(int signal)
{
	int saved = errno;

	(void)signal;
	if (resident() > SPILL_RESIDENT) {
		for (int i = 0; i < REGIONS_MAX; i++) {
			void *at = spill.regions[i].at;

			if (at)
				madvise(at, spill.regions[i].size, MADV_DONTNEED);
		}
	}
	errno = saved;
}

/* A page has no room on the disk although the file system had reserved it. Called in a signal handler. */
static void tell_full(int signal, siginfo_t *info, void *context)
{
	static const char text[] =
		"analyzer: no space left on the disk for temporary files; set TMPDIR to a folder "
		"on a disk with free space\n";

	(void)context;
	for (int i = 0; i < REGIONS_MAX; i++) {
		const char *at = spill.regions[i].at, *touched = info->si_addr;

		if (!at || touched < at || touched >= at + spill.regions[i].size)
			continue;
		output_abandon();
		if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
			_exit(EXIT_FAILURE); /* stderr is closed */
		_exit(EXIT_FAILURE);
	}
	/* The fault repeats, and ends the program as if there were no handler. */
	sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
}

static bool watch(void)
{
	const struct itimerspec often = { { 0, TICK_NS }, { 0, TICK_NS } };
	struct sigaction action = { .sa_handler = drop_pages, .sa_flags = SA_RESTART };
	struct sigaction full = { .sa_sigaction = tell_full, .sa_flags = SA_SIGINFO };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF };
	timer_t timer;
	int fd;

	if (spill.statm)
		return true;
	fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	spill.page_size = (size_t)sysconf(_SC_PAGESIZE);
	spill.statm = fd + 1;
	/* Not a timer of CPU time, which the kernel checks less often. */
	return sigaction(SIGBUS, &full, NULL) == 0 && sigaction(SIGPROF, &action, NULL) == 0 &&
	       timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 &&
	       timer_settime(timer, 0, &often, NULL) == 0;
}

/* ---- Files */

/* For file systems without O_TMPFILE. Signals are blocked while the file has a name. */
static int open_and_unlink(const char *folder)
{
	sigset_t all, before;
	char path[4096];
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s/analyzer-XXXXXX", folder) >= sizeof(path))
		return -1;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return fd;
}

static int open_unnamed(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd >= 0 ? fd : open_and_unlink(folder);
}

static bool is_memory(int fd)
{
	struct statfs info;

	return fstatfs(fd, &info) != 0 || info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC;
}

/* A full disk harms all other programs that write to it. */
static bool leaves_room(int fd, uint64_t more)
{
	struct statvfs info;
	uint64_t left, free_bytes;

	if (fstatvfs(fd, &info) != 0)
		return true;
	left = (uint64_t)info.f_blocks * info.f_frsize / 20;
	left = left < SPILL_LEFT ? left : SPILL_LEFT;
	free_bytes = (uint64_t)info.f_bavail * info.f_frsize;
	return free_bytes >= left && more <= free_bytes - left;
}

static int write_zeros(int fd, size_t from, size_t to)
{
	static const char zeros[64 << 10];

	while (from < to) {
		size_t size = to - from < sizeof(zeros) ? to - from : sizeof(zeros);
		ssize_t done = pwrite(fd, zeros, size, (off_t)from);

		if (done <= 0)
			return -1;
		from += (size_t)done;
	}
	return 0;
}

/* Reserves disk space for a file that grows. Blocks SIGPROF, because a signal makes some file systems give up. */
static int reserve(int fd, size_t held, size_t size)
{
	sigset_t tick, before;
	int err;

	if (!leaves_room(fd, size - held))
		return -1;
	sigemptyset(&tick);
	sigaddset(&tick, SIGPROF);
	sigprocmask(SIG_BLOCK, &tick, &before);
	err = fallocate(fd, 0, 0, (off_t)size);
	if (err && (errno == EOPNOTSUPP || errno == ENOSYS))
		err = write_zeros(fd, held, size);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}

/* Opens a file with reserved space for @size bytes: touching a page without space on the disk would end the program. */
static int open_file(size_t size)
{
	for (const char *const *folder = spill.folders; folder && *folder; folder++) {
		int fd = **folder ? open_unnamed(*folder) : -1;

		if (fd < 0)
			continue;
		if (!is_memory(fd) && reserve(fd, 0, size) == 0)
			return fd;
		close(fd);
	}
	return -1;
}

/* ---- Blocks */

static size_t whole_pages(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

/* The region of a block. Its blocks begin at a page, those of malloc() do not. */
static struct region *region_of(const void *block)
{
	if (!block || (uintptr_t)block % 4096)
		return NULL;
	for (int i = 0; i < REGIONS_MAX; i++) {
		if (spill.regions[i].at == block)
			return &spill.regions[i];
	}
	return NULL;
}

static struct region *free_region(void)
{
	for (int i = 0; i < REGIONS_MAX; i++) {
		if (!spill.regions[i].at)
			return &spill.regions[i];
	}
	return NULL;
}

void spill_into(const char *const *folders, size_t keep)
{
	/*
	 * Large blocks are mappings of their own: the C library otherwise takes them from its heap after the first ones were
	 * freed, copies them when they grow, and keeps the memory of those that moved to files.
	 */
	mallopt(M_MMAP_THRESHOLD, SPILL_FROM);
	spill.folders = folders;
	spill.keep = keep;
}

bool spill_has_room(size_t size)
{
	bool room = false;

	for (const char *const *folder = spill.folders; folder && *folder && !room; folder++) {
		int fd = **folder ? open_unnamed(*folder) : -1;

		if (fd < 0)
			continue;
		room = !is_memory(fd) && leaves_room(fd, size);
		close(fd);
	}
	return room;
}

size_t spill_kept(void)
{
	return spill.kept;
}

bool spill_keeps(size_t size)
{
	return spill.kept < spill.keep && size <= spill.keep - spill.kept;
}

/* Blocks allocated by libraries may be freed here: the sum may be too small, but never below 0. */
void spill_note(size_t given, size_t freed)
{
	if (freed >= SPILL_FROM)
		spill.kept -= freed < spill.kept ? freed : spill.kept;
	if (given >= SPILL_FROM)
		spill.kept += given;
}

void *spill_new(size_t size)
{
	struct region *region;
	void *at;
	int fd;

	if (size < SPILL_FROM || size > PTRDIFF_MAX / 2 || !spill.folders || spill_keeps(size))
		return NULL;
	region = free_region();
	size = whole_pages(size);
	if (!region || !watch())
		return NULL;
	fd = open_file(size);
	if (fd < 0)
		return NULL;
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		close(fd);
		return NULL;
	}
	region->size = size;
	region->fd = fd;
	region->at = at;
	return at;
}

/* Returns false if not all bytes were written: the caller then copies them. */
static bool write_all(int fd, const char *from, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t written = pwrite(fd, from + done, size - done, (off_t)done);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		done += (size_t)written;
	}
	return true;
}

void *spill_new_of(size_t size, const void *from, size_t held)
{
	void *at = spill_new(size);

	if (at && held > size)
		held = size;
	if (at && !write_all(region_of(at)->fd, from, held))
		memcpy(at, from, held);
	return at;
}

size_t spill_size(const void *block)
{
	const struct region *region = region_of(block);

	return region ? region->size : 0;
}

void *spill_grow(void *block, size_t size)
{
	struct region *region = region_of(block);
	void *at;

	if (!region || size > PTRDIFF_MAX / 2)
		return NULL;
	size = whole_pages(size);
	if (size <= region->size)
		return block;
	if (reserve(region->fd, region->size, size))
		return NULL;
	region->at = NULL;
	at = mremap(block, region->size, size, MREMAP_MAYMOVE);
	if (at == MAP_FAILED) {
		region->at = block;
		return NULL;
	}
	region->size = size;
	region->at = at;
	return at;
}

bool spill_free(void *block)
{
	struct region *region = region_of(block);

	if (!region)
		return false;
	region->at = NULL;
	munmap(block, region->size);
	close(region->fd);
	return true;
}
