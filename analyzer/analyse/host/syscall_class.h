/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_class.h - the class of a system call: what a thread that sleeps in it waits for.
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
	SYSCALL_READ, /* read and similar calls, message queues: file, pipe or socket */
	SYSCALL_WRITE,
	SYSCALL_NETWORK, /* sockets only */
	SYSCALL_FILE, /* files only: open, fsync, io_uring_enter, ... */
	SYSCALL_WAIT, /* wait4, waitid */
	SYSCALL_MEMORY, /* mmap and similar calls */
	SYSCALL_IOCTL,
};

/* System calls of one architecture, looked up once per number. */
struct syscall_table;

/*
 * syscall_table_new - the table of an architecture, named as by uname -m
 *
 * For an unknown architecture all calls are SYSCALL_OTHER without a name. Returns NULL without
 * memory.
 */
struct syscall_table *syscall_table_new(const char *arch);
void syscall_table_free(struct syscall_table *table);

/* The class of a number; SYSCALL_OTHER for -1 (none) and unknown numbers. */
enum syscall_class syscall_class(struct syscall_table *table, int16_t number);

/* Is it futex() or one of its successors? */
bool syscall_is_futex(struct syscall_table *table, int16_t number);

/* The name of a number, owned by the table; NULL if unknown. */
const char *syscall_name(struct syscall_table *table, int16_t number);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_SYSCALL_CLASS_H */
