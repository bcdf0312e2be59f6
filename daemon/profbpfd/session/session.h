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
#include "daemon/profbpfd/capture/calibrate.h"
#include "daemon/profbpfd/session/session_request.h"
#include "daemon/profbpfd/session/shedding.h"
#include "daemon/profbpfd/session/step_gate.h"

#define SESSION_LOSSES_MAX 16
#define SESSION_SOURCES_MAX 8

struct session;
struct flight;
struct flight_ask;
struct process_figures;
struct live_copy;

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
	/* CLOCK_MONOTONIC at which it began to go live, or at which what is written began; 0 = not yet */
	uint64_t start_ns;
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
	bool by_steps;			/* it begins with a step: */
	struct step_gate_facts steps;
	uint64_t first_step, wanted_steps;
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

/* session_memory - the most that rings of @buffer_bytes, what waits to be written, and what is kept before a step take */
uint64_t session_memory(uint64_t buffer_bytes, bool by_steps);

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

/* session_live_figures - of its devices and data pipelines, as live_figures_copy(); false where nobody asked to keep them */
bool session_live_figures(struct session *session, struct live_copy *copy);

/* session_free - waits for its threads unless it is SESSION_RELEASED */
void session_free(struct session *session);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_SESSION_H */
