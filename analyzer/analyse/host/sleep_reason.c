/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/sleep_reason.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyzer/join/thread/sleep_causes.h"
#include "analyzer/model/translate.h"
#include "proto/trace.pb-c.h"

const struct sleep_object *sleep_object(const struct model *model, const struct span *span)
{
	return span->object < model->sleep_objects.count ? &model->sleep_objects.row[span->object]
							 : NULL;
}

/* The reason of a sleep in a read, write or similar call; @other if the kind of file is unknown. */
static enum sleep_reason by_file(uint8_t kind, enum sleep_reason other)
{
	switch (kind) {
	case PROFBPF__SLEEP_OBJECTS__KIND__PIPE: return REASON_PIPE;
	case PROFBPF__SLEEP_OBJECTS__KIND__UNIX_SOCKET:
	case PROFBPF__SLEEP_OBJECTS__KIND__INET_SOCKET:
	case PROFBPF__SLEEP_OBJECTS__KIND__SOCKET: return REASON_SOCKET;
	case PROFBPF__SLEEP_OBJECTS__KIND__CHARACTER_DEVICE: return REASON_DEVICE;
	case PROFBPF__SLEEP_OBJECTS__KIND__FILE:
	case PROFBPF__SLEEP_OBJECTS__KIND__DIRECTORY:
	case PROFBPF__SLEEP_OBJECTS__KIND__BLOCK_DEVICE: return REASON_FILE;
	case PROFBPF__SLEEP_OBJECTS__KIND__EVENTFD:
	case PROFBPF__SLEEP_OBJECTS__KIND__EPOLL:
	case PROFBPF__SLEEP_OBJECTS__KIND__TIMERFD:
	case PROFBPF__SLEEP_OBJECTS__KIND__SIGNALFD:
	case PROFBPF__SLEEP_OBJECTS__KIND__INOTIFY:
	case PROFBPF__SLEEP_OBJECTS__KIND__PIDFD:
	case PROFBPF__SLEEP_OBJECTS__KIND__ANONYMOUS: return REASON_EVENT;
	default: return other;
	}
}

bool sleep_is_major_fault(const struct span *span)
{
	return span->flags & SPAN_FAULT && span->flags & (SPAN_MAJOR_FAULT | SPAN_IOWAIT);
}

const char *sleep_interrupt(const struct model *model, const struct span *span)
{
	if (span->flags & SPAN_WOKEN_TIMER)
		return "timer";
	if (!(span->flags & (SPAN_WOKEN_HARDIRQ | SPAN_WOKEN_SOFTIRQ)) ||
	    span->other == INDEX_NONE || span->flags & SPAN_NO_WAKE)
		return NULL;
	return model_text(model, span->other);
}

enum sleep_reason sleep_reason(const struct model *model, struct syscall_table *syscalls,
			       const struct span *span)
{
	return sleep_reason_of(model, syscalls, span, sleep_request(model, span) != NULL);
}

enum sleep_reason sleep_reason_of(const struct model *model, struct syscall_table *syscalls,
				  const struct span *span, bool disk)
{
	const struct sleep_object *object = sleep_object(model, span);
	uint8_t kind = object ? object->kind : PROFBPF__SLEEP_OBJECTS__KIND__NOTHING;

	if (span->flags & SPAN_FAULT)
		return sleep_is_major_fault(span) ? REASON_MAJOR_FAULT : REASON_PAGE_FAULT;
	if (span->state == STATE_STOPPED)
		return REASON_STOPPED;
	if (disk)
		return REASON_BLOCK_IO;
	switch (syscall_class(syscalls, span->syscall)) {
	case SYSCALL_LOCK: return syscall_is_futex(syscalls, span->syscall) ? REASON_FUTEX : REASON_LOCK;
	case SYSCALL_SLEEP: return REASON_SLEEP;
	case SYSCALL_POLL: return REASON_POLL;
	case SYSCALL_READ:
	case SYSCALL_WRITE:
		return by_file(kind, span->flags & SPAN_IOWAIT ? REASON_FILE : REASON_OTHER);
	case SYSCALL_NETWORK: return by_file(kind, REASON_SOCKET);
	case SYSCALL_FILE: return REASON_FILE;
	case SYSCALL_WAIT: return REASON_CHILD;
	case SYSCALL_MEMORY: return REASON_MEMORY;
	case SYSCALL_IOCTL: return REASON_IOCTL;
	default: return span->flags & SPAN_IOWAIT ? REASON_FILE : REASON_OTHER;
	}
}

const char *sleep_reason_name(enum sleep_reason reason)
{
	static const char *const names[REASONS] = {
		[REASON_FUTEX] = "futex",	[REASON_LOCK] = "lock",
		[REASON_SLEEP] = "sleep",	[REASON_POLL] = "poll",
		[REASON_PIPE] = "pipe",		[REASON_SOCKET] = "socket",
		[REASON_EVENT] = "event",	[REASON_DEVICE] = "device",
		[REASON_FILE] = "file",		[REASON_CHILD] = "child",
		[REASON_IOCTL] = "ioctl",	[REASON_PAGE_FAULT] = "page_fault",
		[REASON_MAJOR_FAULT] = "major_fault", [REASON_BLOCK_IO] = "block_io",
		[REASON_MEMORY] = "memory",	[REASON_STOPPED] = "stopped",
		[REASON_OTHER] = "other",
	};

	return reason < REASONS ? names[reason] : "other";
}

