/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/common/process_check.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define USER_NS_DEPTH 33 /* one more than the kernel's limit of nesting */
#define NS_PER_SECOND 1000000000ull
#define CLOCK_READINGS 4
#define KERNEL_THREAD_FLAG 0x00200000 /* PF_KTHREAD of the kernel */
#define EXITING_FLAG 0x00000004 /* PF_EXITING */

/* Reads /proc/PID/NAME through @dir; returns the bytes read, the text is terminated. */
static ssize_t read_file(int dir, const char *name, char *text, size_t size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n = 0;

	if (fd < 0)
		return -errno;
	while (used < size - 1 && (n = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)n;
	if (n < 0)
		n = -errno;
	close(fd);
	text[used] = '\0';
	return n < 0 ? n : (ssize_t)used;
}

static void copy_name(char *to, const char *from, size_t length)
{
	if (length >= PROCESS_NAME_MAX)
		length = PROCESS_NAME_MAX - 1;
	for (size_t i = 0; i < length; i++)
		to[i] = iscntrl((unsigned char)from[i]) ? '?' : from[i];
	to[length] = '\0';
}

/* "PID (NAME) STATE PPID PGRP SESSION TTY TPGID FLAGS ... THREADS 0 START ..."; the name may hold anything. */
static int parse_stat(const char *text, struct process_facts *facts)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	unsigned long long started;
	unsigned int flags;
	int parent;

	if (!open || !close || close < open ||
	    sscanf(close + 1,
		   " %c %d %*d %*d %*d %*d %u %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld %*s %llu",
		   &facts->state, &parent, &flags, &facts->threads, &started) != 5)
		return -EPROTO;
	copy_name(facts->name, open + 1, (size_t)(close - open - 1));
	facts->parent = parent;
	facts->kernel_thread = flags & KERNEL_THREAD_FLAG;
	facts->exiting = flags & EXITING_FLAG;
	facts->started = started;
	return 0;
}

static int parse_ids(const char *text, const char *key, unsigned int ids[3])
{
	const char *line = strstr(text, key);

	return line && sscanf(line + strlen(key), " %u %u %u", &ids[0], &ids[1], &ids[2]) == 3
		       ? 0
		       : -EPROTO;
}

static int parse_status(const char *text, struct process_facts *facts)
{
	const char *tgid = strstr(text, "\nTgid:"), *caps = strstr(text, "\nCapPrm:");
	unsigned long long capabilities;
	unsigned int user[3], group[3];
	int threads;

	if (!tgid || !caps || sscanf(tgid, "\nTgid: %d", &threads) != 1 ||
	    sscanf(caps, "\nCapPrm: %llx", &capabilities) != 1 || parse_ids(text, "\nUid:", user) ||
	    parse_ids(text, "\nGid:", group))
		return -EPROTO;
	facts->tgid = threads;
	facts->capable = capabilities != 0;
	facts->real = user[0];
	facts->effective = user[1];
	facts->saved = user[2];
	facts->real_group = group[0];
	facts->effective_group = group[1];
	facts->saved_group = group[2];
	return 0;
}

/* The owner of the outermost user namespace around @fd that is still inside the one with inode @own. */
static uid_t outermost_owner(int fd, ino_t own)
{
	uid_t owner = (uid_t)-1;
	struct stat st;
	int parent;

	for (int depth = 0; depth < USER_NS_DEPTH; depth++) {
		parent = ioctl(fd, NS_GET_PARENT);
		if (parent < 0)
			break;
		if (!fstat(parent, &st) && st.st_ino == own) {
			if (ioctl(fd, NS_GET_OWNER_UID, &owner))
				owner = (uid_t)-1;
			close(parent);
			break;
		}
		close(fd);
		fd = parent;
	}
	close(fd);
	return owner;
}

/* For other users' processes an ordinary user cannot read this: it stays unknown. */
static void look_at_namespace(int dir, struct process_facts *facts)
{
	struct stat theirs, own;
	int fd;

	facts->outside = true;
	facts->namespace_owner = (uid_t)-1;
	if (fstatat(dir, "ns/user", &theirs, 0) || stat("/proc/self/ns/user", &own))
		return;
	facts->outside = theirs.st_ino != own.st_ino;
	fd = facts->outside ? openat(dir, "ns/user", O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0)
		facts->namespace_owner = outermost_owner(fd, own.st_ino);
}

/*
 * A 32-bit program's auxiliary vector consists of pairs of 32-bit words. In that
 * of a 64-bit program every second of these is the upper half of a small number.
 */
static bool is_narrow(int dir)
{
	uint32_t words[9];
	ssize_t size = read_file(dir, "auxv", (char *)words, sizeof(words));

	return sizeof(void *) == 8 && size >= 8 && words[0] != 0 && words[1] != 0;
}

