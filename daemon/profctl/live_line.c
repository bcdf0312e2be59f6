/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/live_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/profctl/message.h"
#include "lib/base/duration.h"
#include "lib/base/size.h"

#define TEXT_SIZE 256

void live_line_begin(struct live_line *line, FILE *to, size_t processes)
{
	*line = (struct live_line){ .processes = processes };
	progress_begin(&line->progress, to);
}

bool live_line_shows(const struct live_line *line)
{
	return line->progress.to != NULL;
}

void live_line_start(struct live_line *line)
{
	char text[TEXT_SIZE];

	if (line->processes)
		snprintf(text, sizeof(text), "attaching to %zu process%s …", line->processes,
			 line->processes == 1 ? "" : "es");
	else
		snprintf(text, sizeof(text), "beginning to trace this machine …");
	progress_show(&line->progress, text);
}

/* How long it goes on: what is left of --duration, which counts from the beginning on, also while a step is waited for. */
static const char *until_text(const Profbpf__Control__SessionInfo *session, const char *what, char *text, size_t size)
{
	char left[32];

	if (!session->duration_ns)
		return "; Ctrl-C ends it";
	duration_format(session->duration_ns > session->age_ns ? session->duration_ns - session->age_ns : 0, left, sizeof(left));
	snprintf(text, size, "; %s in %s", what, left);
	return text;
}

static char *waiting_text(const Profbpf__Control__SessionInfo *session, char *text, size_t size)
{
	char age[32], until[64];

	snprintf(text, size, "waiting for step %" PRIu64 " for %s: %" PRIu64 " have begun%s", session->steps->first,
		 duration_format(session->age_ns, age, sizeof(age)), session->steps->begun,
		 until_text(session, "gives up", until, sizeof(until)));
	return text;
}

/* "recording step 101 of 100 to 104" */
static void steps_text(const Profbpf__Control__Steps *steps, char *text, size_t size)
{
	uint64_t last = steps->first + steps->count - 1, now = steps->begun ? steps->begun - 1 : steps->first;

	snprintf(text, size, "step %" PRIu64 " of %" PRIu64 " to %" PRIu64, now < last ? now : last, steps->first, last);
}

char *live_line_text(struct live_line *line, const Profbpf__Control__SessionInfo *session, char *text,
		     size_t size)
{
	char what[96], whole[32], bytes[32], until[64];
	uint64_t records = 0, lost = 0, since;
	double pace = 0;

	for (size_t i = 0; i < session->n_sources; i++) {
		records += session->sources[i]->delivered;
		for (size_t k = 0; k < session->sources[i]->n_lost; k++)
			lost += session->sources[i]->lost[k]->count;
	}
	since = session->age_ns - line->age_ns;
	if (session->age_ns > line->age_ns && records >= line->records)
		pace = (double)(records - line->records) * 1e9 / (double)since;
	line->age_ns = session->age_ns;
	line->records = records;
	if (session->steps && !session->steps->recording)
		return waiting_text(session, text, size);
	duration_format(session->age_ns, what, sizeof(what));
	if (session->steps)
		steps_text(session->steps, what, sizeof(what));
	else if (session->duration_ns)
		snprintf(what + strlen(what), sizeof(what) - strlen(what), " of %s",
			 duration_format(session->duration_ns, whole, sizeof(whole)));
	snprintf(text, size, "recording %s: %" PRIu64 " records (%.0f/s), %" PRIu64 " lost, %s%s", what, records, pace, lost,
		 size_format(session->bytes, bytes, sizeof(bytes)),
		 session->steps || !session->duration_ns ? until_text(session, "ends at the latest", until, sizeof(until)) : "");
	return text;
}

char *live_line_steps(struct live_line *line, const Profbpf__Control__SessionInfo *session, char *text, size_t size)
{
	const Profbpf__Control__Steps *steps = session->steps;
	char age[32];

	if (!steps)
		return NULL;
	if (steps->recording) {
		if (line->begun_told)
			return NULL;
		line->begun_told = true;
		snprintf(text, size, "step %" PRIu64 " of process %" PRIu32 " has begun: recording up to the end of step %" PRIu64,
			 steps->first, steps->pid, steps->first + steps->count - 1);
		return text;
	}
	if (line->none_told || steps->begun || session->age_ns < STEPS_SILENT_NS)
		return NULL;
	line->none_told = true;
	snprintf(text, size, "no step has begun within %s: %s", duration_format(session->age_ns, age, sizeof(age)),
		 steps->functions ? "the function that begins a step was not called; still waiting" :
				    "no probed function begins a step (choose one with "
				    "--step-call; profctl catalog match --pid PID lists them); "
				    "still waiting");
	return text;
}

void live_line_figures(struct live_line *line, const Profbpf__Control__Sessions *sessions)
{
	char text[TEXT_SIZE];

	line->asked = false;
	for (size_t i = 0; i < sessions->n_session; i++) {
		if (sessions->session[i]->session != line->session)
			continue;
		if (live_line_steps(line, sessions->session[i], text, sizeof(text))) {
			progress_wipe(&line->progress);
			message("%s", text);
		}
		progress_show(&line->progress, live_line_text(line, sessions->session[i], text, sizeof(text)));
	}
}
