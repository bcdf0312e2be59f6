/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_time.c NAME - makes the kernel count the run time of BPF programs while it runs. For each line with a process
 * id on its standard input it prints how often that process's programs of this name have run, and their nanoseconds.
 *
 * Uses the protocol of measured programs (target.h).
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "bench/target.h"

#define PROGRAMS_MAX 1024

static uint32_t ids[PROGRAMS_MAX];
static size_t count;

/* Reads proc_pid_fdinfo(5) of a program or of a link to it. */
static void note_program(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[256];
	uint32_t id;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "prog_id: %u", &id) != 1)
			continue;
		for (size_t i = 0; i < count; i++)
			if (ids[i] == id)
				id = 0;
		if (id && count < PROGRAMS_MAX)
			ids[count++] = id;
	}
	if (file)
		fclose(file);
}

static void note_programs(unsigned long pid)
{
	char folder[64], path[sizeof(folder) + sizeof(((struct dirent *)0)->d_name)];
	struct dirent *entry;
	DIR *dir;

	count = 0;
	snprintf(folder, sizeof(folder), "/proc/%lu/fdinfo", pid);
	dir = opendir(folder);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		note_program(path);
	}
	if (dir)
		closedir(dir);
}

static void add_up(const char *name, uint64_t *runs, uint64_t *ns)
{
	for (size_t i = 0; i < count; i++) {
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(ids[i]);

		if (fd < 0)
			continue;
		if (!bpf_prog_get_info_by_fd(fd, &info, &size) && !strcmp(info.name, name)) {
			*runs += info.run_cnt;
			*ns += info.run_time_ns;
		}
		close(fd);
	}
}

int main(int argc, char **argv)
{
	char line[64];

	if (argc != 2)
		return 2;
	if (bpf_enable_stats(BPF_STATS_RUN_TIME) < 0) {
		fprintf(stderr, "program_time: the kernel counts no time of BPF programs: %s\n", strerror(errno));
		return 1;
	}
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t runs = 0, ns = 0;

		note_programs(strtoul(line, NULL, 10));
		add_up(argv[1], &runs, &ns);
		printf("%llu %llu\n", (unsigned long long)runs, (unsigned long long)ns);
		fflush(stdout);
	}
	return 0;
}