const char *sleep_kind_name(uint8_t kind)
{
	static const char *const names[SLEEP_OBJECT_KINDS] = {
		[PROFBPF__SLEEP_OBJECTS__KIND__NOTHING] = "unknown",
		[PROFBPF__SLEEP_OBJECTS__KIND__FILE] = "file",
		[PROFBPF__SLEEP_OBJECTS__KIND__DIRECTORY] = "directory",
		[PROFBPF__SLEEP_OBJECTS__KIND__PIPE] = "pipe",
		[PROFBPF__SLEEP_OBJECTS__KIND__UNIX_SOCKET] = "unix_socket",
		[PROFBPF__SLEEP_OBJECTS__KIND__INET_SOCKET] = "inet_socket",
		[PROFBPF__SLEEP_OBJECTS__KIND__SOCKET] = "socket",
		[PROFBPF__SLEEP_OBJECTS__KIND__CHARACTER_DEVICE] = "character_device",
		[PROFBPF__SLEEP_OBJECTS__KIND__BLOCK_DEVICE] = "block_device",
		[PROFBPF__SLEEP_OBJECTS__KIND__EVENTFD] = "eventfd",
		[PROFBPF__SLEEP_OBJECTS__KIND__EPOLL] = "epoll",
		[PROFBPF__SLEEP_OBJECTS__KIND__TIMERFD] = "timerfd",
		[PROFBPF__SLEEP_OBJECTS__KIND__SIGNALFD] = "signalfd",
		[PROFBPF__SLEEP_OBJECTS__KIND__INOTIFY] = "inotify",
		[PROFBPF__SLEEP_OBJECTS__KIND__PIDFD] = "pidfd",
		[PROFBPF__SLEEP_OBJECTS__KIND__ANONYMOUS] = "anonymous",
		[PROFBPF__SLEEP_OBJECTS__KIND__SEVERAL] = "several",
		[PROFBPF__SLEEP_OBJECTS__KIND__FUTEX] = "futex",
		[PROFBPF__SLEEP_OBJECTS__KIND__CHILD] = "child",
	};

	return kind < SLEEP_OBJECT_KINDS ? names[kind] : "unknown";
}

/* The text for an object without a name; the loader keeps kinds below SLEEP_OBJECT_KINDS. */
static const char *kind_text(uint8_t kind)
{
	static const char *const names[SLEEP_OBJECT_KINDS] = {
		[PROFBPF__SLEEP_OBJECTS__KIND__FILE] = N_("a file"),
		[PROFBPF__SLEEP_OBJECTS__KIND__DIRECTORY] = N_("a directory"),
		[PROFBPF__SLEEP_OBJECTS__KIND__PIPE] = N_("a pipe"),
		[PROFBPF__SLEEP_OBJECTS__KIND__UNIX_SOCKET] = N_("a Unix socket"),
		[PROFBPF__SLEEP_OBJECTS__KIND__INET_SOCKET] = N_("an internet socket"),
		[PROFBPF__SLEEP_OBJECTS__KIND__SOCKET] = N_("a socket"),
		[PROFBPF__SLEEP_OBJECTS__KIND__CHARACTER_DEVICE] = N_("a character device"),
		[PROFBPF__SLEEP_OBJECTS__KIND__BLOCK_DEVICE] = N_("a block device"),
		[PROFBPF__SLEEP_OBJECTS__KIND__EVENTFD] = N_("an eventfd"),
		[PROFBPF__SLEEP_OBJECTS__KIND__EPOLL] = N_("epoll"),
		[PROFBPF__SLEEP_OBJECTS__KIND__TIMERFD] = N_("a timerfd"),
		[PROFBPF__SLEEP_OBJECTS__KIND__SIGNALFD] = N_("a signalfd"),
		[PROFBPF__SLEEP_OBJECTS__KIND__INOTIFY] = N_("inotify"),
		[PROFBPF__SLEEP_OBJECTS__KIND__PIDFD] = N_("a pidfd"),
		[PROFBPF__SLEEP_OBJECTS__KIND__ANONYMOUS] = N_("a file without a name"),
	};

	return names[kind] ? tr(names[kind]) : "";
}

const char *sleep_object_text(const struct model *model, const struct sleep_object *object,
			      char *text, size_t size)
{
	const char *name = model_text(model, object->name);

	switch (object->kind) {
	case PROFBPF__SLEEP_OBJECTS__KIND__FUTEX:
		snprintf(text, size, "futex 0x%" PRIx64, object->object);
		break;
	case PROFBPF__SLEEP_OBJECTS__KIND__CHILD:
		if (object->object)
			snprintf(text, size, tr("process %" PRIu64), object->object);
		else
			snprintf(text, size, tr("any child"));
		break;
	case PROFBPF__SLEEP_OBJECTS__KIND__SEVERAL:
		if (object->object)
			snprintf(text, size, tr("%" PRIu64 " descriptors"), object->object);
		else
			snprintf(text, size, tr("several descriptors"));
		break;
	case PROFBPF__SLEEP_OBJECTS__KIND__PIPE:
		snprintf(text, size, *name == '/' ? "%s %s" : "%s",
			 *name == '/' ? tr("the pipe") : kind_text(object->kind), name);
		break;
	case PROFBPF__SLEEP_OBJECTS__KIND__INET_SOCKET:
		if (*name && object->peer)
			snprintf(text, size, tr("%.64s of process %u"), name, object->peer);
		else
			snprintf(text, size, "%s", *name ? name : kind_text(object->kind));
		break;
	default: snprintf(text, size, "%s", *name ? name : kind_text(object->kind)); break;
	}
	return text;
}
