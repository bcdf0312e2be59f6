/* SPDX-License-Identifier: Apache-2.0 */
/* topics.h - what a session can record, as --topics names it. */
#ifndef PROFBPF_DAEMON_COMMON_TOPICS_H
#define PROFBPF_DAEMON_COMMON_TOPICS_H

#include <stddef.h>

enum {
	TOPIC_API = 1 << 0, /* runtime API calls */
	TOPIC_IOCTL = 1 << 1, /* ioctls on character devices */
	TOPIC_SCHED = 1 << 2, /* context switches, wake-ups, thread accounts */
	TOPIC_DEVICE = 1 << 3, /* task streams of device layers */
};

#define TOPICS_DEFAULT (TOPIC_API | TOPIC_IOCTL | TOPIC_SCHED | TOPIC_DEVICE)

/*
 * topics_parse - "api,sched" or "api sched" to TOPIC_* bits
 *
 * Returns 0, or -EINVAL with a message that names the word and lists what there is.
 */
int topics_parse(const char *text, unsigned int *topics, char *error, size_t error_size);

/* topic_name - name of one bit by index 0, 1, ...; NULL past the last */
const char *topic_name(unsigned int index);

#endif /* PROFBPF_DAEMON_COMMON_TOPICS_H */
