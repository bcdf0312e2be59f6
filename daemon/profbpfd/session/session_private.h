/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_private.h - shared by the files of a session: its state and the phases of
 * its life. session.c runs them, session_start.c begins, session_run.c records,
 * session_finish.c ends; session_counts.c keeps the counts, session_flight.c has the additions for the flight recorder,
 * session_steps.c those for a recording that begins with a step.
 *
 * All functions except session_end() and session_warn() are for the session's reader thread.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_SESSION_SESSION_PRIVATE_H
#define PROFBPF_DAEMON_PROFBPFD_SESSION_SESSION_PRIVATE_H

#include <pthread.h>
#include <time.h>

#include "daemon/profbpfd/capture/calibrate.h"
#include "daemon/profbpfd/capture/capture.h"
#include "daemon/profbpfd/host/cgroups.h"
#include "daemon/profbpfd/device/device_feed.h"
#include "daemon/profbpfd/session/item.h"
#include "daemon/profbpfd/metrics/process_figures.h"
#include "daemon/profbpfd/probe/map_events.h"
#include "daemon/profbpfd/probe/prober.h"
#include "daemon/profbpfd/probe/probes.h"
#include "daemon/profbpfd/session/recorder.h"
#include "daemon/profbpfd/control/right.h"
#include "daemon/profbpfd/capture/sampler.h"
#include "daemon/profbpfd/encode/segment.h"
#include "daemon/profbpfd/session/session.h"
#include "daemon/profbpfd/session/step_gate.h"
#include "daemon/profbpfd/stacks/stack_topic.h"
#include "daemon/profbpfd/session/texts.h"
#include "daemon/profbpfd/session/trigger_watch.h"
#include "daemon/profbpfd/encode/writer.h"

#define WARNINGS_MAX 64
#define STEPS_KEPT_BYTES (64u << 20) /* memory for data from before the step with which a recording begins */
#define EXITED_MAX 16384

/* A process that exited then. */
struct exited_process {
	pid_t pid;
	uint64_t ts_ns;
};

/* Messages of the control loop to the reader of a flight recorder's session. */
struct session_inbox {
	struct newcomer {
		pid_t pid;
		uint64_t started;
	} *newcomers;
	size_t newcomer_count;
	struct flight_ask *asks;
	size_t ask_count;
	bool closed;	/* messages are no longer handled */
};

struct session {
	uint32_t id;
	struct session_request request;
	const struct catalogs *catalogs;
	int event_fd;			/* the control loop's */
	int wake_fd;			/* the session's own: stop requests, writer failures */
	pthread_t thread;

	/* Shared with the control loop, under lock. */
	pthread_mutex_t lock;
	enum session_state state;
	bool stop_asked;
	bool failed;
	char reason[512];
	char *warnings[WARNINGS_MAX];
	size_t warning_count;
	uint64_t start_ns, end_ns;
	uint32_t functions, files;
	struct source_count counts[TRACE_SOURCES];
	struct session_shedding shedding[SHED_WHATS];
	double cost;		/* of session_info */
	bool cost_known;
	struct session_inbox inbox;
	/* They have their own locks; NULL: not kept. */
	struct figures *figures;
	struct live_figures *live;

	/* Used only by the session's own threads. */
	struct features features;
	struct capture *capture;
	struct right right;
	struct probes *probes;
	struct code_names *code_names;
	struct prober *prober;
	struct map_events *maps;
	struct item_queue *queue;
	struct texts *texts;
	struct recorder *recorder;
	struct device_feed *devices;
	struct cgroups *cgroups;
	struct stacks *stacks;		/* topic stack */
	struct unwinder_session *unwinding; /* NULL: user stacks are walked by frame pointers */
	struct sampler *sampler;
	struct sampler *faults;
	struct session_shed *shed;	/* NULL: the cost is not watched */
	struct segment *segment;
	struct writer *writer;
	struct trigger_watch *watch;	/* the writer's */
	struct session_steps {		/* for a session that begins with a step; else all NULL */
		struct flight_store *store; /* data kept until the step begins */
		struct flight *flight;
		struct step_gate *gate;	/* the writer's */
		bool opened;		/* the step has begun, and the writer was notified */
		bool let_go;		/* the store was freed */
		bool functions_told, uncounted_told; /* the user was warned about that */
	} steps;
	pid_t *targets;			/* with descendants */
	size_t target_count;
	bool roles_possible; /* a target may use MindData */
	uint64_t untraced;		/* processes that are not traced because the table is full */
	bool untraced_told;
	int epoll_fd;
	uint64_t maps_missed;		/* times that files were mapped unreported */
	bool look_due;			/* after such a time, the processes have not been looked at again yet */
	uint64_t looked_ns;		/* when they last were */
	uint64_t drain_ns;		/* when the rings were last read */
	bool patient;			/* priority_patient() */
	uint64_t drain_interval_ns;	/* time until the rings are read again, unless a wake-up comes earlier */
	struct probe_costs probe_costs;
	size_t alive;			/* requested processes still running */
	size_t next_look; /* index in the requested processes */
	size_t next_device_look; /* index in the targets */
	uint64_t idle_ns; /* with a flight: the time since which there are no targets; 0 = there are some */
	struct exited_process exited[EXITED_MAX]; /* processes to remove from the targets */
	size_t exited_count;
	size_t exited_before;		/* processes that exited before the last tick */
};

