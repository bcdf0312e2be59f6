/* SPDX-License-Identifier: Apache-2.0 */
/* process_usage.h - how a thread or process spent its time; processes.h fills it. */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_PROCESS_USAGE_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_PROCESS_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/host/sleep_reason.h"
#include "analyzer/analyse/host/sleeps.h"

enum usage_source {
	USAGE_UNKNOWN = 0,
	USAGE_TIMELINE, /* switches and wake-ups */
	USAGE_ACCOUNTS, /* the kernel's figures */
};

/* Bytes read and written. */
struct io_bytes {
	uint64_t read_bytes; /* from devices */
	uint64_t write_bytes; /* to devices, or to pages that will be written there */
	uint64_t read_chars; /* by read() and similar calls, from any kind of file */
	uint64_t write_chars;
};

struct thread_usage {
	uint32_t thread; /* index into model->threads */
	uint8_t source; /* enum usage_source of the times */
	bool has_counts; /* voluntary and involuntary are known */
	bool has_io;
	bool has_migrations;
	uint64_t alive_ns; /* part of the window in which the thread existed */
	uint64_t run_ns;
	uint64_t runnable_ns;
	uint64_t blocked_ns; /* asleep or stopped */
	uint64_t io_ns; /* part of blocked_ns: waiting for I/O */
	bool has_reasons; /* switches were recorded, and no loss of them is known */
	uint64_t reason_ns[REASONS]; /* time asleep by reason, as far as switches show it */
	struct sleep_sums sleeps; /* targets, with has_reasons: the same by sleep_sum */
	uint64_t interrupted_ns; /* part of run_ns: taken by interrupts; with topic irq */
	uint64_t throttled_ns; /* part of runnable_ns: the cgroup's CPU quota was used up */
	uint64_t unknown_ns; /* part of alive_ns, with USAGE_TIMELINE: records contradict each other */
	uint64_t stolen_ns; /* part of alive_ns: on a CPU that the hypervisor or interrupts used */
	uint64_t user_ticks_ns; /* from the timer tick: sampled, not measured */
	uint64_t system_ticks_ns;
	uint64_t voluntary;
	uint64_t involuntary;
	uint64_t migrations;
	uint64_t minor_faults;
	uint64_t major_faults;
	bool has_bytes;
	struct io_bytes bytes;
};

struct process_usage {
	uint32_t process; /* index into model->processes */
	uint8_t source; /* the least exact source of its threads; USAGE_UNKNOWN: sums are incomplete */
	bool has_split; /* user_ns and system_ns are known */
	bool has_io;
	bool has_migrations;
	uint64_t run_ns; /* sums over threads */
	uint64_t user_ns; /* run_ns divided by the kernel's rule: analyse/cpu_split.h */
	uint64_t system_ns;
	uint64_t runnable_ns;
	uint64_t blocked_ns;
	uint64_t io_ns;
	bool has_reasons; /* true if all its threads have them */
	uint64_t reason_ns[REASONS];
	uint64_t interrupted_ns;
	uint64_t throttled_ns;
	uint64_t stolen_ns;
	uint64_t voluntary;
	uint64_t involuntary;
	uint64_t migrations;
	uint64_t minor_faults; /* with has_migrations */
	uint64_t major_faults;
	bool has_bytes;
	struct io_bytes bytes;
	bool has_rss;
	uint64_t rss_bytes; /* the last known value in the window */
	uint64_t peak_rss_bytes; /* over its whole life, up to the window's end; 0 = unknown */
	uint32_t ns_pid; /* in its own pid namespace, 0 = unknown */
	uint32_t ns_inode;
	uint32_t cgroup; /* index into model->cgroups, or INDEX_NONE */
	double utilization; /* percent of one CPU, of the window */
	struct thread_usage *threads; /* largest run_ns first; part of results->threads */
	uint32_t thread_count;
};

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_PROCESS_USAGE_H */
