// SPDX-License-Identifier: Apache-2.0
// Child processes that inherit the stack of a probed function; programs that end inside one.
#include <cstdlib>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

static const int THROWN = 7;

static bool forks(void)
{
	bool ok = true;

	for (int i = 0; i < victim_rounds() / 20; i++) {
		try {
			ok &= victim_fork(THROWN) == THROWN;
		} catch (int status) {
			_exit(status);
		}
	}
	return ok;
}

// The return address is pages away from the child's first write, so its page is still shared with the parent.
static void fork_far_below(void *ok)
{
	volatile char far[32 << 10];
	int status;
	pid_t child;

	far[0] = far[sizeof(far) - 1] = 1;
	child = fork();
	if (child == 0)
		throw THROWN;
	*static_cast<bool *>(ok) &= waitpid(child, &status, 0) == child && WIFEXITED(status) &&
				    WEXITSTATUS(status) == THROWN;
}

static bool forks_deep(void)
{
	bool ok = true;

	for (int i = 0; i < victim_rounds() / 20; i++) {
		try {
			victim_work(fork_far_below, &ok);
		} catch (int status) {
			_exit(status);
		}
	}
	return ok;
}

static bool vforks(void)
{
	bool ok = true;

	for (int i = 0; i < victim_rounds() / 20; i++)
		ok &= victim_vfork("/bin/true", i) == i;
	return ok;
}

static bool leaves(void)
{
	bool ok = true;

	for (int i = 0; i < victim_rounds(); i++)
		ok &= victim_leaf(i) == 3 * i;
	return ok;
}

static void at_exit(void)
{
	victim_print("exit_inside", victim_leaf(5) == 15 && victim_catch(1) == -1);
}

static void quit(void *)
{
	victim_quit(5);
}

static void exit_inside(void)
{
	atexit(at_exit);
	victim_work(quit, nullptr);
}

const victim_case process_cases[] = {
	{ "fork_throw", forks, false, nullptr },  { "fork_deep", forks_deep, false, nullptr },
	{ "vfork_exec", vforks, false, nullptr }, { "exit_inside", leaves, false, exit_inside },
	{ nullptr, nullptr, false, nullptr },
};
