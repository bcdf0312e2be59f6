/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_totals.c - CPU time, faults, bytes and memory of a process with three threads and
 * 40 children, as the kernel itself counts them.
 *
 * It reads its own figures four times: before it is traced, when it begins, when it
 * is done, and after it was traced. A session's values must lie between the usage
 * from the second to the third reading and the usage from the first to the fourth,
 * whatever delays the machine has in between.
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/truth/truth.h"

#define CHILDREN 40
#define CHILD_NS 2000000ull
#define PAGES 8192
#define CHUNK (1 << 20)

struct figures {
	unsigned long long run_ns, runnable_ns, user_ns, system_ns;
	unsigned long long minor_faults, major_faults, voluntary, involuntary;
	unsigned long long read_chars, write_chars, peak_rss_bytes, children_ns;
};

static pthread_barrier_t begin, end;
static uint64_t work_ns = 300000000ull;

static unsigned long long time_ns(const struct timeval *t)
{
	return t->tv_sec * 1000000000ull + t->tv_usec * 1000ull;
}

/* Adds proc(5) schedstat of each thread: time on a CPU and time waiting for a CPU. */
static void add_schedstats(struct figures *f)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	char path[300];

	while (tasks && (entry = readdir(tasks))) {
		unsigned long long run, runnable;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", entry->d_name);
		file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
		if (!file)
			continue;
		if (fscanf(file, "%llu %llu", &run, &runnable) == 2) {
			f->run_ns += run;
			f->runnable_ns += runnable;
		}
		fclose(file);
	}
	if (tasks)
		closedir(tasks);
}

static void read_io(struct figures *f)
{
	FILE *file = fopen("/proc/self/io", "r");

	if (!file || fscanf(file, "rchar: %llu wchar: %llu", &f->read_chars, &f->write_chars) != 2)
		perror("/proc/self/io");
	if (file)
		fclose(file);
}

static struct figures read_figures(void)
{
	struct figures f = { 0 };
	struct rusage own, children;

	add_schedstats(&f);
	read_io(&f);
	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	f.user_ns = time_ns(&own.ru_utime);
	f.system_ns = time_ns(&own.ru_stime);
	f.minor_faults = own.ru_minflt;
	f.major_faults = own.ru_majflt;
	f.voluntary = own.ru_nvcsw;
	f.involuntary = own.ru_nivcsw;
	f.peak_rss_bytes = own.ru_maxrss * 1024ull;
	f.children_ns = time_ns(&children.ru_utime) + time_ns(&children.ru_stime);
	return f;
}

static void *compute(void *unused)
{
	pthread_barrier_wait(&begin);
	burn(work_ns);
	pthread_barrier_wait(&end);
	pthread_barrier_wait(&end);
	return NULL;
}

/* Runs mostly in the kernel, which fills the buffer. */
static void *read_zeros(void *unused)
{
	uint64_t until = work_ns;
	int fd = open("/dev/zero", O_RDONLY);
	char *buffer = malloc(CHUNK);

	pthread_barrier_wait(&begin);
	until += clock_ns(CLOCK_THREAD_CPUTIME_ID);
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		if (read(fd, buffer, CHUNK) != CHUNK)
			perror("read");
	pthread_barrier_wait(&end);
	pthread_barrier_wait(&end);
	close(fd);
	free(buffer);
	return NULL;
}

static void touch_pages(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	if (memory == MAP_FAILED || madvise(memory, PAGES * page, MADV_NOHUGEPAGE))
		perror("mmap");
	for (long i = 0; i < PAGES; i++)
		memory[i * page] = 1;
}

static void run_children(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();

		if (!child) {
			burn(CHILD_NS);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

#define BETWEEN(field)                                                               \
	printf(#field "_low=%llu\n" #field "_high=%llu\n", done.field - begun.field, \
	       after.field > before.field ? after.field - before.field : 0)

int main(int argc, char **argv)
{
	struct figures before, begun, done, after;
	pthread_t threads[2];

	if (argc > 1)
		work_ns = strtoull(argv[1], NULL, 10) * 1000000;
	pthread_barrier_init(&begin, NULL, 3);
	pthread_barrier_init(&end, NULL, 3);
	pthread_create(&threads[0], NULL, compute, NULL);
	pthread_create(&threads[1], NULL, read_zeros, NULL);
	before = read_figures();
	truth_ready();
	begun = read_figures();
	pthread_barrier_wait(&begin);
	touch_pages();
	run_children();
	pthread_barrier_wait(&end);
	done = read_figures();
	truth_done();
	after = read_figures();
	BETWEEN(run_ns);
	BETWEEN(runnable_ns);
	BETWEEN(user_ns);
	BETWEEN(system_ns);
	BETWEEN(minor_faults);
	BETWEEN(major_faults);
	BETWEEN(voluntary);
	BETWEEN(involuntary);
	BETWEEN(read_chars);
	BETWEEN(write_chars);
	BETWEEN(children_ns);
	printf("peak_rss_low=%llu\npeak_rss_high=%llu\n", done.peak_rss_bytes,
	       after.peak_rss_bytes);
	fflush(stdout);
	pthread_barrier_wait(&end);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
