/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader_private.h - shared by the parts of the .pbt loader. No other code includes it.
 *
 * While files are read, rows of the model contain thread ids in place of thread indices: a thread
 * id can be reused, and its thread at an instant is only known when all forks and exits have been
 * read. load_finish() replaces the ids.
 */
#ifndef PROFBPF_ANALYZER_LOAD_LOADER_PRIVATE_H
#define PROFBPF_ANALYZER_LOAD_LOADER_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/load/arena.h"
#include "analyzer/load/call_digest.h"
#include "analyzer/load/far_launches.h"
#include "analyzer/load/near_tasks.h"
#include "analyzer/load/unpack_batch.h"
#include "analyzer/load/window.h"
#include "lib/base/map.h"
#include "analyzer/model/model.h"
#include "lib/trace/pbt.h"
#include "proto/trace.pb-c.h"

#define SESSION_UUID_SIZE 16
#define SESSION_SOURCES_MAX 16
#define SEEN_TIDS 256 /* a power of 2 */
#define SEEN_FUNCTIONS 256 /* the same */

/* One recording; several may be in one file, or one recording in several files. */
struct session {
	uint8_t uuid[SESSION_UUID_SIZE];
	bool known; /* a segment's header has been read */
	uint64_t start_ns;
	uint64_t last_ns; /* latest instant of any row */
	bool final;
	uint64_t final_ns;
	uint32_t end_reason;
	uint64_t statistics_ns;
	struct probe_cost probe_costs[PROBE_COSTS_MAX];
	uint32_t probe_cost_count;
	uint32_t probe_string_ns;
	uint64_t daemon_cpu_ns;
	uint64_t bytes;
	struct source_loss sources[SESSION_SOURCES_MAX];
	uint32_t source_count;
	uint32_t first_short_call; /* rows of model->short_calls of the latest statistics */
	uint32_t short_call_count;
	MODEL_ARRAY(uint32_t) segments; /* indices of the segments read so far */
};

/* One row of a Tasks batch. */
struct task_row {
	uint64_t ts_ns;
	uint64_t start_ns;
	uint32_t tid;
	uint32_t tgid;
	uint32_t parent_tgid;
	uint32_t parent_tid;
	uint32_t exit_code;
	uint32_t name;
	uint32_t cmdline;
	uint32_t exe;
	uint8_t event;
	uint8_t flags;
};

/* Facts about a thread id from rows other than tasks. */
struct tid_info {
	uint32_t tid;
	uint32_t tgid; /* 0 = unknown */
	uint64_t first_ns;
	uint64_t last_ns;
	uint32_t thread; /* the only thread with this id, or INDEX_NONE if there were several */
};

/* The last counted switch of a CPU. */
struct survey_switch {
	bool any; /* there was a switch */
	bool next_target;
	uint32_t next_tid;
};

struct survey_state {
	MODEL_ARRAY(struct survey_switch) last_switches; /* by CPU */
};

/* A function whose id was in a recent row. */
struct seen_function {
	uint64_t key; /* 1 + key in loader->function_map; 0 = none */
	uint32_t index;
};

struct loader {
	struct model *model;
	uint32_t rows; /* enum load_rows: the kinds of rows that are kept */
	struct survey_state survey; /* for the kinds that are not kept: survey.h */
	struct load_window window; /* for the kinds that are kept: the part of the time */
	struct near_tasks near_tasks;
	struct call_digest digest; /* for calls that are not kept */
	struct far_launches far; /* with the digest: for tasks and calls that are not kept */
	struct arena arena;
	const char *path; /* of the file being read */
	struct progress *progress; /* NULL: no display */
	bool any_segment;
	uint8_t boot_id[16];
	uint32_t *strings; /* the segment's string ids to the model's */
	uint32_t string_count;
	uint32_t string_capacity;
	MODEL_ARRAY(uint32_t) objects; /* the segment's ids of sleep objects to the model's rows */
	uint32_t session; /* index of the current session */
	MODEL_ARRAY(struct session) sessions;
	MODEL_ARRAY(struct task_row) task_rows;
	MODEL_ARRAY(struct tid_info) tids;
	uint32_t seen_tids[SEEN_TIDS]; /* indices into tids of recent thread ids, by the last bits of the id */
	struct map process_map; /* pid -> its last row in model->processes; by load_threads() */
	struct map tid_map; /* tid -> index into tids */
	struct map launch_map; /* tgid << 32 | function of model->launch_callers */
	struct seen_function seen_functions[SEEN_FUNCTIONS]; /* by the last bits of the id */
	struct map function_map; /* session << 32 | id -> index into model->functions */
	struct map readable_map; /* string: mangled name of a task -> string: readable name */
	struct map device_map; /* session << 32 | id -> index into model->devices */
	struct map driver_map; /* rdev -> index into model->drivers */
	struct map cgroup_map; /* id -> index into model->cgroups */
	/* session << 32 | id -> row of model->code_files, string, code_frames, code_stacks */
	struct map stack_files, stack_names, stack_frames, stacks;
	uint64_t read[SESSION_SOURCES_MAX]; /* rows read, by enum read_source */
	bool no_memory;
};

