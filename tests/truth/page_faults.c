/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_faults.c FOLDER - threads with known numbers of page faults.
 *
 * For minor faults a thread touches fresh memory, one page at a time; for major faults
 * pages of a file in FOLDER that are no longer in memory, each with a separate fault.
 * Also prints the kernel's own counts of the thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/truth/truth.h"

#define MINOR_PAGES 3000
#define MAJOR_PAGES 100
#define MAJOR_STRIDE 32 /* pages from one to the next, so that no fault brings in two of them */

static size_t page;
static char path[4096];

static struct rusage own_usage(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage;
}

static void tell(const char *name, const struct rusage *before)
{
	struct rusage after = own_usage();

	printf("%s.tid=%d\n%s.minor=%ld\n%s.major=%ld\n%s.sleeps=%ld\n", name, own_tid(), name,
	       after.ru_minflt - before->ru_minflt, name, after.ru_majflt - before->ru_majflt, name,
	       after.ru_nvcsw - before->ru_nvcsw);
}

static void *minor(void *unused)
{
	size_t size = MINOR_PAGES * page;
	struct rusage before = own_usage();
	volatile char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || madvise((void *)memory, size, MADV_NOHUGEPAGE))
		perror("page_faults: memory");
	for (size_t i = 0; memory != MAP_FAILED && i < MINOR_PAGES; i++)
		memory[i * page] = 1;
	tell("minor", &before);
	return unused;
}

/* Opens a file without any page in memory; returns -1 if this is not possible here. */
static int cold_file(size_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char *block = calloc(1, size);
	bool written = fd >= 0 && block && write(fd, block, size) == (ssize_t)size;

	free(block);
	if (!written || fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		return -1;
	return fd;
}

static int file = -1;

static void *major(void *unused)
{
	size_t size = (size_t)MAJOR_PAGES * MAJOR_STRIDE * page, sum = 0;
	struct rusage before = own_usage();
	volatile char *memory = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);

	/* No read-ahead, and no mapping of neighbouring pages that are in memory. */
	if (memory == MAP_FAILED || madvise((void *)memory, size, MADV_RANDOM))
		perror("page_faults: file");
	for (size_t i = 0; memory != MAP_FAILED && i < MAJOR_PAGES; i++)
		sum += memory[i * MAJOR_STRIDE * page];
	tell("major", &before);
	printf("sum=%zu\n", sum);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	page = sysconf(_SC_PAGESIZE);
	snprintf(path, sizeof(path), "%s/faults.data", argc > 1 ? argv[1] : "/var/tmp");
	file = cold_file((size_t)MAJOR_PAGES * MAJOR_STRIDE * page);
	if (file < 0)
		fprintf(stderr, "page_faults: %s: %s\n", path, strerror(errno));
	truth_ready();
	pthread_create(&thread, NULL, minor, NULL);
	pthread_join(thread, NULL);
	if (file >= 0) {
		pthread_create(&thread, NULL, major, NULL);
		pthread_join(thread, NULL);
	}
	printf("pages=%d\nfile=%s\ncold=%d\n", MAJOR_PAGES, path, file >= 0);
	truth_done();
	unlink(path);
	return 0;
}
