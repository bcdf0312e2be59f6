/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.c - changes after attach: a library by dlopen, a child by fork, a
 * program by exec. The child calls from its first instruction on.
 */
#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/truth/truth.h"

#define CHILD_CALLS 300
#define EXEC_CALLS 200
#define LATE_CALLS 100

static void call(int n)
{
	for (int i = 0; i < n; i++)
		truth_noop(i);
}

/* Waits until the code of @function differs from its file: it has a breakpoint. */
static void until_probed(void *function)
{
	unsigned char bytes[16];
	Dl_info info;
	FILE *file = dladdr(function, &info) ? fopen(info.dli_fname, "r") : NULL;

	if (!file || fseek(file, (char *)function - (char *)info.dli_fbase, SEEK_SET) ||
	    fread(bytes, sizeof(bytes), 1, file) != 1) {
		fprintf(stderr, "follow: the file of a function cannot be read\n");
		exit(1);
	}
	fclose(file);
	for (int i = 0; i < 3000 && !memcmp(bytes, function, sizeof(bytes)); i++)
		sleep_ns(100000000);
	/* With some kernels, probes of returns are attached a moment after those of entries. */
	sleep_ns(300000000);
}

static void load_late(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW);
	int (*second)(int) = handle ? (int (*)(int))dlsym(handle, "truth_second") : NULL;

	if (!second) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	/* An unexpected library: immediate calls may be missed, and the report must say so. */
	until_probed((void *)second);
	for (int i = 0; i < LATE_CALLS; i++)
		second(i);
}

/* Returns the file offset of truth_noop(): this machine may have no command that reads symbols. */
static unsigned long noop_offset(void)
{
	void *address = dlsym(RTLD_DEFAULT, "truth_noop");
	Dl_info info;

	if (!address || !dladdr(address, &info)) {
		fprintf(stderr, "follow: truth_noop is not loaded\n");
		exit(1);
	}
	return (unsigned long)((char *)address - (char *)info.dli_fbase);
}

static pid_t child(char *exe)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid && !exe) {
		call(CHILD_CALLS);
		_exit(0);
	}
	if (!pid) {
		execl(exe, exe, "exec", NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	return pid;
}

int main(int argc, char **argv)
{
	pid_t forked, executed;

	if (argc > 1 && (!strcmp(argv[1], "exec") || !strcmp(argv[1], "slow"))) {
		if (!strcmp(argv[1], "slow"))
			until_probed(dlsym(RTLD_DEFAULT, "truth_noop"));
		call(EXEC_CALLS);
		return 0;
	}
	truth_ready();
	if (argc > 1)
		load_late(argv[1]);
	forked = child(NULL);
	executed = child(argv[0]);
	printf("noop.offset=%lu\n", noop_offset());
	printf("parent.pid=%d\nchild.pid=%d\nchild.calls=%d\nexec.pid=%d\nexec.calls=%d\nlate.calls=%d\n",
	       getpid(), forked, CHILD_CALLS, executed, EXEC_CALLS, LATE_CALLS);
	truth_done();
	return 0;
}
