/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_line.h - the line that a terminal shows while a session runs: time, records, losses.
 *
 * "recording 12.0 s of 30 s: 1234567 records (45300/s), 0 lost, 3.2 MiB". The figures are those of
 * profctl list, asked for once a second. Not with a command: the terminal is its own. Of a session that records some steps:
 * "waiting for step 100 for 12.0 s: 5 have begun", then "recording step 101 of 100 to 104: ...".
 */
#ifndef PROFBPF_DAEMON_PROFCTL_LIVE_LINE_H
#define PROFBPF_DAEMON_PROFCTL_LIVE_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/base/progress.h"
#include "proto/control.pb-c.h"

#define LIVE_LINE_MS 1000

struct live_line {
	struct progress progress;
	size_t processes; /* that were asked for; 0 = the whole machine */
	uint32_t session; /* 0 = not live yet */
	uint64_t age_ns; /* when the figures were told last, with the records then */
	uint64_t records;
	bool asked; /* and not answered yet */
	bool none_told, begun_told; /* of a session that records some steps: live_line_steps() */
};

/* live_line_begin - shows nothing if @to is no terminal */
void live_line_begin(struct live_line *line, FILE *to, size_t processes);

/* Is there anybody to show it to? */
bool live_line_shows(const struct live_line *line);

/* live_line_start - before the session is live there are no figures: say that it begins, and since when */
void live_line_start(struct live_line *line);

/*
 * live_line_steps - of a session that records some steps: what is to be said now, each once
 *
 * That the first one has begun, or why none has, after STEPS_SILENT_NS. Returns a message in @text, or NULL.
 */
#define STEPS_SILENT_NS 10000000000ull
char *live_line_steps(struct live_line *line, const Profbpf__Control__SessionInfo *session, char *text, size_t size);

/* live_line_figures - takes the daemon's figures of its sessions; other sessions are ignored */
void live_line_figures(struct live_line *line, const Profbpf__Control__Sessions *sessions);

/* live_line_text - writes the line of one session to @text and returns it. For tests. */
char *live_line_text(struct live_line *line, const Profbpf__Control__SessionInfo *session, char *text,
		     size_t size);

#endif /* PROFBPF_DAEMON_PROFCTL_LIVE_LINE_H */
