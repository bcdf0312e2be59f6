/* SPDX-License-Identifier: Apache-2.0 */
/*
 * obstacles.h - the obstacles to tracing on this machine, each with its remedy in
 * words.
 *
 * They are determined again at each request, by reading /proc and /sys and by
 * trying the two system calls that containers often refuse.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_OBSTACLES_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_OBSTACLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/common/words.h"
#include "daemon/profbpfd/capture/features.h"

/* Facts about this process and its kernel. */
struct obstacle_facts {
	uint64_t capabilities; /* effective; bit CAP_... */
	bool user_namespace; /* they are valid in a user namespace only */
	bool seccomp; /* a filter of system calls is in force */
	bool confidential; /* the kernel is locked down against reading its memory */
	int bpf_error; /* errno of a bpf() that should succeed; 0 = it does */
	int perf_error; /* the same for perf_event_open() */
	int perf_paranoid; /* kernel.perf_event_paranoid; INT_MIN = unknown */
	bool btf_hidden; /* another file system is mounted over /sys/kernel/btf */
	bool sysfs; /* /sys is mounted */
	struct features features;
};

/* obstacles_look - fills @facts; @features is the result of features_probe() */
void obstacles_look(struct obstacle_facts *facts, const struct features *features);

/*
 * obstacles_judge - converts the facts to words
 *
 * @obstacles: reasons why nothing can be traced; @limits: parts that cannot be traced.
 * Lines are appended, each with its remedy. Returns 0 or -ENOMEM.
 */
int obstacles_judge(const struct obstacle_facts *facts, struct words *obstacles,
		    struct words *limits);

/*
 * obstacles_text - all obstacles, one per line; "" if there are none
 *
 * Written to @text, cut off at @size.
 */
void obstacles_text(const struct features *features, char *text, size_t size);

/* obstacles_perf_error - the errno of a perf_event_open() that should succeed; 0 = it does */
int obstacles_perf_error(void);

/* obstacles_perf_text - the reason why perf_event_open() failed with @err, and the remedy */
void obstacles_perf_text(int err, char *text, size_t size);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_OBSTACLES_H */
