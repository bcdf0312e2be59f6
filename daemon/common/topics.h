/* SPDX-License-Identifier: Apache-2.0 */
/* topics.h - the topics that a session can record, as in --topics. */
#ifndef PROFBPF_DAEMON_COMMON_TOPICS_H
#define PROFBPF_DAEMON_COMMON_TOPICS_H

#include <stddef.h>

enum {
	TOPIC_API = 1 << 0, /* runtime API calls */
	TOPIC_IOCTL = 1 << 1, /* ioctls on device files */
	TOPIC_SCHED = 1 << 2, /* context switches, wake-ups; with accounts */
	TOPIC_DEVICE = 1 << 3, /* task streams of device layers */
	TOPIC_ACCOUNT =
		1
		<< 4, /* the kernel's sums of each thread, once an interval: no event per switch */
	TOPIC_IRQ = 1 << 5, /* time that interrupts take from threads */
	TOPIC_STACK = 1 << 6, /* stacks of samples and of long sleeps, Python functions */
	TOPIC_FAULT = 1 << 7, /* major page faults, one by one */
	TOPIC_IO = 1 << 8, /* requests to block devices */
	TOPIC_SAMPLE =
		1
		<< 9, /* only the samples and the Python stacks of topic stack: no stacks of sleeps */
};

/* Topics with samples of the threads on a CPU. */
#define TOPICS_SAMPLED (TOPIC_STACK | TOPIC_SAMPLE)

/* Topics with accounts: timelines start from the states in the accounts. */
#define TOPICS_WITH_ACCOUNTS (TOPIC_SCHED | TOPIC_ACCOUNT | TOPICS_SAMPLED)

#define TOPICS_DEFAULT                                                                      \
	(TOPIC_API | TOPIC_IOCTL | TOPIC_SCHED | TOPIC_DEVICE | TOPIC_ACCOUNT | TOPIC_IRQ | \
	 TOPIC_FAULT | TOPIC_SAMPLE)

/* --interval: the time between two readings of the kernel's cumulative figures. */
#define INTERVAL_DEFAULT_NS 1000000000ull
#define INTERVAL_MIN_NS 10000000ull
#define INTERVAL_MAX_NS 3600000000000ull

/* Topic stack: defaults. */
#define STACK_BLOCK_DEFAULT_NS 1000000u
#define BUDGET_DEFAULT 0.03 /* the part of a CPU that recording may use */
#define BUDGET_MAX 1000 /* percent */
#define STACK_RATE_DEFAULT 99u /* per second and CPU; not 100, which would beat with timers */
#define STACK_RATE_MAX 10000u

/*
 * topics_parse - converts "api,sched" or "api sched" to TOPIC_* bits
 *
 * "default" and "all" stand for several topics; "+io" adds to the preceding topics, "-irq" removes; at the start of
 * the list they change the default.
 * Returns 0, or -EINVAL with a message that names the word and lists the topics.
 */
int topics_parse(const char *text, unsigned int *topics, char *error, size_t error_size);

/* topic_name - name of one bit by index 0, 1, ...; NULL past the last */
const char *topic_name(unsigned int index);

#endif /* PROFBPF_DAEMON_COMMON_TOPICS_H */