/* Sources whose rows in the file can be compared with the number of rows that the daemon delivered. */
enum read_source {
	READ_API,
	READ_IOCTL,
	READ_SCHED,
	READ_DEVICE,
	READ_STACK,
	READ_FAULT,
	READ_BLOCK,
	READ_SOURCES
};

static inline struct session *loader_session(struct loader *loader)
{
	return &loader->sessions.row[loader->session];
}

/* Index of a thread id's row in loader->tids; MAP_NONE if no row has named the id. */
static inline uint32_t loader_tid_row(const struct loader *loader, uint32_t tid)
{
	uint32_t seen = loader->seen_tids[tid % SEEN_TIDS];

	/* Most rows belong to few threads. */
	if (seen < loader->tids.count && loader->tids.row[seen].tid == tid)
		return seen;
	return map_get(&loader->tid_map, tid);
}

/* Records that the session lasted until @ts_ns at least. */
static inline void loader_reached(struct loader *loader, uint64_t ts_ns)
{
	struct session *session = loader_session(loader);

	if (ts_ns > session->last_ns)
		session->last_ns = ts_ns;
}

/* The last known instant of a session. */
static inline uint64_t loader_session_end(const struct session *session)
{
	return session->final ? session->final_ns : session->last_ns;
}

/* Is @value a value of the enum whose last value is @last? Counts a later version's value, which is unknown here. */
static inline bool loader_knows(struct loader *loader, uint32_t value, uint32_t last)
{
	if (value <= last)
		return true;
	loader->model->unknown_values++;
	return false;
}

/* Returns @value, or @unknown for a value of a later version. */
static inline uint8_t loader_value(struct loader *loader, uint32_t value, uint32_t last,
				   uint8_t unknown)
{
	return loader_knows(loader, value, last) ? (uint8_t)value : unknown;
}

/* The return value of a load_...() function that got no memory. */
static inline bool loader_out_of_memory(struct loader *loader)
{
	loader->no_memory = true;
	return false;
}

/* The message of @type in a packet, valid while the packet is read; NULL if the body is not valid. */
#define LOADER_UNPACK(type, packet) \
	profbpf__##type##__unpack(&loader->arena.allocator, (packet)->size, (packet)->body)

