/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/sessions.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include <libsmartcols/libsmartcols.h>

#include "lib/base/duration.h"
#include "lib/base/size.h"
#include "daemon/profctl/message.h"

#define CELL_MAX 512

enum { SESSION, USER, STATE, AGE, TARGETS, FUNCTIONS, RECORDS, LOST, WRITTEN, OUTPUT, COLUMNS };

static const char *const titles[COLUMNS] = { "SESSION",	  "USER",      "STATE",	  "AGE",
					     "PROCESSES", "FUNCTIONS", "RECORDS", "LOST",
					     "WRITTEN",	  "OUTPUT" };

static const bool right[COLUMNS] = { [SESSION] = true, [AGE] = true,  [FUNCTIONS] = true,
				     [RECORDS] = true, [LOST] = true, [WRITTEN] = true };

static uint64_t lost_of(const Profbpf__Control__SourceSummary *source)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < source->n_lost; i++)
		lost += source->lost[i]->count;
	return lost;
}

static void describe_user(uint32_t uid, char *text, size_t size)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(text, size, "%s", user->pw_name);
	else
		snprintf(text, size, "%u", uid);
}

static void describe_targets(const Profbpf__Control__SessionInfo *s, char *text, size_t size)
{
	size_t used = 0;

	snprintf(text, size, "%s", s->system_wide ? "all" : "");
	for (size_t i = 0; i < s->n_pids && used < size; i++) {
		/* More ids would push the other columns off the screen. */
		if (i == 4) {
			snprintf(text + used, size - used, ",...");
			break;
		}
		used += (size_t)snprintf(text + used, size - used, "%s%u", i ? "," : "",
					 s->pids[i]);
	}
}

/* "live", or of a session that records some steps how far it is. */
static void describe_state(const Profbpf__Control__SessionInfo *s, char *text, size_t size)
{
	const Profbpf__Control__Steps *steps = s->steps;

	if (!steps || strcmp(s->state, "live"))
		printable(s->state, text, size);
	else if (steps->recording)
		snprintf(text, size, "live: steps %" PRIu64 " to %" PRIu64, steps->first, steps->first + steps->count - 1);
	else
		snprintf(text, size, "waiting for step %" PRIu64 ": %" PRIu64 " begun", steps->first, steps->begun);
}

static void set_number(struct libscols_line *line, size_t column, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	scols_line_set_data(line, column, text);
}

static void fill_line(struct libscols_line *line, const Profbpf__Control__SessionInfo *s)
{
	uint64_t records = 0, lost = 0;
	char text[CELL_MAX], age[32];

	for (size_t i = 0; i < s->n_sources; i++) {
		records += s->sources[i]->delivered;
		lost += lost_of(s->sources[i]);
	}
	set_number(line, SESSION, s->session);
	describe_user(s->uid, text, sizeof(text));
	scols_line_set_data(line, USER, text);
	describe_state(s, text, sizeof(text));
	scols_line_set_data(line, STATE, text);
	duration_format(s->age_ns, text, sizeof(text));
	if (s->duration_ns)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " of %s",
			 duration_format(s->duration_ns, age, sizeof(age)));
	scols_line_set_data(line, AGE, text);
	describe_targets(s, text, sizeof(text));
	scols_line_set_data(line, TARGETS, text);
	set_number(line, FUNCTIONS, s->functions);
	set_number(line, RECORDS, records);
	set_number(line, LOST, lost);
	scols_line_set_data(line, WRITTEN, size_format(s->bytes, text, sizeof(text)));
	scols_line_set_data(line, OUTPUT, printable(s->output_name, text, sizeof(text)));
}

int sessions_print(FILE *to, Profbpf__Control__SessionInfo *const *sessions, size_t count)
{
	struct libscols_table *table = scols_new_table();
	int err = table ? 0 : -ENOMEM;

	for (size_t i = 0; i < COLUMNS && !err; i++)
		if (!scols_table_new_column(table, titles[i], 0, right[i] ? SCOLS_FL_RIGHT : 0))
			err = -ENOMEM;
	for (size_t i = 0; i < count && !err; i++) {
		struct libscols_line *line = scols_table_new_line(table, NULL);

		if (line)
			fill_line(line, sessions[i]);
		else
			err = -ENOMEM;
	}
	if (!err) {
		scols_table_set_stream(table, to);
		err = scols_print_table(table) ? -ENOMEM : 0;
	}
	scols_unref_table(table);
	for (size_t i = 0; i < count && !err; i++)
		for (size_t k = 0; k < sessions[i]->n_warnings; k++) {
			char safe[CELL_MAX];

			fprintf(to, "session %u: warning: %s\n", sessions[i]->session,
				printable(sessions[i]->warnings[k], safe, sizeof(safe)));
		}
	return err;
}

