/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mindspore_tasks.h - which operator of MindSpore's MindData each running thread
 * works for, found from outside.
 *
 * Each of MindData's threads has a Task, and the exported thread-local variable
 * mindspore::dataset::gMyTask points to it. Where it lies is in the process's
 * memory: the library's relocations name the two words of its global offset table
 * that hold the module's number and the variable's offset, the thread's table of
 * modules (dtv) gives the module's block. Only threads that began before their
 * start could be traced need this.
 *
 * Sources: the ELF handling of thread-local storage (variant of x86-64, glibc);
 * Task of mindspore/ccsrc/minddata/dataset/util/task.h, whose layout is in a table
 * with the MindSpore versions it was found in. Nothing is believed without the
 * check that the table's entry allows. AArch64 addresses such variables in another
 * way (TLSDESC) and is not looked at.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_MINDSPORE_MINDSPORE_TASKS_H
#define PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_MINDSPORE_MINDSPORE_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bpf/events.h"
#include "daemon/profbpfd/session/item.h"

/* mindspore_tasks_file - is this MindData's library? Processes that do not map it need not be looked at. */
bool mindspore_tasks_file(const char *path);

/*
 * mindspore_tasks_find - the tasks of one process
 *
 * @threads are those of all targets. Returns a THREAD_ROLES item, or NULL if the
 * process has no MindData, no thread of it, or memory is out. If it has but they
 * cannot be told, *@problem is set to a text (a constant) for the user.
 */
struct item *mindspore_tasks_find(pid_t pid, const struct thread_pointer *threads, size_t count,
				  const char **problem);

#endif /* PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_MINDSPORE_MINDSPORE_TASKS_H */
