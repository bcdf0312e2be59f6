/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triggers.h - at what the flight recorder is to write a snapshot by itself: the list, and what has happened.
 *
 * Written as
 *   signal          a process is ended by a signal, but for those that ask it to end: HUP, INT, PIPE, TERM
 *   signal=N        by this one
 *   no-launch=TIME  a process that launches work, and lives, has not for so long
 *   slow-step=K:NAME  a step takes longer than K times the median of the last ones; each calls NAME, a function's
 *                   symbol or a pattern of it, once
 *   steps=N+M:NAME  the M steps from step N on are over, of which the file then has all: step 0 begins with the first
 *                   call of NAME that is seen of a process; once for each process
 *   data-wait=X%    a thread has spent more than X % of the last 10 seconds fetching data, in calls of
 *                   the functions by which trainers of MindSpore and TensorFlow do, or a process of PyTorch or MegEngine has
 *   data-wait=X%:NAME  the same, in calls of NAME
 *   metric=NAME>X   a metric, called as /metrics calls it, of a process that is recorded, or of the daemon, is above
 *   metric=NAME<X   or below X; of one that only grows (_total), what it grows by in a second
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
#define TRIGGER_EVERY_NS 600000000000ull /* default: a file each ten minutes at most */

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
	uint32_t signal; /* 0 = any but those that ask for the end */
	uint64_t ns; /* TRIGGER_NO_LAUNCH */
	double factor; /* TRIGGER_SLOW_STEP */
	double limit; /* TRIGGER_DATA_WAIT: percent; TRIGGER_METRIC */
	uint64_t first_step, steps; /* TRIGGER_STEPS */
	bool below; /* TRIGGER_METRIC: than the limit; false: above */
	bool of_settings; /* not added by a client */
	char call[TRIGGER_TEXT]; /* the function's pattern, "" = the usual ones; TRIGGER_METRIC: the metric */
	char what[TRIGGER_TEXT]; /* as it was written */
	uint64_t every_ns; /* a file at most */
	uint64_t last_ns; /* so much is written; 0 = all that is kept */
	uint64_t happened, written; /* how often */
	uint64_t next_ns; /* CLOCK_MONOTONIC: before that nothing is written */
};

struct trigger_event {
	uint32_t trigger;
	uid_t owner; /* of the session in which it was */
	gid_t group;
	pid_t pid; /* 0: no process */
	bool of_all; /* all sessions are to be in the file */
	uint64_t from_ns; /* CLOCK_MONOTONIC: so much belongs to it; 0 = not known */
	char text[256]; /* what happened: "process 12 was ended by signal 11" */
};

struct triggers;

/* trigger_parse - fills what the text says, the rest is 0; 0 or -EINVAL with a message in @error */
int trigger_parse(const char *text, struct trigger *trigger, char *error, size_t size);

/* triggers_new - none yet; NULL without memory or descriptors; triggers_free(NULL) is fine */
struct triggers *triggers_new(void);
void triggers_free(struct triggers *triggers);

/* triggers_add - returns its number, or 0 if there is no room for another one */
uint32_t triggers_add(struct triggers *triggers, const struct trigger *trigger);

/* triggers_remove - false if there is none of this number */
bool triggers_remove(struct triggers *triggers, uint32_t id);

/*
 * triggers_replace - those of settings, by these
 *
 * Those that are as they were keep number and counts, those of clients stay. Returns how many had no room.
 */
size_t triggers_replace(struct triggers *triggers, const struct trigger *rows, size_t count);

/* triggers_list - copies of all, @rows has room for TRIGGERS_MAX; returns how many */
size_t triggers_list(struct triggers *triggers, struct trigger *rows);

/* triggers_version - another number after each change of the list; 0 as long as it was always empty */
uint32_t triggers_version(const struct triggers *triggers);

/* triggers_happened - tell whoever reads triggers_fd() */
void triggers_happened(struct triggers *triggers, const struct trigger_event *event);

/* triggers_fd - readable when there is something for triggers_next() */
int triggers_fd(const struct triggers *triggers);

/*
 * triggers_next - what has happened, of what is to be written
 *
 * Counts it. What comes too soon after the last file of its trigger is counted only. Returns false if there is no more
 * (the descriptor is not readable then).
 */
bool triggers_next(struct triggers *triggers, struct trigger_event *event, struct trigger *trigger);

/* triggers_wrote - a file was written for it */
void triggers_wrote(struct triggers *triggers, uint32_t id);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_TRIGGERS_H */
