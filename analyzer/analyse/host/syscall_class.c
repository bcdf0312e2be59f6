/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/syscall_class.h"

#include <seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS 1024 /* no architecture has nearly as many */

struct entry {
	char *name;
	uint8_t class;
	bool known;
};

struct syscall_table {
	uint32_t arch;
	struct entry entry[NUMBERS];
};

/* All other calls are SYSCALL_OTHER. */
static const char *const names[][40] = {
	[SYSCALL_LOCK] = { "futex", "futex_time64", "futex_wait", "futex_waitv", "semop",
			   "semtimedop", "flock", "fcntl" },
	[SYSCALL_SLEEP] = { "nanosleep", "clock_nanosleep", "pause", "rt_sigsuspend",
			    "rt_sigtimedwait", "restart_syscall" },
	[SYSCALL_POLL] = { "poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait",
			   "epoll_pwait2" },
	[SYSCALL_READ] = { "read", "readv", "pread64", "preadv", "preadv2", "mq_timedreceive",
			   "msgrcv" },
	[SYSCALL_WRITE] = { "write", "writev", "pwrite64", "pwritev", "pwritev2", "mq_timedsend",
			    "msgsnd", "splice", "tee", "vmsplice", "sendfile" },
	[SYSCALL_NETWORK] = { "recvfrom", "recvmsg", "recvmmsg", "sendto", "sendmsg", "sendmmsg",
			      "accept", "accept4", "connect" },
	[SYSCALL_FILE] = { "fsync",	      "fdatasync",	"sync",	     "syncfs",
			   "sync_file_range", "open",		"openat",    "openat2",
			   "creat",	      "close",		"stat",	     "fstat",
			   "lstat",	      "newfstatat",	"statx",     "access",
			   "faccessat",	      "faccessat2",	"getdents",  "getdents64",
			   "rename",	      "renameat",	"renameat2", "unlink",
			   "unlinkat",	      "truncate",	"ftruncate", "fallocate",
			   "readahead",	      "io_getevents",	"mkdir",     "io_pgetevents",
			   "io_submit",	      "io_uring_enter", "readlink",  "copy_file_range" },
	[SYSCALL_WAIT] = { "wait4", "waitid" },
	[SYSCALL_MEMORY] = { "mmap", "munmap", "mremap", "mprotect", "madvise", "brk", "mlock",
			     "munlock", "msync", "clone", "clone3", "fork", "vfork", "execve",
			     "execveat" },
	[SYSCALL_IOCTL] = { "ioctl" },
};

static enum syscall_class class_of(const char *name)
{
	for (size_t class = 0; class < sizeof(names) / sizeof(*names); class ++) {
		for (size_t i = 0; i < sizeof(*names) / sizeof(**names) && names[class][i]; i++) {
			if (strcmp(names[class][i], name) == 0)
				return class;
		}
	}
	return SYSCALL_OTHER;
}

struct syscall_table *syscall_table_new(const char *arch)
{
	struct syscall_table *table = calloc(1, sizeof(*table));

	if (table)
		table->arch = seccomp_arch_resolve_name(arch);
	return table;
}

void syscall_table_free(struct syscall_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < NUMBERS; i++)
		free(table->entry[i].name);
	free(table);
}

static const struct entry *look_up(struct syscall_table *table, int16_t number)
{
	static const struct entry unknown = { .class = SYSCALL_OTHER };
	struct entry *entry;

	if (number < 0 || number >= NUMBERS || !table->arch)
		return &unknown;
	entry = &table->entry[number];
	if (!entry->known) {
		entry->known = true;
		entry->name = seccomp_syscall_resolve_num_arch(table->arch, number);
		if (entry->name)
			entry->class = class_of(entry->name);
	}
	return entry;
}

enum syscall_class syscall_class(struct syscall_table *table, int16_t number)
{
	return look_up(table, number)->class;
}

bool syscall_is_futex(struct syscall_table *table, int16_t number)
{
	const char *name = look_up(table, number)->name;

	return name && strncmp(name, "futex", 5) == 0;
}

const char *syscall_name(struct syscall_table *table, int16_t number)
{
	return look_up(table, number)->name;
}
