/* SPDX-License-Identifier: Apache-2.0 */
/* features.h - what the running kernel can do; probed, never derived from its version. */
#ifndef PROFBPF_DAEMON_FEATURES_H
#define PROFBPF_DAEMON_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

enum probe_method {
	PROBE_METHOD_NONE,
	PROBE_METHOD_SESSION,	/* one link per file, entry and return in one program */
	PROBE_METHOD_MULTI,	/* an entry and a return link per file */
	PROBE_METHOD_PERF,	/* a perf event per function and direction */
};

struct features {
	bool btf;		/* /sys/kernel/btf/vmlinux */
	bool task_storage;
	bool switch_state;	/* sched_switch hands over the previous state */
	bool syscall_tracepoints;
	bool optimized_nop;	/* uprobes on 5-byte nops become calls */
	bool run_delay;		/* the kernel accounts time in run queues */
	enum probe_method method;
	char error[256];	/* why tracing is impossible here, with the remedy; "" if it is possible */
};

/* features_probe - look; needs no privilege beyond reading /sys */
void features_probe(struct features *features);

/* "session", "multi", "perf", "none" */
const char *probe_method_name(enum probe_method method);

/*
 * features_describe - feature number @index in words, for `profctl status`
 *
 * Returns false past the last one. The strings are constants.
 */
bool features_describe(const struct features *features, size_t index, const char **name,
		       bool *available, const char **detail);

#endif /* PROFBPF_DAEMON_FEATURES_H */
