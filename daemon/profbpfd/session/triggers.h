/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triggers.h - the events at which the flight recorder writes a snapshot by itself: the list, and the events that happened.
 *
 * Written as
 *   signal          a process is ended by a signal other than the usual ones for that: HUP, INT, PIPE, TERM
 *   signal=N        a process is ended by this signal
 *   no-launch=TIME  a live process that launches work has not done so for this time
 *   slow-step=K:NAME  a step takes longer than K times the median of the last ones; each step calls NAME, a function's
 *                   symbol or a pattern of it, once
 *   steps=N+M:NAME  the M steps from step N on are over, and the file has all of them: step 0 begins with the first
 *                   seen call of NAME in a process; once for each process
 *   data-wait=X%    a thread has spent more than X % of the last 10 seconds fetching data, in calls of the functions
 *                   that trainers of MindSpore and TensorFlow use for that, or a process of PyTorch or MegEngine has
 *   data-wait=X%:NAME  the same, in calls of NAME
 *   metric=NAME>X   a metric, by its name in /metrics, of a recorded process or of the daemon, is above
 *   metric=NAME<X   or below X; for a counter (_total) its growth per second
 *
 * All functions may be called from any thread.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_SESSION_TRIGGERS_H
#define PROFBPF_DAEMON_PROFBPFD_SESSION_TRIGGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TRIGGERS_MAX 32
#define TRIGGER_TEXT 160
#define TRIGGER_EVERY_NS 600000000000ull /* default: at most one file in ten minutes */

enum trigger_kind {
	TRIGGER_SIGNAL,
	TRIGGER_NO_LAUNCH,
	TRIGGER_SLOW_STEP,
	TRIGGER_STEPS,
	TRIGGER_DATA_WAIT,
	TRIGGER_METRIC, /* not for sessions: metric_watch.h */
};

struct trigger {
	uint32_t id; /* from 1 on */
	enum trigger_kind kind;
	uint32_t signal; /* 0 = any except HUP, INT, PIPE, TERM */
	uint64_t ns; /* TRIGGER_NO_LAUNCH */
	double factor; /* TRIGGER_SLOW_STEP */
	double limit; /* TRIGGER_DATA_WAIT: percent; TRIGGER_METRIC */
	uint64_t first_step, steps; /* TRIGGER_STEPS */
	bool below; /* TRIGGER_METRIC: fires below the limit; false: above */
	bool of_settings; /* not added by a client */
	char call[TRIGGER_TEXT]; /* the pattern of functions, "" = the default; TRIGGER_METRIC: the metric */
	char what[TRIGGER_TEXT]; /* the original text */
	uint64_t every_ns; /* minimum interval between files */
	uint64_t last_ns; /* the time that is written; 0 = all that is kept */
	uint64_t happened, written; /* numbers of events, of files */
	uint64_t next_ns; /* CLOCK_MONOTONIC: no file is written before this time */
};

struct trigger_event {
	uint32_t trigger;
	uid_t owner; /* user of the session with the event */
	gid_t group;
	pid_t pid; /* 0: no process */
	bool of_all; /* write all sessions to the file */
	uint64_t from_ns; /* CLOCK_MONOTONIC: data from this time on belong to the event; 0 = unknown */
	char text[256]; /* the event: "process 12 was ended by signal 11" */
};

struct triggers;

/* trigger_parse - fills @trigger from the text, other members are 0; returns 0 or -EINVAL with a message in @error */
int trigger_parse(const char *text, struct trigger *trigger, char *error, size_t size);

/* triggers_new - an empty list; NULL without memory or descriptors; triggers_free() accepts NULL */
struct triggers *triggers_new(void);
void triggers_free(struct triggers *triggers);

/* triggers_add - returns the number of the trigger, or 0 if the list is full */
uint32_t triggers_add(struct triggers *triggers, const struct trigger *trigger);

/* triggers_remove - returns false if there is no trigger with this id */
bool triggers_remove(struct triggers *triggers, uint32_t id);

/*
 * triggers_replace - replaces the triggers from the settings
 *
 * Unchanged triggers keep their number and counts; clients' triggers stay. Returns the number of triggers without room.
 */
size_t triggers_replace(struct triggers *triggers, const struct trigger *rows, size_t count);

/* triggers_list - copies all triggers, @rows has room for TRIGGERS_MAX; returns their number */
size_t triggers_list(struct triggers *triggers, struct trigger *rows);

/* triggers_version - a number that changes with each change of the list; 0 if it was always empty */
uint32_t triggers_version(const struct triggers *triggers);

/* triggers_happened - notifies the reader of triggers_fd() */
void triggers_happened(struct triggers *triggers, const struct trigger_event *event);

/* triggers_fd - readable when triggers_next() has events */
int triggers_fd(const struct triggers *triggers);

/*
 * triggers_next - the next event that a file is to be written for
 *
 * Counts it. An event too soon after its trigger's last file is only counted. Returns false if there are no more events
 * (then the descriptor is not readable).
 */
bool triggers_next(struct triggers *triggers, struct trigger_event *event, struct trigger *trigger);

/* triggers_wrote - counts a file that was written for trigger @id */
void triggers_wrote(struct triggers *triggers, uint32_t id);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_TRIGGERS_H */
