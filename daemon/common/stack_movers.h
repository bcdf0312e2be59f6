/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_movers.h - libraries that move stacks to another place or another thread.
 *
 * They copy the stacks of coroutines away from the thread's own stack and back (greenlet), or use a thread's own
 * stack as that of a coroutine (schedulers with work stealing): a return address that a probe has replaced would
 * be used where the kernel does not know it. Coroutines on allocated stacks are recognised by their stack
 * pointers and need not be named here.
 */
#ifndef PROFBPF_DAEMON_COMMON_STACK_MOVERS_H
#define PROFBPF_DAEMON_COMMON_STACK_MOVERS_H

#include <stdbool.h>

/* stack_mover_file - does a process that maps this file move stacks? By the file's name. */
bool stack_mover_file(const char *path);

#endif /* PROFBPF_DAEMON_COMMON_STACK_MOVERS_H */
