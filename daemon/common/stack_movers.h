/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_movers.h - libraries whose users go on with a stack in another place or another thread.
 *
 * Coroutines whose stacks are copied away from the thread's own and back (greenlet), or of
 * which a thread's own stack is one (schedulers with work stealing): a return address that a
 * probe has replaced would come back where the kernel does not know it. Coroutines on stacks that they
 * allocate are told by their stack pointers and need not be named here.
 */
#ifndef PROFBPF_DAEMON_COMMON_STACK_MOVERS_H
#define PROFBPF_DAEMON_COMMON_STACK_MOVERS_H

#include <stdbool.h>

/* stack_mover_file - does a process that maps this file move stacks? By the file's name. */
bool stack_mover_file(const char *path);

#endif /* PROFBPF_DAEMON_COMMON_STACK_MOVERS_H */
