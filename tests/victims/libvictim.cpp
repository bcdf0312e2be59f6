// SPDX-License-Identifier: Apache-2.0
// The probed functions (victim.h).
#include <csignal>
#include <cstdlib>
#include <execinfo.h>
#include <pthread.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include "victim.h"

// Prevents copies of the functions, and inlining into callers.
#define PROBED __attribute__((noipa, visibility("default")))
#define ENTER(name) int epoch = victim_enters(VICTIM_##name)
#define RETURNS(name) victim_returns(VICTIM_##name, epoch)

PROBED int victim_throw(int i)
{
	ENTER(throw);
	if (i & 1)
		throw std::runtime_error("odd");
	RETURNS(throw);
	return i;
}

PROBED int victim_outer(int i)
{
	ENTER(outer);
	int value = victim_throw(i);

	RETURNS(outer);
	return value + 1;
}

PROBED int victim_catch(int i)
{
	ENTER(catch);
	int value;

	try {
		value = victim_outer(i);
	} catch (const std::exception &) {
		value = -1;
	}
	RETURNS(catch);
	return value;
}

PROBED int victim_deep(int i, int depth)
{
	ENTER(deep);
	int value = depth ? victim_deep(i, depth - 1) : victim_outer(i);

	RETURNS(deep);
	return value;
}

PROBED int victim_tail_target(int i, int from)
{
	ENTER(tail_target);
	if (i & 1)
		throw i;
	RETURNS(tail_target);
	if (from)
		victim_returns(VICTIM_tail, from - 1);
	return i;
}

PROBED int victim_tail(int i)
{
	ENTER(tail);
	return victim_tail_target(i, epoch + 1);
}

PROBED int victim_rethrow(int i)
{
	ENTER(rethrow);
	int value;

	try {
		value = victim_throw(i);
	} catch (const std::exception &) {
		if (i & 2)
			std::rethrow_exception(std::current_exception());
		throw;
	}
	RETURNS(rethrow);
	return value;
}

PROBED int victim_block(int fd)
{
	ENTER(block);
	char c;
	int got = read(fd, &c, 1);

	RETURNS(block);
	return got;
}

PROBED void victim_end_thread(void)
{
	ENTER(end_thread);
	pthread_exit(nullptr);
	RETURNS(end_thread);
}

PROBED int victim_jump(int i, jmp_buf *to)
{
	ENTER(jump);
	if (i & 1)
		longjmp(*to, 1);
	RETURNS(jump);
	return i;
}

PROBED int victim_signal_jump(int i, sigjmp_buf *to)
{
	ENTER(signal_jump);
	if (i & 1)
		siglongjmp(*to, 1);
	RETURNS(signal_jump);
	return i;
}

PROBED int victim_backtrace(void **frames, int size)
{
	ENTER(backtrace);
	int depth = backtrace(frames, size);

	RETURNS(backtrace);
	return depth;
}

static _Unwind_Reason_Code count_frame(struct _Unwind_Context *, void *depth)
{
	++*static_cast<int *>(depth);
	return _URC_NO_REASON;
}

PROBED int victim_unwind_backtrace(void)
{
	ENTER(unwind_backtrace);
	int depth = 0;

	_Unwind_Backtrace(count_frame, &depth);
	RETURNS(unwind_backtrace);
	return depth;
}

PROBED int victim_fault(volatile int *at)
{
	ENTER(fault);
	int value = *at;

	RETURNS(fault);
	return value;
}

PROBED int victim_raise(int signal)
{
	ENTER(raise);
	raise(signal);
	RETURNS(raise);
	return signal;
}

static int status_of(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

PROBED int victim_fork(int status)
{
	ENTER(fork);
	pid_t child = fork();

	if (child == 0)
		throw status;
	status = status_of(child);
	RETURNS(fork);
	return status;
}

PROBED int victim_vfork(const char *path, int i)
{
	ENTER(vfork);
	char *const arguments[] = { const_cast<char *>(path), nullptr };
	volatile int kept = i;
	pid_t child = vfork();

	if (child == 0) {
		victim_uncounted(kept);
		execv(path, arguments);
		_exit(127);
	}
	if (status_of(child))
		kept = -1;
	RETURNS(vfork);
	return kept;
}

PROBED void victim_work(void (*work)(void *), void *argument)
{
	ENTER(work);
	work(argument);
	RETURNS(work);
}

PROBED int victim_leaf(int i)
{
	ENTER(leaf);
	i *= 3;
	RETURNS(leaf);
	return i;
}

PROBED int victim_uncounted(int i)
{
	return 3 * i;
}

PROBED int victim_recurse(int depth)
{
	ENTER(recurse);
	int sum = depth ? victim_recurse(depth - 1) + 1 : 0;

	RETURNS(recurse);
	return sum;
}

PROBED void victim_quit(int status)
{
	ENTER(quit);
	exit(status);
	RETURNS(quit);
}
