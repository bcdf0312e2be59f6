/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - one recording, from request to closed file.
 *
 * A session owns an instance of the BPF programs, its probes, its rings and its
 * threads. It starts, runs and ends on those threads; the control loop only makes
 * requests and is notified of changes through a descriptor. All functions here are
 * called from the control loop's thread and return at once, except session_free(),
 * which joins threads that have ended.
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

/* Records that are being shed; all zeros: none ever were. */
struct session_shedding {
	uint32_t kept_permille;
	uint64_t since_ns; /* CLOCK_MONOTONIC */
};

enum session_state {
	SESSION_STARTING,
	SESSION_LIVE,		/* capture is complete from now on */
	SESSION_ENDING,
	SESSION_ENDED,		/* the file is complete and closed, recording has ended */
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
	bool failed;			/* it ended with an error, which is in @reason */
	char reason[512];		/* the reason of its end, or of a failed start */
	/* CLOCK_MONOTONIC when it began to go live, or the start of the written part; 0 = not yet */
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t bytes;			/* written so far */
	uint32_t functions;		/* number of probed functions */
	uint32_t files;			/* number of files with probed functions */
	struct probe_costs probe_costs;
	const char *method;		/* session, multi, perf, none */
	struct session_source sources[SESSION_SOURCES_MAX];
	size_t source_count;
	struct session_shedding shedding[SHED_WHATS];
	double cost; /* the programs' part of the time of the most loaded CPU, in the last second */
	bool cost_known;
	bool by_steps;			/* it begins with a step; then the next members are set */
	struct step_gate_facts steps;
	uint64_t first_step, wanted_steps;
	char **warnings;		/* owned by the session */
	size_t warning_count;
};

/*
 * session_was_live - is the session live, or was it?
 *
 * This is later than start_ns: the targets are inserted into their table, and the first figures read, after
 * that. A client that was notified earlier would start its command before the first calls are seen.
 */
static inline bool session_was_live(const struct session_info *info)
{
	return info->start_ns && info->state > SESSION_STARTING && !info->failed;
}

/* session_memory - the most memory of a session: rings of @buffer_bytes, data waiting to be written, data kept before a step */
uint64_t session_memory(uint64_t buffer_bytes, bool by_steps);

/*
 * session_new - starts a session
 *
 * Takes over the descriptors and arrays of @request, also when it fails.
 * @catalogs must stay unchanged until session_free(). @event_fd is an eventfd
 * that gets 1 added at every change of state. Returns NULL without memory or
 * threads.
 */
struct session *session_new(uint32_t id, struct session_request *request,
			    const struct catalogs *catalogs, int event_fd);

/*
 * For a session of the flight recorder:
 *
 * session_add_process - also traces @pid, which began at @started (process_facts.started), and its children
 * session_ask - requests the last seconds, as they are now; answered in any case, see struct flight_ask
 */
void session_add_process(struct session *session, pid_t pid, uint64_t started);
void session_ask(struct session *session, const struct flight_ask *ask);

/* session_stop - requests its end; @reason ("stopped by user") is copied */
void session_stop(struct session *session, const char *reason);

/* session_info - a consistent copy of the current state */
void session_info(struct session *session, struct session_info *info);

/* session_figures - figures of its processes, like figures_copy(); 0 if the session does not keep them */
size_t session_figures(struct session *session, struct process_figures *rows, size_t room);

/* session_live_figures - figures of its devices and data pipelines, like live_figures_copy(); false if the session does not keep them */
bool session_live_figures(struct session *session, struct live_copy *copy);

/* session_free - waits for its threads unless it is SESSION_RELEASED */
void session_free(struct session *session);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_SESSION_H */