void sessions_print_cost(FILE *to, const Profbpf__Control__SessionInfo *s)
{
	char what[64], age[32];

	if (s->cost_known)
		fprintf(to, "  cost %.2f %% of the time of the most loaded CPU\n",
			(double)s->cost_ppm / 1e4);
	for (size_t i = 0; i < s->n_shedding; i++) {
		const Profbpf__Control__Shedding *shed = s->shedding[i];

		printable(shed->what, what, sizeof(what));
		duration_format(shed->age_ns, age, sizeof(age));
		if (shed->kept_permille)
			fprintf(to, "  left out to keep within the budget: %u %% of the %s, for %s so far\n",
				(1000 - shed->kept_permille) / 10, what, age);
		else
			fprintf(to, "  left out to keep within the budget: %s, for %s so far\n", what, age);
	}
}

static void source_json(struct json *json, const Profbpf__Control__SourceSummary *source)
{
	json_object(json, NULL);
	json_text(json, "name", source->name);
	json_number(json, "produced", source->produced);
	json_number(json, "delivered", source->delivered);
	json_number(json, "lost", lost_of(source));
	json_object(json, "lost_by");
	for (size_t i = 0; i < source->n_lost; i++)
		json_number(json, source->lost[i]->reason, source->lost[i]->count);
	json_close_object(json);
	json_close_object(json);
}

static void shedding_json(struct json *json, const Profbpf__Control__SessionInfo *s)
{
	if (s->cost_known)
		json_number(json, "cost_ppm", s->cost_ppm);
	json_array(json, "left_out");
	for (size_t i = 0; i < s->n_shedding; i++) {
		json_object(json, NULL);
		json_text(json, "what", s->shedding[i]->what);
		json_number(json, "kept_permille", s->shedding[i]->kept_permille);
		json_number(json, "age_ns", s->shedding[i]->age_ns);
		json_close_object(json);
	}
	json_close_array(json);
}

static void steps_json(struct json *json, const Profbpf__Control__Steps *steps)
{
	json_object(json, "steps");
	json_number(json, "first", steps->first);
	json_number(json, "count", steps->count);
	json_number(json, "begun", steps->begun);
	if (steps->pid)
		json_number(json, "pid", steps->pid);
	json_bool(json, "recording", steps->recording);
	json_close_object(json);
}

static void session_json(struct json *json, const Profbpf__Control__SessionInfo *s)
{
	json_object(json, NULL);
	json_number(json, "session", s->session);
	json_number(json, "uid", s->uid);
	json_text(json, "state", s->state);
	json_bool(json, "system", s->system_wide);
	json_array(json, "pids");
	for (size_t i = 0; i < s->n_pids; i++)
		json_number(json, NULL, s->pids[i]);
	json_close_array(json);
	if (s->pids_left_out)
		json_number(json, "pids_left_out", s->pids_left_out);
	json_number(json, "age_ns", s->age_ns);
	if (s->duration_ns)
		json_number(json, "duration_ns", s->duration_ns);
	if (s->steps)
		steps_json(json, s->steps);
	json_number(json, "functions", s->functions);
	json_number(json, "files", s->files);
	json_text(json, "method", s->method);
	json_number(json, "bytes", s->bytes);
	shedding_json(json, s);
	json_text(json, "output", s->output_name);
	json_array(json, "sources");
	for (size_t i = 0; i < s->n_sources; i++)
		source_json(json, s->sources[i]);
	json_close_array(json);
	json_texts(json, "warnings", s->warnings, s->n_warnings);
	json_close_object(json);
}

void sessions_json(struct json *json, Profbpf__Control__SessionInfo *const *sessions, size_t count)
{
	json_array(json, "sessions");
	for (size_t i = 0; i < count; i++)
		session_json(json, sessions[i]);
	json_close_array(json);
}