/* Sources of events of epoll_fd: events[].data.u64 */
enum {
	WAKE_OWN,	/* wake_fd */
	WAKE_RINGS,
	WAKE_MAPS,
	WAKE_PIDFD	/* + index of a requested process */
};

static inline uint64_t session_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* session_end - requests the end; a failure replaces an earlier reason */
void session_end(struct session *s, bool failed, const char *reason);

/* session_warn - stores a warning for the user; @session is a struct session */
void session_warn(void *session, const char *text);

/* session_note - adds a line to the trace only, which is being written */
void session_note(struct session *s, const char *text);

/* session_set_state - publishes the state for all threads; session_stop_asked - was the end requested? */
void session_set_state(struct session *s, enum session_state state);
bool session_stop_asked(struct session *s);

/* session_start - from loading to going live; 0, or -1 after it has called session_end() with the reason */
int session_start(struct session *s);

/* session_run - records until the end is requested */
void session_run(struct session *s);

/* session_events - the callbacks for the recorder */
struct recorder_events session_events(struct session *s);

/* session_map_events - the callbacks for mapped files */
struct map_events_handler session_map_events(struct session *s);

/* session_drain - reads the rings; queues full batches, or all with @flush */
void session_drain(struct session *s, bool flush);

/* session_push - queues an item for the writer; accepts NULL */
void session_push(struct session *s, struct item *item);

/* session_read_cgroups - queues the figures of the targets' cgroups */
void session_read_cgroups(struct session *s);

/*
 * session_read_figures - reads and queues cumulative figures: CPUs, counters, cgroups, threads
 *
 * @all: also threads whose figures have not changed.
 */
void session_read_figures(struct session *s, bool all);

/* session_check_targets - warns, once, if there was no room for some targets */
void session_check_targets(struct session *s);

/* session_check_writer - end the session if writing has failed */
void session_check_writer(struct session *s);

/* session_push_statistics - updates the counts and queues them */
void session_push_statistics(struct session *s, bool final);

/*
 * session_shed_start - begins to watch the session's cost, if it has a budget and records that can be shed
 * session_shed_look - to be called about once a second, with the counts up to date
 */
void session_shed_start(struct session *s);
void session_shed_look(struct session *s);
void session_shed_free(struct session_shed *shed);

/*
 * session_ioctls_start - finds open ioctls; if ioctls are not hooked yet, checks whether that is necessary
 * session_ioctls_look - checks that again; to be called about once a second
 */
void session_ioctls_start(struct session *s);
void session_ioctls_look(struct session *s);

/*
 * session_flight_look - for a flight recorder's session: handles new processes, due segments and requests; does nothing for others
 * session_flight_close - from now on messages are not handled
 */
void session_flight_look(struct session *s);
void session_flight_close(struct session *s);

/*
 * session_cut - ends the current segment in memory and begins another one; @row holds further work, and ts_ns is filled in
 */
void session_cut(struct session *s, struct cut_row *row);

/*
 * For a session that begins with a step:
 *
 * session_steps_start - allocates its state; 0 or -ENOMEM
 * session_steps_look - checks whether the step has begun, or the last one has ended
 * session_steps_end - the writer has ended: the session fails if no step has begun
 * session_steps_free - for any session
 */
int session_steps_start(struct session *s);
void session_steps_look(struct session *s);
void session_steps_end(struct session *s);
void session_steps_free(struct session *s);

/* session_trace_process - begins to record this process and its children, if that is permitted */
void session_trace_process(struct session *s, pid_t pid, uint64_t started);

/* session_read_all - reads the rings and all other sources; queues incomplete batches, too, with @flush */
void session_read_all(struct session *s, uint64_t now, bool flush);

/* session_finish_capture - stops recording and writes open calls; session_finish_writer - completes the file */
void session_finish_capture(struct session *s);
void session_finish_writer(struct session *s);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_SESSION_PRIVATE_H */
