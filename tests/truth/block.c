/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block.c PATH - threads with a known number of requests to a block device.
 *
 * PATH is a block device or a file on one. It is read and written with direct I/O,
 * each block with a separate request, and flushed; another thread reads through the
 * page cache, from which PATH is dropped before.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/stat.h>

#include "tests/truth/truth.h"

#define BLOCK 4096
#define READS 200
#define WRITES 100
#define FLUSHES 5
#define CACHED 50
#define CACHED_STRIDE 16 /* blocks from one to the next */

static const char *path;
static char *buffer;

static void fail(const char *what)
{
	printf("failed=%s: %s\n", what, strerror(errno));
	fflush(stdout);
	exit(1);
}

static int open_target(int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		fail("open");
	return fd;
}

/* Prints the number of sleeps of this thread, of any kind. */
static void tell_sleeps(const char *name)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	printf("%s.sleeps=%ld\n", name, usage.ru_nvcsw);
}

static void *reader(void *unused)
{
	int fd = open_target(O_RDONLY | O_DIRECT);

	printf("reader.tid=%d\n", own_tid());
	for (int i = 0; i < READS; i++)
		if (pread(fd, buffer, BLOCK, (off_t)i * 2 * BLOCK) != BLOCK)
			fail("pread");
	tell_sleeps("reader");
	close(fd);
	return unused;
}

static void *writer(void *unused)
{
	int fd = open_target(O_WRONLY | O_DIRECT);

	printf("writer.tid=%d\n", own_tid());
	for (int i = 0; i < WRITES; i++)
		if (pwrite(fd, buffer, 2 * BLOCK, (off_t)i * 4 * BLOCK) != 2 * BLOCK)
			fail("pwrite");
	tell_sleeps("writer");
	close(fd);
	return unused;
}

/* A file is flushed only if it was written since the last flush; a device always. */
static void *flusher(void *unused)
{
	int fd = open_target(O_WRONLY | O_DIRECT);

	printf("flusher.tid=%d\n", own_tid());
	for (int i = 0; i < FLUSHES; i++)
		if (pwrite(fd, buffer, BLOCK, (off_t)i * BLOCK) != BLOCK || fdatasync(fd))
			fail("fdatasync");
	tell_sleeps("flusher");
	close(fd);
	return unused;
}

static void *cached(void *unused)
{
	int fd = open_target(O_RDONLY);

	printf("cached.tid=%d\n", own_tid());
	if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) || posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM))
		fail("posix_fadvise");
	for (int i = 0; i < CACHED; i++)
		if (pread(fd, buffer, BLOCK, (off_t)i * CACHED_STRIDE * BLOCK) != BLOCK)
			fail("pread");
	tell_sleeps("cached");
	close(fd);
	return unused;
}

int main(int argc, char **argv)
{
	void *(*const all[])(void *) = { reader, writer, flusher, cached };
	pthread_t thread;

	path = argc > 1 ? argv[1] : "block.data";
	if (posix_memalign((void **)&buffer, BLOCK, 4 * BLOCK))
		return 1;
	memset(buffer, 1, 4 * BLOCK);
	truth_ready();
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		pthread_create(&thread, NULL, all[i], NULL);
		pthread_join(thread, NULL);
	}
	printf("block=%d\nreads=%d\nwrites=%d\nflushes=%d\ncached=%d\n", BLOCK, READS, WRITES,
	       FLUSHES, CACHED);
	truth_done();
	return 0;
}
