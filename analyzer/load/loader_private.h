/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader_private.h - what the parts of the .pbt loader share. Nobody else includes it.
 *
 * While files are read, rows of the model carry thread ids where they will carry
 * thread indices: which life of a thread id is meant is only known when all
 * forks and exits have been seen. load_finish() replaces them.
 */
#ifndef PROFBPF_ANALYZER_LOAD_LOADER_PRIVATE_H
#define PROFBPF_ANALYZER_LOAD_LOADER_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/load/arena.h"
#include "analyzer/load/call_digest.h"
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

/* One recording; several may be in one file, or one in several files. */
struct session {
	uint8_t uuid[SESSION_UUID_SIZE];
	bool known; /* a segment's header has been read */
	uint64_t start_ns;
	uint64_t last_ns; /* latest instant seen in any row */
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
	MODEL_ARRAY(uint32_t) segments; /* indices read so far */
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

/* What rows other than tasks say about a thread id. */
struct tid_info {
	uint32_t tid;
	uint32_t tgid; /* 0 = unknown */
	uint64_t first_ns;
	uint64_t last_ns;
	uint32_t thread; /* the only life of this id, or INDEX_NONE if there were several */
};

/* The last switch of a CPU that a survey has counted. */
struct survey_switch {
	bool any; /* there was one */
	bool next_target;
	uint32_t next_tid;
};

struct survey_state {
	MODEL_ARRAY(struct survey_switch) last_switches; /* by CPU */
};

/* A function whose id a row had. */
struct seen_function {
	uint64_t key; /* 1 + that in loader->function_map; 0 = none */
	uint32_t index;
};

struct loader {
	struct model *model;
	uint32_t rows; /* enum load_rows: those that are kept */
	struct survey_state survey; /* of the others: survey.h */
	struct load_window window; /* and of these: only what is in a part of the time */
	struct near_tasks near_tasks;
	struct call_digest digest; /* of the calls that are not */
	struct arena arena;
	const char *path; /* of the file being read */
	struct progress *progress; /* NULL: nobody watches */
	bool any_segment;
	uint8_t boot_id[16];
	uint32_t *strings; /* the segment's string ids to the model's */
	uint32_t string_count;
	uint32_t string_capacity;
	MODEL_ARRAY(uint32_t) objects; /* the segment's ids of sleep objects to the model's rows */
	uint32_t session; /* index of the current one */
	MODEL_ARRAY(struct session) sessions;
	MODEL_ARRAY(struct task_row) task_rows;
	MODEL_ARRAY(struct tid_info) tids;
	uint32_t seen_tids[SEEN_TIDS]; /* indices into tids of those seen of late, by the last bits of the id */
	struct map process_map; /* pid -> its last row in model->processes; by load_threads() */
	struct map tid_map; /* tid -> index into tids */
	struct map launch_map; /* tgid << 32 | function of model->launch_callers */
	struct seen_function seen_functions[SEEN_FUNCTIONS]; /* by the last bits of the id */
	struct map function_map; /* session << 32 | id -> index into model->functions */
	struct map readable_map; /* string of a task's mangled name -> string of its readable one */
	struct map device_map; /* session << 32 | id -> index into model->devices */
	struct map driver_map; /* rdev -> index into model->drivers */
	struct map cgroup_map; /* id -> index into model->cgroups */
	/* session << 32 | id -> row of model->code_files, string, code_frames, code_stacks */
	struct map stack_files, stack_names, stack_frames, stacks;
	uint64_t read[SESSION_SOURCES_MAX]; /* rows read, by enum read_source */
	bool no_memory;
};

/* Sources whose rows in the file can be compared with what the daemon delivered. */
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

/* Index of a thread id's row in loader->tids; MAP_NONE if no row named it. */
static inline uint32_t loader_tid_row(const struct loader *loader, uint32_t tid)
{
	uint32_t seen = loader->seen_tids[tid % SEEN_TIDS];

	/* Few threads make most rows. */
	if (seen < loader->tids.count && loader->tids.row[seen].tid == tid)
		return seen;
	return map_get(&loader->tid_map, tid);
}

/* The session lasted until @ts_ns at least. */
static inline void loader_reached(struct loader *loader, uint64_t ts_ns)
{
	struct session *session = loader_session(loader);

	if (ts_ns > session->last_ns)
		session->last_ns = ts_ns;
}

/* The last instant known of a session. */
static inline uint64_t loader_session_end(const struct session *session)
{
	return session->final ? session->final_ns : session->last_ns;
}

/* Is @value one of an enum whose last is @last? A later version's is counted: it is unknown here. */
static inline bool loader_knows(struct loader *loader, uint32_t value, uint32_t last)
{
	if (value <= last)
		return true;
	loader->model->unknown_values++;
	return false;
}

/* @value, or @unknown for one of a later version. */
static inline uint8_t loader_value(struct loader *loader, uint32_t value, uint32_t last,
				   uint8_t unknown)
{
	return loader_knows(loader, value, last) ? (uint8_t)value : unknown;
}

/* What a load_...() returns that got no memory. */
static inline bool loader_out_of_memory(struct loader *loader)
{
	loader->no_memory = true;
	return false;
}

/* The message of @type in a packet, for as long as the packet is read; NULL if it is none. */
#define LOADER_UNPACK(type, packet) \
	profbpf__##type##__unpack(&loader->arena.allocator, (packet)->size, (packet)->body)

/* The same of a message of columns. */
#define LOADER_UNPACK_BATCH(type, packet)                                                    \
	((__typeof__(profbpf__##type##__unpack(NULL, 0, NULL)))unpack_batch(                 \
		&profbpf__##type##__descriptor, &loader->arena.allocator, (packet)->size, \
		(packet)->body))

/* Model string of a segment's string id; 0 for ids that the segment has not sent. */
static inline uint32_t loader_string(const struct loader *loader, uint32_t id)
{
	return id < loader->string_count ? loader->strings[id] : 0;
}

/* The row of a function or driver, made on first use. INDEX_NONE without memory. */
uint32_t loader_function(struct loader *loader, uint32_t id);
uint32_t loader_driver(struct loader *loader, uint32_t rdev);

/* Take note that a process called a function, of which calls are not kept, if that launches. @tgid 0 = not known. */
bool loader_saw_launch(struct loader *loader, uint32_t function, uint32_t tgid);

/* Take note that a thread was named by a row at an instant. @tgid 0 = not known. */
bool loader_saw_thread(struct loader *loader, uint32_t tid, uint32_t tgid, uint64_t ts_ns);

/*
 * Bodies of packets by kind. Return false when the body is damaged or memory has run
 * out (then loader->no_memory is set).
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

/* load_segment - the start of a segment; -EINVAL with @error when it cannot join the model */
int load_segment(struct loader *loader, const struct pbt_packet *packet, char *error,
		 size_t error_size);

/* Model string of a symbol as people write it: C++ names demangled, without parameters. */
uint32_t loader_symbol(struct loader *loader, const char *symbol);

/* Make sure that there is a session, also when its header could not be read. */
bool loader_need_session(struct loader *loader);

/*
 * load_threads - task events to rows of threads and processes
 *
 * Also makes rows for threads that only calls, accounts or switches name, and
 * completes loader->tids. Leaves the thread look-up of the model usable.
 */
bool load_threads(struct loader *loader);

/* Row of a process by pid, the last one that began at or before @ts_ns. INDEX_NONE if none. */
uint32_t loader_process_at(const struct loader *loader, uint32_t pid, uint64_t ts_ns);

/* Thread index of a thread id at an instant. */
uint32_t loader_thread_at(const struct loader *loader, uint32_t tid, uint64_t ts_ns);

/*
 * Model strings of the commands of a driver, which replace those it had. Returns false
 * without memory.
 */
bool load_commands(struct loader *loader, const Profbpf__Driver *from, struct driver *driver);

/* Each change of what is seen of a function once, in order, with the times of its session. */
void load_resolve_ends(struct loader *loader);
void load_resolve_shed(struct loader *loader);
void load_resolve_samples(struct loader *loader);

/* Processes of the addresses that have names, and their order. */
void load_resolve_code_names(struct loader *loader);

/* Do its calls give threads their names? */
bool load_names_threads(const struct function *function);

/* Are calls of a row of model->functions kept, not counted, whenever they were? */
bool loader_keeps_calls_of(const struct loader *loader, uint32_t function);

/* Names of threads that the kernel keeps the first 15 bytes of, by the calls that gave them. */
void load_thread_names(struct model *model);

#endif /* PROFBPF_ANALYZER_LOAD_LOADER_PRIVATE_H */
