/* SPDX-License-Identifier: Apache-2.0 */
/* threads.h - rows of the model (model.h): threads and processes, and the kernel's cumulative figures of them and their cgroups. */
#ifndef PROFBPF_ANALYZER_MODEL_THREADS_H
#define PROFBPF_ANALYZER_MODEL_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/trace.pb-c.h"

/* One thread during one life: a reused tid makes a new row. */
struct thread {
	uint32_t tid;
	uint32_t process; /* index into processes */
	uint32_t name; /* last known name */
	bool target;
	bool kernel;
	bool worded; /* its file has a word instead of a number, or nothing: the importer chose tid, which is not shown */
	uint64_t start_ns; /* the kernel's start time of the task, 0 = unknown */
	uint64_t first_ns; /* first and last instant at which the trace knows it alive */
	uint64_t last_ns;
	uint64_t exit_ns; /* 0 = did not exit during the trace */
	uint64_t named_ns; /* when it called itself so; 0 = not during the trace */
	uint64_t dropped_ns; /* the time from which it was no target any more; 0 = never */
	uint32_t parent; /* thread that forked it, or INDEX_NONE */
};

/* One process during one life. Strings and numbers. */
struct process {
	uint32_t pid;
	uint32_t parent_pid; /* the process that started it, or its parent when it was first seen; 0 = unknown */
	uint32_t name; /* name of the main thread, else of the first seen */
	uint32_t cmdline; /* 0 = unknown */
	uint32_t exe;
	bool target;
	bool kernel;
	bool worded; /* as that of threads; of pid */
	uint64_t start_ns;
	uint64_t exit_ns;
	uint32_t exit_code;
};

/* The kernel's cumulative figures of a thread at an instant. */
struct account {
	uint64_t ts_ns;
	uint32_t thread;
	uint32_t flags; /* Accounts.Flag of proto/trace.proto */
	uint64_t run_ns;
	uint64_t runnable_ns;
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t voluntary;
	uint64_t involuntary;
	uint64_t migrations;
	uint64_t minor_faults;
	uint64_t major_faults;
	uint64_t io_ns; /* with flag HAS_IO */
	uint64_t read_bytes; /* from and to devices; these four with HAS_BYTES */
	uint64_t write_bytes;
	uint64_t read_chars; /* by read, write and similar system calls, from and to any file */
	uint64_t write_chars;
	int16_t syscall; /* asleep at a session's start: the system call it slept in, -1 = none */
};

/* The kernel's figures of a process as a whole at an instant. */
struct process_stat {
	uint64_t ts_ns;
	uint32_t process;
	uint32_t flags; /* Processes.Flag of proto/trace.proto */
	uint32_t threads;
	uint32_t ns_pid; /* in its own pid namespace, 0 = unknown */
	uint32_t ns_inode;
	uint32_t cgroup; /* index into cgroups, or INDEX_NONE */
	uint64_t rss_bytes; /* with flag HAS_RSS */
	uint64_t peak_rss_bytes;
	uint64_t gone_run_ns; /* of its threads that are no more; the tick's user and system */
	uint64_t gone_user_ns;
	uint64_t gone_system_ns;
};

/* A control group that a target process is or was in. */
struct cgroup {
	uint64_t id;
	uint32_t path; /* from the hierarchy's root; 0 = unknown */
	bool version1;
	uint32_t container_name, image, pod_name, pod_namespace; /* by the container's runtime; 0 = unknown */
};

/* flags of cgroup_stats */
#define MODEL_CGROUP_QUOTA PROFBPF__CGROUP_STATS__FLAG__QUOTA
#define MODEL_CGROUP_THROTTLING PROFBPF__CGROUP_STATS__FLAG__THROTTLING
#define MODEL_CGROUP_USAGE PROFBPF__CGROUP_STATS__FLAG__USAGE
#define MODEL_CGROUP_SPLIT PROFBPF__CGROUP_STATS__FLAG__SPLIT

/* Figures of a group at an instant; cumulative but for the quota. */
struct cgroup_stat {
	uint64_t ts_ns;
	uint32_t cgroup; /* index into cgroups */
	uint32_t flags;
	uint64_t quota_ns; /* CPU time per period */
	uint64_t period_ns;
	uint64_t periods;
	uint64_t throttled_periods;
	uint64_t throttled_ns;
	uint64_t usage_ns;
	uint64_t user_ns;
	uint64_t system_ns;
};

/* The role that a framework gave to a thread, found in a process that was running already. */
struct thread_role {
	uint64_t ts_ns; /* when it was read */
	uint32_t thread;
	uint32_t framework; /* "MindData" */
	uint32_t name; /* the framework's: "MapOp::WorkerEntry" */
	int32_t op; /* the framework's own number of the operator; -1 = of none */
	uint64_t tree; /* which of the process's pipelines: an address; 0 = unknown */
};

#endif /* PROFBPF_ANALYZER_MODEL_THREADS_H */
