/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reuse.c - a reused process id: a child calls and exits, and an unrelated process (the stranger) gets its id and
 * calls.
 *
 * After the first line of input the child calls and exits; this program, which may be a
 * target or not, then forks the stranger with the same id. Prints child.pid first.
 *
 * usage: reuse LIBRARY [MILLISECONDS]: after which the stranger calls
 */
#include <dlfcn.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/truth/truth.h"

#define CHILD_CALLS 70
#define STRANGER_CALLS 900
/* Late enough for a daemon that mistakes the stranger for the child to have probed it, too early to have forgotten the child. */
#define WAIT_MS 400

/* Only child and stranger map the library: without other processes its probes are in the file only. */
static int (*load(const char *library))(int)
{
	void *handle = dlopen(library, RTLD_NOW);
	int (*noop)(int) = handle ? (int (*)(int))dlsym(handle, "truth_noop") : NULL;

	if (!noop) {
		fprintf(stderr, "%s\n", dlerror());
		_exit(1);
	}
	return noop;
}

static void call(int (*noop)(int), int n)
{
	for (int i = 0; i < n; i++)
		noop(i);
}

static void run_child(const char *library, int ready, int go)
{
	int (*noop)(int) = load(library);
	char c;

	if (write(ready, "x", 1) == 1 && read(go, &c, 1) == 1)
		call(noop, CHILD_CALLS);
	_exit(0);
}

static void run_stranger(int (*noop)(int), uint64_t wait_ms)
{
	sleep_ns(wait_ms * 1000000);
	call(noop, STRANGER_CALLS);
	_exit(0);
}

/* Like fork(), with a given process id (Linux 5.5, CAP_CHECKPOINT_RESTORE). */
static pid_t fork_as(pid_t pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = (uintptr_t)&pid,
				   .set_tid_size = 1 };

	return syscall(SYS_clone3, &args, sizeof(args));
}

int main(int argc, char **argv)
{
	int go[2], ready[2];
	pid_t child, stranger;
	char c;

	if (argc < 2 || pipe(go) || pipe(ready))
		return 1;
	child = fork();
	if (!child)
		run_child(argv[1], ready[1], go[0]);
	if (read(ready[0], &c, 1) != 1)
		return 1;
	printf("child.pid=%d\n", child);
	truth_ready();
	if (write(go[1], "x", 1) != 1)
		return 1;
	waitpid(child, NULL, 0);
	stranger = fork_as(child);
	if (!stranger) {
		run_stranger(load(argv[1]), argc > 2 ? strtoull(argv[2], NULL, 10) : WAIT_MS);
	}
	if (stranger > 0)
		waitpid(stranger, NULL, 0);
	printf("stranger.pid=%d\nchild.calls=%d\nstranger.calls=%d\n", stranger, CHILD_CALLS,
	       STRANGER_CALLS);
	truth_done();
	return 0;
}
