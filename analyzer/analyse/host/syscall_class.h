/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_class.h - what a thread waits for when it sleeps in a system call.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_SYSCALL_CLASS_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_SYSCALL_CLASS_H

#include <stdbool.h>
#include <stdint.h>

enum syscall_class {
	SYSCALL_OTHER = 0,
	SYSCALL_LOCK, /* futex, System V semaphores, file locks */
	SYSCALL_SLEEP, /* until a time or a signal */
	SYSCALL_POLL, /* poll, select, epoll_wait */
	SYSCALL_READ, /* read and its like, message queues: file, pipe or socket */
	SYSCALL_WRITE,
	SYSCALL_NETWORK, /* sockets only */
	SYSCALL_FILE, /* files only: open, fsync, io_uring_enter, ... */
	SYSCALL_WAIT, /* wait4, waitid */
	SYSCALL_MEMORY, /* mmap and its like */
	SYSCALL_IOCTL,
};

/* System calls of one architecture, looked up once per number. */
struct syscall_table;

/*
 * syscall_table_new - for an architecture as uname -m names it
 *
 * For an unknown one all calls are SYSCALL_OTHER without a name. NULL without memory.
 */
struct syscall_table *syscall_table_new(const char *arch);
void syscall_table_free(struct syscall_table *table);

/* Class of a number; SYSCALL_OTHER for -1 (none) and numbers it doesn't know. */
enum syscall_class syscall_class(struct syscall_table *table, int16_t number);

/* Is it futex() or one of its younger relatives? */
bool syscall_is_futex(struct syscall_table *table, int16_t number);

/* Name of a number, owned by the table; NULL if it isn't known. */
const char *syscall_name(struct syscall_table *table, int16_t number);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_SYSCALL_CLASS_H */
