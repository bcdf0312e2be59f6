/* SPDX-License-Identifier: Apache-2.0 */
/* recording.h - rows of the model (model.h): how the trace was recorded: when, which targets, which losses. */
#ifndef PROFBPF_ANALYZER_MODEL_RECORDING_H
#define PROFBPF_ANALYZER_MODEL_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

/* The time from which a file's functions were probed in a process that had mapped it. */
struct coverage {
	uint32_t process;
	uint32_t file;
	uint64_t mapped_ns; /* 0 = before the session */
	uint64_t probed_ns;
	uint64_t session_start_ns; /* of the session it belongs to */
	uint32_t functions;
	uint8_t state; /* PROFBPF__COVERAGE__STATE__* */
};

/* The time from which the ends of a function's calls were not seen, or seen again: see Ends in proto/trace.proto. */
struct ends_change {
	uint32_t function;
	uint32_t calls_per_second; /* that decided it */
	uint64_t ts_ns;
	bool seen;
	uint64_t session_start_ns; /* of the session it belongs to */
	uint64_t session_end_ns; /* last known instant of the session */
};

/* The time from which a part of one kind of records was recorded: see Shed in proto/trace.proto. */
struct shed_change {
	uint32_t what; /* PROFBPF__SHED__WHAT__*, never NOTHING */
	uint32_t kept_permille;
	uint32_t cost_ppm;
	bool for_room; /* shed because rings were full; else for its cost */
	uint64_t ts_ns;
	uint64_t session_start_ns; /* of the session it belongs to */
	uint64_t session_end_ns; /* last instant known of it */
};

/* The number of a source's records that were lost for one reason. */
struct loss_reason {
	uint32_t reason; /* string */
	uint64_t count;
};

/* The books of a source of records: produced = delivered + lost. */
struct source_loss {
	uint32_t name;
	uint64_t produced;
	uint64_t delivered; /* as the daemon counted */
	uint64_t read; /* as found in the file; UINT64_MAX = not comparable */
	struct loss_reason reasons[8];
	uint32_t reason_count;
};

/* The cost of a probe, by the class of the probed instruction; see proto/trace.proto. */
struct probe_cost {
	uint32_t instruction; /* string */
	uint32_t inside_ns;
	uint32_t whole_ns;
};

/* Rows of the trace that were only counted, because the requested sections do not need them. */
struct survey {
	bool schedule; /* the model does not contain all switches */
	uint64_t calls;
	uint64_t ioctls;
	uint64_t switches;
	uint64_t switches_missing; /* as capture_results has it */
	uint64_t wakes;
	uint64_t tasks;
	uint64_t from_ns; /* the part of the time whose rows are all in the model, with the calls that reach into it */
	uint64_t to_ns; /* 0 = all of the time */
	bool all_calls; /* calls are the model's whenever they were */
	bool too_many; /* calls were too different for counted_calls: some may be missing there, or be of another thread */
};

#define PROBE_COSTS_MAX 8

/* The recording itself, of the first session where there are several. Strings. */
struct trace_info {
	uint32_t hostname;
	uint32_t kernel;
	uint32_t arch;
	uint32_t producer;
	uint32_t cpus;
	uint64_t start_ns; /* window of every analysis: the session, or the part of it that */
	uint64_t end_ns; /* the user asked for */
	uint64_t session_start_ns;
	uint64_t session_end_ns; /* last instant known: final statistics, else last record */
	uint64_t start_realtime_ns;
	uint32_t *targets; /* pids */
	uint32_t target_count;
	bool system_wide;
	bool follow;
	bool ended; /* final statistics were found */
	uint32_t end_reason;
	struct probe_cost probe_costs[PROBE_COSTS_MAX]; /* of the first session that says so */
	uint32_t probe_cost_count;
	uint32_t probe_string_ns;
	uint32_t probe_method;
	uint64_t min_duration_ns;
	uint64_t interval_ns; /* between accounts, CPU statistics and counters; 0 = 1 s */
	uint64_t daemon_cpu_ns;
	uint64_t bytes;
	uint32_t stack_rate; /* samples per second and CPU, 0 = none were taken */
	uint32_t topics; /* string: "api ioctl sched" */
};

#endif /* PROFBPF_ANALYZER_MODEL_RECORDING_H */
