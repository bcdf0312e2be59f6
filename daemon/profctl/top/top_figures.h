/* SPDX-License-Identifier: Apache-2.0 */
/* top_figures.h - the figures in a frame of a live session (top_state.h). */
#ifndef PROFBPF_DAEMON_PROFCTL_TOP_TOP_FIGURES_H
#define PROFBPF_DAEMON_PROFCTL_TOP_TOP_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOP_NAME 256

/* Growth within a frame; durations in nanoseconds. */
struct top_cpu {
	uint32_t cpu;
	uint64_t user_ns, system_ns, irq_ns, softirq_ns, iowait_ns, idle_ns, steal_ns;
};

struct top_process {
	uint32_t pid;
	uint32_t parent; /* 0 = unknown */
	uint32_t threads; /* 0 = unknown */
	bool target;
	uint64_t run_ns, runnable_ns, blocked_ns; /* summed over threads */
	uint64_t read_chars, write_chars, read_bytes, write_bytes;
	uint64_t faults;
	uint64_t rss_bytes; /* at its end; 0 = unknown */
	char name[16];
	char cmdline[TOP_NAME];
};

struct top_call {
	uint32_t pid;
	uint64_t count, total_ns;
	char runtime[32];
	char function[TOP_NAME];
};

struct top_device {
	uint32_t pid;
	uint64_t tasks;
	uint64_t busy_ns; /* of the tasks that were reported in this frame; overlaps count once */
	char name[TOP_NAME];
};

struct live_operator; /* live_pipeline.h */
struct live_wait; /* live_feeds.h */

struct top_loss {
	char source[16];
	uint64_t produced, lost; /* since the session began */
};

struct top_frame {
	uint64_t duration_ns; /* 0 = there was none yet */
	struct top_cpu all;
	struct top_cpu *cpus;
	struct top_process *processes; /* that did anything, and all targets */
	struct top_call *calls;
	struct top_device *devices;
	struct live_operator *operators; /* by process and number */
	struct live_wait *waits; /* by process */
	struct top_loss *losses;
	size_t cpu_count, process_count, call_count, device_count, loss_count, operator_count, wait_count;
	uint64_t left_out; /* since the session began: events without room in the tables of devices and data pipelines */
	uint64_t context_switches, forks;
	uint32_t runnable, blocked; /* threads, at its end */
	uint32_t process_total;
	bool cost_known; /* not in the first frame */
	uint64_t daemon_cpu_ns; /* CPU time of profbpfd */
};

#endif /* PROFBPF_DAEMON_PROFCTL_TOP_TOP_FIGURES_H */
