/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - one recording, from request to closed file.
 *
 * A session owns an instance of the BPF programs, its probes, its rings and its
 * threads. It starts, runs and ends on those threads; the control loop only asks
 * for things and is told of changes through a descriptor. All functions here are
 * called from the control loop's thread and return at once, session_free()
 * excepted, which joins threads that have ended.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_SESSION_SESSION_H
#define PROFBPF_DAEMON_PROFBPFD_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/events.h"
#include "daemon/catalog/catalog.h"
#include "daemon/common/topics.h"
#include "daemon/profbpfd/capture/calibrate.h"
#include "daemon/profbpfd/control/held.h"
#include "daemon/profbpfd/session/shedding.h"

#define SESSION_LOSSES_MAX 16
#define SESSION_SOURCES_MAX 8

struct session;
struct features;
struct file_cache;
struct flight;
struct flight_ask;
struct gate;
struct kernel_names;
struct map_watch;
struct prices;
struct process_figures;
struct triggers;
struct unwinder;

struct session_request {
	pid_t *pids;		/* processes to trace; none with system_wide */
	struct held *held;	/* of each of them its process, until it exits */
	size_t pid_count;
	bool system_wide;
	bool follow;		/* children too, those that exist and those to come */
	uid_t owner;		/* the ordinary user who is to see it; (uid_t)-1: one who may see all */
	gid_t owner_group;	/* that user's group */
	bool started_here;	/* the one pid waits in profctl to exec its command */
	uint64_t duration_ns;	/* 0 = until stopped */
	uint64_t min_duration_ns;
	uint64_t interval_ns; /* between readings of accounts and counters */
	uint64_t buffer_bytes;	/* all rings together */
	uint64_t stack_block_ns;	/* topic stack: shorter sleeps leave no stack */
	bool keep_figures;	/* of processes, for session_figures() */
	bool keep_queues;	/* calls of the kinds queue and marker are recorded, however short */
	uint64_t processes_max;	/* targets at a time; 0 = as many as the table holds */
	uint64_t functions_max;	/* probed; 0 = as many as a session can have */
	double budget;		/* part of one CPU that recording may cost (probes.h, shedding.h), 0 = any */
	uint32_t stack_rate;	/* topic stack: samples per second and CPU */
	unsigned int topics;	/* TOPIC_* */
	const struct features *features; /* of this kernel; outlives the session */
	struct prices *prices;	/* the same; not NULL */
	struct map_watch *map_watch; /* the same; not NULL */
	struct kernel_names *kernel_names; /* the same; not NULL */
	struct unwinder *unwinder; /* the same; NULL: stacks are walked by frame pointers */
	struct gate *gate; /* the same; NULL: programs are attached to the scheduler themselves */
	struct file_cache *file_cache;	/* of the daemon, outlives the session; may be NULL */
	int output;		/* descriptor to write the trace to; -1 with a flight */
	struct flight *flight;	/* keep the trace there, of processes that session_add_process() names; outlives the session; NULL: none */
	struct triggers *triggers; /* what a session with a flight looks out for; outlives it */
	int *files;		/* executables and libraries to probe before they are mapped */
	size_t file_count;
};

/* What is left out of the records now; all zeros: nothing ever was. */
struct session_shedding {
	uint32_t kept_permille;
	uint64_t since_ns; /* CLOCK_MONOTONIC */
};

enum session_state {
	SESSION_STARTING,
	SESSION_LIVE,		/* capture is complete from now on */
	SESSION_ENDING,
	SESSION_ENDED,		/* the file is complete and closed, nothing is recorded any more */
	SESSION_RELEASED,	/* everything is unloaded; session_free() does not wait */
};

struct session_source {
	const char *name;
	uint64_t produced;
	uint64_t delivered;
	struct {
		const char *reason;
		uint64_t count;
	} lost[SESSION_LOSSES_MAX];
	size_t lost_count;
};

struct session_info {
	uint32_t id;
	enum session_state state;
	bool failed;			/* it ended with an error; reason says which */
	char reason[512];		/* why it ended, or why it could not start */
	uint64_t start_ns;		/* CLOCK_MONOTONIC at which it began to go live; 0 = not yet */
	uint64_t end_ns;
	uint64_t bytes;			/* written so far */
	uint32_t functions;		/* probed */
	uint32_t files;			/* they are in */
	struct probe_costs probe_costs;
	const char *method;		/* session, multi, perf, none */
	struct session_source sources[SESSION_SOURCES_MAX];
	size_t source_count;
	struct session_shedding shedding[SHED_WHATS];
	double cost; /* part of the time of the CPU where it is most that the programs took, in the last second */
	bool cost_known;
	char **warnings;		/* owned by the session */
	size_t warning_count;
};

/*
 * session_was_live - is it live, or has it been?
 *
 * Not as soon as start_ns is known: the targets are put into their table, and the figures of the start read, after
 * that. Whoever is told before lets the command go whose first calls are not seen.
 */
static inline bool session_was_live(const struct session_info *info)
{
	return info->start_ns && info->state > SESSION_STARTING && !info->failed;
}

/* session_memory - the most that rings of @buffer_bytes and what waits to be written take */
uint64_t session_memory(uint64_t buffer_bytes);

/*
 * session_new - start a session
 *
 * Takes over the descriptors and arrays of @request, also when it fails.
 * @catalogs must stay unchanged until session_free(). @event_fd is an eventfd
 * that gets 1 added at every change of state. Returns NULL without memory or
 * threads.
 */
struct session *session_new(uint32_t id, struct session_request *request,
			    const struct catalogs *catalogs, int event_fd);

/*
 * Of a session with a flight:
 *
 * session_add_process - trace @pid too, that began at @started (process_facts.started), and with it its children
 * session_ask - have the flight's last seconds taken, as they are now; answered in any case, see struct flight_ask
 */
void session_add_process(struct session *session, pid_t pid, uint64_t started);
void session_ask(struct session *session, const struct flight_ask *ask);

/* session_stop - ask it to end; @reason ("stopped by user") is copied */
void session_stop(struct session *session, const char *reason);

/* session_info - a consistent copy of what is known now */
void session_info(struct session *session, struct session_info *info);

/* session_figures - of its processes, as figures_copy(); 0 where nobody asked to keep them */
size_t session_figures(struct session *session, struct process_figures *rows, size_t room);

/* session_free - waits for its threads unless it is SESSION_RELEASED */
void session_free(struct session *session);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_SESSION_H */
