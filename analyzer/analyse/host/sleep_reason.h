/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sleep_reason.h - why a thread slept, as a category and in words.
 *
 * The system call decides; for reads, writes and similar calls the kind of file as well: a read of
 * a socket is "socket", whichever call it was.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_SLEEP_REASON_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_SLEEP_REASON_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/analyse/host/syscall_class.h"
#include "analyzer/model/model.h"

enum sleep_reason {
	REASON_FUTEX, /* locks, condition variables, joins */
	REASON_LOCK, /* file locks, System V semaphores */
	REASON_SLEEP, /* nanosleep, pause, ... */
	REASON_POLL, /* poll, select, epoll_wait, also of one descriptor */
	REASON_PIPE,
	REASON_SOCKET,
	REASON_EVENT, /* read of eventfd, timerfd, signalfd, inotify */
	REASON_DEVICE, /* read or write of a character device, a terminal for example */
	REASON_FILE, /* regular files, directories, block devices: contents and names */
	REASON_CHILD, /* wait4, waitid */
	REASON_PAGE_FAULT, /* minor, or not known to be major */
	REASON_MAJOR_FAULT, /* the page had to be fetched */
	REASON_BLOCK_IO, /* the thread's own request to a block device, where requests were recorded */
	REASON_IOCTL,
	REASON_MEMORY, /* mmap, fork, execve, ... */
	REASON_STOPPED, /* by a signal or a debugger */
	REASON_OTHER,
	REASONS
};

/* sleep_reason - the reason of a sleep, a span of the model */
enum sleep_reason sleep_reason(const struct model *model, struct syscall_table *syscalls,
			       const struct span *span);

/* sleep_reason_of - the same; @disk: the caller knows that the thread waited for a block request of its own */
enum sleep_reason sleep_reason_of(const struct model *model, struct syscall_table *syscalls,
				  const struct span *span, bool disk);

/* A thread that waits for I/O in a page fault waits for the page. */
bool sleep_is_major_fault(const struct span *span);

/* The name of the interrupt that woke the thread: "NET_RX", "virtio0-req.0", "timer"; NULL if none, or unknown */
const char *sleep_interrupt(const struct model *model, const struct span *span);

/* "futex", "page_fault", ... */
const char *sleep_reason_name(enum sleep_reason reason);

/* The name of a SleepObjects.Kind of proto/trace.proto: "pipe", "inet_socket", ... */
const char *sleep_kind_name(uint8_t kind);

/* sleep_object - the object that the thread of a span waited for, or NULL */
const struct sleep_object *sleep_object(const struct model *model, const struct span *span);

/*
 * sleep_object_text - the object in words: "a pipe", "/data/train.bin", "futex 0x7f00", "process 17"
 *
 * Returns @text, which is "" if nothing is known.
 */
const char *sleep_object_text(const struct model *model, const struct sleep_object *object,
			      char *text, size_t size);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_SLEEP_REASON_H */
