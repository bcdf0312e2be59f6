/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/reload.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/profbpfd/control/trigger_files.h"

void reload_report_free(struct reload_report *report)
{
	words_free(&report->changed);
	words_free(&report->kept);
}

static void say_names(const char *what, const struct words *names)
{
	if (!names->count)
		return;
	fprintf(stderr, "profbpfd: %s:", what);
	for (size_t i = 0; i < names->count; i++)
		fprintf(stderr, " %s", names->word[i]);
	fputc('\n', stderr);
}

void reload_report_print(const struct reload_report *report)
{
	fputs("profbpfd: settings were read again\n", stderr);
	say_names("changed", &report->changed);
	say_names("needs a restart", &report->kept);
}

/* ---- Changes */

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool same_list(const char *const *a, size_t a_count, const char *const *b, size_t b_count)
{
	if (a_count != b_count)
		return false;
	for (size_t i = 0; i < a_count; i++)
		if (strcmp(a[i], b[i]))
			return false;
	return true;
}

static bool same_triggers(const struct flight_recorder_options *a, const struct flight_recorder_options *b)
{
	if (a->trigger_count != b->trigger_count)
		return false;
	for (size_t i = 0; i < a->trigger_count; i++)
		if (strcmp(a->triggers[i].what, b->triggers[i].what))
			return false;
	return true;
}

static int note(struct words *words, bool same, const char *name)
{
	return same ? 0 : words_add(words, name);
}

static int note_quotas(const struct quotas *a, const struct quotas *b, struct words *changed)
{
	return note(changed, a->sessions == b->sessions, "user-sessions") ||
	       note(changed, a->memory_bytes == b->memory_bytes, "user-memory") ||
	       note(changed, a->processes == b->processes, "user-processes") ||
	       note(changed, a->functions == b->functions, "user-functions") ||
	       note(changed, a->catalog_bytes == b->catalog_bytes, "user-catalog");
}

static int note_recorder(const struct server_options *now, const struct server_options *fresh, bool turned_off,
			 struct reload_report *report)
{
	const struct flight_recorder_options *a = &now->recorder, *b = &fresh->recorder;
	struct words *changed = turned_off ? &report->kept : &report->changed;

	return note(changed, a->window_ns == b->window_ns, "recorder") ||
	       note(changed, a->memory_bytes == b->memory_bytes, "recorder-memory") ||
	       note(changed, same_list(now->recorded, now->recorded_count, fresh->recorded, fresh->recorded_count),
		    "recorder-for") ||
	       note(changed, same_triggers(a, b), "trigger") ||
	       note(changed, same_text(a->directory, b->directory), "trigger-directory") ||
	       note(changed, a->space_bytes == b->space_bytes, "trigger-space");
}

static int note_kept(const struct server_options *first, const struct server_options *fresh, struct words *kept)
{
	return note(kept, same_text(first->socket, fresh->socket), "socket") ||
	       note(kept,
		    same_list(first->catalog_directories, first->catalog_directory_count, fresh->catalog_directories,
			      fresh->catalog_directory_count),
		    "catalog") ||
	       note(kept, same_text(first->btf, fresh->btf), "btf") ||
	       note(kept, same_list(first->metrics, first->metrics_count, fresh->metrics, fresh->metrics_count), "metrics");
}

/* ---- Applying the settings */

static int take_recorder(struct services *services, const struct flight_recorder_options *options)
{
	size_t without_room;

	if (trigger_files_reload(services->trigger_files, options->directory, options->space_bytes))
		return -ENOMEM;
	flight_recorder_reload(services->recorder, options);
	without_room = triggers_replace(services->triggers, options->triggers, options->trigger_count);
	if (without_room)
		fprintf(stderr, "profbpfd: %zu triggers were left out: the limit is %d\n",
			without_room, TRIGGERS_MAX);
	return 0;
}

int reload_apply(struct services *services, struct settings_in_force *settings, const struct server_options *fresh,
		 struct reload_report *report)
{
	bool turned_off = services->recorder && !fresh->recorder.window_ns;
	const struct server_options *last = settings->last, *recorder = settings->recorder;

	if (services->recorder && !turned_off && take_recorder(services, &fresh->recorder))
		return -ENOMEM;
	services->quotas = fresh->quotas;
	settings->last = fresh;
	if (!turned_off)
		settings->recorder = fresh;
	if (note_quotas(&last->quotas, &fresh->quotas, &report->changed) ||
	    note_recorder(recorder, fresh, turned_off, report) || note_kept(settings->first, fresh, &report->kept))
		fputs("profbpfd: settings have changed; out of memory while listing them\n", stderr);
	return 0;
}

/* ---- The request */

static void answer(struct client *client, uint32_t id, const struct reload_report *report)
{
	Profbpf__Control__Response response = PROFBPF__CONTROL__RESPONSE__INIT;
	Profbpf__Control__Reloaded message = PROFBPF__CONTROL__RELOADED__INIT;

	message.changed = report->changed.word;
	message.n_changed = report->changed.count;
	message.kept = report->kept.word;
	message.n_kept = report->kept.count;
	response.id = id;
	response.what_case = PROFBPF__CONTROL__RESPONSE__WHAT_RELOADED;
	response.reloaded = &message;
	client_send(client, &response.base);
}

void reload_request(struct services *services, struct client *client, uint32_t id)
{
	struct reload_report report = { 0 };
	char error[1024];

	if (!client->peer.trusted)
		client_refuse(client, id, "only root and members of the group " ACCESS_GROUP " may "
											     "reload "
											     "the "
											     "settings");
	else if (!services->reload)
		client_refuse(client, id, "this profbpfd is a private one, without settings that could be reloaded");
	else if (services->reload(services->reload_context, &report, error, sizeof(error)))
		client_refuse(client, id, error);
	else
		answer(client, id, &report);
	reload_report_free(&report);
}