/* The same for a message of columns. */
#define LOADER_UNPACK_BATCH(type, packet)                                                    \
	((__typeof__(profbpf__##type##__unpack(NULL, 0, NULL)))unpack_batch(                 \
		&profbpf__##type##__descriptor, &loader->arena.allocator, (packet)->size, \
		(packet)->body))

/* Model string of a segment's string id; 0 for ids that the segment has not sent. */
static inline uint32_t loader_string(const struct loader *loader, uint32_t id)
{
	return id < loader->string_count ? loader->strings[id] : 0;
}

/* Return the row of a function or driver, which is created on first use. INDEX_NONE without memory. */
uint32_t loader_function(struct loader *loader, uint32_t id);
uint32_t loader_driver(struct loader *loader, uint32_t rdev);

/* Records that a process called a function whose calls are not kept, if the function launches. @tgid 0 = unknown. */
bool loader_saw_launch(struct loader *loader, uint32_t function, uint32_t tgid);

/* Records that a row at @ts_ns named a thread. @tgid 0 = unknown. */
bool loader_saw_thread(struct loader *loader, uint32_t tid, uint32_t tgid, uint64_t ts_ns);

/*
 * Load the body of a packet, by its kind. Return false if the body is damaged or without memory
 * (then loader->no_memory is set).
 */
bool load_clocks(struct loader *loader, const struct pbt_packet *packet);
bool load_strings(struct loader *loader, const struct pbt_packet *packet);
bool load_functions(struct loader *loader, const struct pbt_packet *packet);
bool load_drivers(struct loader *loader, const struct pbt_packet *packet);
bool load_thread_roles(struct loader *loader, const struct pbt_packet *packet);
bool load_devices(struct loader *loader, const struct pbt_packet *packet);
bool load_notes(struct loader *loader, const struct pbt_packet *packet);
bool load_coverage(struct loader *loader, const struct pbt_packet *packet);
bool load_ends(struct loader *loader, const struct pbt_packet *packet);
bool load_shed(struct loader *loader, const struct pbt_packet *packet);
bool load_statistics(struct loader *loader, const struct pbt_packet *packet);
bool load_tasks(struct loader *loader, const struct pbt_packet *packet);
bool load_calls(struct loader *loader, const struct pbt_packet *packet);
bool load_ioctls(struct loader *loader, const struct pbt_packet *packet);
bool load_sleep_objects(struct loader *loader, const struct pbt_packet *packet);
bool load_switches(struct loader *loader, const struct pbt_packet *packet);
bool load_interrupts(struct loader *loader, const struct pbt_packet *packet);
bool load_wakes(struct loader *loader, const struct pbt_packet *packet);
bool load_faults(struct loader *loader, const struct pbt_packet *packet);
bool load_block_requests(struct loader *loader, const struct pbt_packet *packet);
bool load_accounts(struct loader *loader, const struct pbt_packet *packet);
bool load_counters(struct loader *loader, const struct pbt_packet *packet);
bool load_cpu_stats(struct loader *loader, const struct pbt_packet *packet);
bool load_processes(struct loader *loader, const struct pbt_packet *packet);
bool load_cgroups(struct loader *loader, const struct pbt_packet *packet);
bool load_cgroup_stats(struct loader *loader, const struct pbt_packet *packet);
bool load_stacks(struct loader *loader, const struct pbt_packet *packet);
bool load_pythons(struct loader *loader, const struct pbt_packet *packet);
bool load_stack_samples(struct loader *loader, const struct pbt_packet *packet);
bool load_device_tasks(struct loader *loader, const struct pbt_packet *packet);
bool load_code_names(struct loader *loader, const struct pbt_packet *packet);

/* load_segment - start a segment; returns -EINVAL with @error if it cannot be added to the model */
int load_segment(struct loader *loader, const struct pbt_packet *packet, char *error,
		 size_t error_size);

/* Returns the model string of a symbol in readable form: C++ names demangled, without parameters. */
uint32_t loader_symbol(struct loader *loader, const char *symbol);

/* Ensures that there is a session, even if its header could not be read. */
bool loader_need_session(struct loader *loader);

/*
 * load_threads - convert task events to rows of threads and processes
 *
 * Also creates rows for threads that only calls, accounts or switches name, and completes
 * loader->tids. Afterwards the thread look-up of the model is usable.
 */
bool load_threads(struct loader *loader);

/* Returns the last row of a process by pid that began at or before @ts_ns; INDEX_NONE if none. */
uint32_t loader_process_at(const struct loader *loader, uint32_t pid, uint64_t ts_ns);

/* Thread index of a thread id at an instant. */
uint32_t loader_thread_at(const struct loader *loader, uint32_t tid, uint64_t ts_ns);

/* Sets the model strings of a driver's commands, and replaces its earlier ones. Returns false without memory. */
bool load_commands(struct loader *loader, const Profbpf__Driver *from, struct driver *driver);

/* Leave each change once, in order, within the times of its session. */
void load_resolve_ends(struct loader *loader);
void load_resolve_shed(struct loader *loader);
void load_resolve_samples(struct loader *loader);

/* Set the processes of the addresses with names, and sort them. */
void load_resolve_code_names(struct loader *loader);

/* Do the function's calls give threads their names? */
bool load_names_threads(const struct function *function);

/* Are all calls of a row of model->functions kept, whatever their time? */
bool loader_keeps_calls_of(const struct loader *loader, uint32_t function);

/* Full names of threads of which the kernel keeps only 15 bytes, from the calls that set them. */
void load_thread_names(struct model *model);

#endif /* PROFBPF_ANALYZER_LOAD_LOADER_PRIVATE_H */