int process_facts_read(pid_t pid, struct process_facts *facts)
{
	char path[32], text[8192];
	struct stat st;
	ssize_t n;
	int dir, err = 0;

	memset(facts, 0, sizeof(*facts));
	facts->pid = pid;
	if (pid <= 0)
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	/* All files are read through one descriptor, so that they belong to one process even if the pid is reused. */
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	if (fstatat(dir, "stat", &st, 0))
		err = -errno;
	facts->owner = st.st_uid;
	n = err ? err : read_file(dir, "stat", text, sizeof(text));
	err = n < 0 ? (int)n : parse_stat(text, facts);
	n = err ? err : read_file(dir, "status", text, sizeof(text));
	err = n < 0 ? (int)n : parse_status(text, facts);
	if (!err && !facts->kernel_thread)
		facts->narrow = is_narrow(dir);
	if (!err)
		look_at_namespace(dir, facts);
	close(dir);
	return err == -ENOENT ? -ESRCH : err;
}

int process_check(pid_t pid, int err, const struct process_facts *facts, char *error,
		  size_t error_size)
{
	if (err == -ESRCH) {
		snprintf(error, error_size, "no process %d", (int)pid);
		return err;
	}
	if (err) {
		snprintf(error, error_size, "cannot read process %d: %s", (int)pid,
			 strerror(-err));
		return err;
	}
	if (facts->tgid != pid) {
		snprintf(error, error_size,
			 "%d (%s) is a thread of process %d; give --pid %d: all threads of a "
			 "process are traced",
			 (int)pid, facts->name, (int)facts->tgid, (int)facts->tgid);
		return -EINVAL;
	}
	if (facts->kernel_thread) {
		snprintf(error, error_size,
			 "%d (%s) is a kernel thread, which calls no libraries; record --system "
			 "shows when it runs",
			 (int)pid, facts->name);
		return -EINVAL;
	}
	if (facts->state == 'Z' || facts->state == 'X' || facts->state == 'x') {
		snprintf(error, error_size,
			 "process %d (%s) is a zombie: it has exited and waits for its parent %d",
			 (int)pid, facts->name, (int)facts->parent);
		return -ESRCH;
	}
	return 0;
}

int process_hold(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

bool process_gone(int held)
{
	struct pollfd ended = { .fd = held, .events = POLLIN };

	return held >= 0 && poll(&ended, 1, 0) > 0;
}

/* A process whose first thread has ended while others run appears as a zombie. */
static bool has_ended(const struct process_facts *facts)
{
	return facts->state == 'X' || facts->state == 'x' ||
	       (facts->state == 'Z' && facts->threads <= 1);
}

/* Only what parse_stat() sets. */
static int read_running(pid_t pid, struct process_facts *facts)
{
	char name[32], text[1024];

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	return read_file(AT_FDCWD, name, text, sizeof(text)) <= 0 || parse_stat(text, facts) || has_ended(facts) ? -ESRCH : 0;
}

int process_start_time(pid_t pid, uint64_t *started)
{
	struct process_facts facts = { 0 };
	int err = read_running(pid, &facts);

	if (!err)
		*started = facts.started;
	return err;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_SECOND + (uint64_t)ts.tv_nsec;
}

/* The time that the machine was suspended. The shortest of some readings, because the thread may be preempted in one. */
static uint64_t suspended_ns(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < CLOCK_READINGS; i++) {
		uint64_t awake = clock_ns(CLOCK_MONOTONIC), all = clock_ns(CLOCK_BOOTTIME);

		if (all - awake < least)
			least = all - awake;
	}
	return least;
}

uint64_t process_clock(uint64_t ns)
{
	uint64_t suspended = suspended_ns();

	return (ns < UINT64_MAX - suspended ? ns + suspended : UINT64_MAX) / (NS_PER_SECOND / 100);
}

bool process_began_since(pid_t pid, uint64_t ns)
{
	struct process_facts facts = { 0 };
	uint64_t clock = process_clock(ns);

	/* The kernel reports an end before the process is a zombie: one that exits now is the one that was reported. */
	return !read_running(pid, &facts) && (facts.started > clock || (facts.started == clock && !facts.exiting));
}

bool process_runs(pid_t pid, uint64_t started)
{
	uint64_t now;

	return !process_start_time(pid, &now) && now == started;
}

bool process_owned_by(const struct process_facts *facts, uid_t uid, gid_t gid)
{
	return facts->real == uid && facts->effective == uid && facts->saved == uid &&
	       facts->owner == uid && facts->real_group == gid && facts->effective_group == gid &&
	       facts->saved_group == gid &&
	       (facts->outside ? facts->namespace_owner == uid : !facts->capable);
}
