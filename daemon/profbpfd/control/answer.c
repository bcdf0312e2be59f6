/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "proto/control.pb-c.h"

#define FEATURES_MAX 32
#define LISTED_PIDS_MAX 1024 /* per session, so that the list of all sessions fits into a message */

/* The messages of a session's sources, with the arrays of pointers for protobuf-c. */
struct source_messages {
	Profbpf__Control__SourceSummary source[SESSION_SOURCES_MAX];
	Profbpf__Control__SourceSummary *sources[SESSION_SOURCES_MAX];
	Profbpf__Control__LostSummary lost[SESSION_SOURCES_MAX][SESSION_LOSSES_MAX];
	Profbpf__Control__LostSummary *losts[SESSION_SOURCES_MAX][SESSION_LOSSES_MAX];
};

/* One session in a list. */
struct session_message {
	Profbpf__Control__SessionInfo message;
	struct source_messages sources;
	struct session_info info;
	Profbpf__Control__Steps steps;
	char **warnings; /* only the array is owned */
	Profbpf__Control__Shedding shed[SHED_WHATS];
	Profbpf__Control__Shedding *sheds[SHED_WHATS];
};

struct session_messages {
	struct session_message *session;
	Profbpf__Control__SessionInfo **pointers;
	size_t count;
};

static uint64_t monotonic_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void fill_sources(struct source_messages *m, const struct session_info *info)
{
	for (size_t i = 0; i < info->source_count; i++) {
		const struct session_source *from = &info->sources[i];
		Profbpf__Control__SourceSummary *to = &m->source[i];

		profbpf__control__source_summary__init(to);
		to->name = (char *)from->name;
		to->produced = from->produced;
		to->delivered = from->delivered;
		to->n_lost = from->lost_count;
		to->lost = m->losts[i];
		for (size_t k = 0; k < from->lost_count; k++) {
			Profbpf__Control__LostSummary *lost = &m->lost[i][k];

			profbpf__control__lost_summary__init(lost);
			lost->reason = (char *)from->lost[k].reason;
			lost->count = from->lost[k].count;
			m->losts[i][k] = lost;
		}
		m->sources[i] = to;
	}
}

/* Returns the daemon's and the session's warnings in one array; NULL without memory. */
static char **join_warnings(const struct roster_entry *entry, const struct session_info *info)
{
	size_t own = entry->warnings.count;
	char **all = calloc(own + info->warning_count + 1, sizeof(*all));

	if (!all)
		return NULL;
	if (own)
		memcpy(all, entry->warnings.word, own * sizeof(*all));
	if (info->warning_count)
		memcpy(all + own, info->warnings, info->warning_count * sizeof(*all));
	return all;
}

void answer_started(struct client *client, uint32_t request, const struct roster_entry *entry,
		    const struct session_info *info)
{
	Profbpf__Control__Response response = PROFBPF__CONTROL__RESPONSE__INIT;
	Profbpf__Control__Started started = PROFBPF__CONTROL__STARTED__INIT;
	char **warnings = join_warnings(entry, info);

	started.session = info->id;
	started.functions = info->functions;
	started.files = info->files;
	started.method = (char *)(info->method ? info->method : "none");
	started.warnings = warnings;
	started.n_warnings = warnings ? entry->warnings.count + info->warning_count : 0;
	response.id = request;
	response.what_case = PROFBPF__CONTROL__RESPONSE__WHAT_STARTED;
	response.started = &started;
	client_send(client, &response.base);
	free(warnings);
}

void answer_checked(struct client *client, uint32_t request)
{
	Profbpf__Control__Response response = PROFBPF__CONTROL__RESPONSE__INIT;
	Profbpf__Control__Started started = PROFBPF__CONTROL__STARTED__INIT;

	response.id = request;
	response.what_case = PROFBPF__CONTROL__RESPONSE__WHAT_STARTED;
	response.started = &started;
	client_send(client, &response.base);
}

/* Returns NULL if the session does not count steps. */
static Profbpf__Control__Steps *fill_steps(Profbpf__Control__Steps *to, const struct session_info *info)
{
	const struct step_gate_facts *from = &info->steps;

	if (!info->by_steps)
		return NULL;
	profbpf__control__steps__init(to);
	to->first = info->first_step;
	to->count = info->wanted_steps;
	to->begun = from->steps;
	to->pid = from->tgid;
	to->functions = from->functions;
	to->recording = from->state != STEPS_AWAITED;
	if (from->from_ns > info->start_ns)
		to->from_ns = from->from_ns - info->start_ns;
	if (from->to_ns > info->start_ns)
		to->to_ns = from->to_ns - info->start_ns;
	return to;
}

void answer_ended(struct client *client, uint32_t request, const struct session_info *info,
		  size_t told)
{
	Profbpf__Control__Response response = PROFBPF__CONTROL__RESPONSE__INIT;
	Profbpf__Control__Ended ended = PROFBPF__CONTROL__ENDED__INIT;
	struct source_messages sources;
	Profbpf__Control__Steps steps;

	fill_sources(&sources, info);
	ended.session = info->id;
	ended.steps = fill_steps(&steps, info);
	if (info->start_ns && info->end_ns > info->start_ns)
		ended.duration_ns = info->end_ns - info->start_ns;
	ended.reason = (char *)info->reason;
	ended.failed = info->failed;
	ended.bytes = info->bytes;
	ended.n_sources = info->source_count;
	ended.sources = sources.sources;
	if (told < info->warning_count) {
		ended.n_warnings = info->warning_count - told;
		ended.warnings = info->warnings + told;
	}
	response.id = request;
	response.what_case = PROFBPF__CONTROL__RESPONSE__WHAT_ENDED;
	response.ended = &ended;
	client_send(client, &response.base);
}

static const char *state_name(enum session_state state)
{
	switch (state) {
	case SESSION_STARTING: return "starting";
	case SESSION_LIVE: return "live";
	default: return "ending";
	}
}

static void fill_shedding(struct session_message *m, uint64_t now_ns)
{
	static const char *const names[SHED_WHATS] = {
		[SHED_SAMPLES] = "samples",
		[SHED_WAKES] = "wake-ups",
		[SHED_SLEEPS] = "stacks of sleeps",
	};
	Profbpf__Control__SessionInfo *to = &m->message;

	to->shedding = m->sheds;
	to->cost_known = m->info.cost_known;
	to->cost_ppm = (uint32_t)(m->info.cost * 1e6);
	for (int what = 0; what < SHED_WHATS; what++) {
		const struct session_shedding *from = &m->info.shedding[what];
		Profbpf__Control__Shedding *shed = &m->shed[to->n_shedding];

		if (!from->since_ns || from->kept_permille == 1000)
			continue;
		profbpf__control__shedding__init(shed);
		shed->what = (char *)names[what];
		shed->kept_permille = from->kept_permille;
		shed->age_ns = now_ns - from->since_ns;
		m->sheds[to->n_shedding++] = shed;
	}
}

static void fill_session(struct session_message *m, const struct roster_entry *entry)
{
	Profbpf__Control__SessionInfo *to = &m->message;

	session_info(entry->session, &m->info);
	fill_sources(&m->sources, &m->info);
	m->warnings = join_warnings(entry, &m->info);
	profbpf__control__session_info__init(to);
	to->session = entry->id;
	to->uid = entry->owner;
	to->n_pids = entry->pid_count < LISTED_PIDS_MAX ? entry->pid_count : LISTED_PIDS_MAX;
	to->pids_left_out = entry->pid_count - to->n_pids;
	to->pids = entry->pids;
	if (m->info.start_ns)
		to->age_ns = (m->info.end_ns ? m->info.end_ns : monotonic_now()) - m->info.start_ns;
	to->duration_ns = entry->duration_ns;
	to->functions = m->info.functions;
	to->files = m->info.files;
	to->bytes = m->info.bytes;
	to->n_sources = m->info.source_count;
	to->sources = m->sources.sources;
	to->state = (char *)state_name(m->info.state);
	to->method = (char *)(m->info.method ? m->info.method : "none");
	to->system_wide = entry->system_wide;
	to->output_name = entry->output_name;
	to->warnings = m->warnings;
	to->n_warnings = m->warnings ? entry->warnings.count + m->info.warning_count : 0;
	to->steps = fill_steps(&m->steps, &m->info);
	fill_shedding(m, monotonic_now());
}

static void free_sessions(struct session_messages *all)
{
	for (size_t i = 0; i < all->count; i++)
		free(all->session[i].warnings);
	free(all->session);
	free(all->pointers);
}

/* Adds the sessions that @peer may see. */
static bool fill_sessions(struct session_messages *all, const struct roster *roster,
			  const struct peer *peer)
{
	size_t room = roster_count(roster) + 1;

	all->count = 0;
	all->session = calloc(room, sizeof(*all->session));
	all->pointers = calloc(room, sizeof(*all->pointers));
	if (!all->session || !all->pointers) {
		free_sessions(all);
		return false;
	}
	for (const struct roster_entry *e = roster->first; e; e = e->next) {
		if (e->ended || !access_session(peer, e->owner))
			continue;
		fill_session(&all->session[all->count], e);
		all->pointers[all->count] = &all->session[all->count].message;
		all->count++;
	}
	return true;
}

void answer_sessions(struct client *client, uint32_t request, const struct roster *roster)
{
	Profbpf__Control__Response response = PROFBPF__CONTROL__RESPONSE__INIT;
	Profbpf__Control__Sessions sessions = PROFBPF__CONTROL__SESSIONS__INIT;
	struct session_messages all;

	if (!fill_sessions(&all, roster, &client->peer)) {
		client_refuse(client, request, "profbpfd is out of memory");
		return;
	}
	sessions.n_session = all.count;
	sessions.session = all.pointers;
	response.id = request;
	response.what_case = PROFBPF__CONTROL__RESPONSE__WHAT_SESSIONS;
	response.sessions = &sessions;
	client_send(client, &response.base);
	free_sessions(&all);
}

static uint64_t own_cpu_ns(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		return 0;
	return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000 +
	       ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000;
}

static uint64_t own_rss_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long size, resident = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%lu %lu", &size, &resident) != 2)
		resident = 0;
	fclose(f);
	return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static size_t fill_features(const struct features *features, Profbpf__Control__Feature *feature,
			    Profbpf__Control__Feature **pointers)
{
	const char *name, *detail;
	size_t count = 0;
	bool available;

	while (count < FEATURES_MAX &&
	       features_describe(features, count, &name, &available, &detail)) {
		profbpf__control__feature__init(&feature[count]);
		feature[count].name = (char *)name;
		feature[count].available = available;
		feature[count].detail = (char *)detail;
		pointers[count] = &feature[count];
		count++;
	}
	return count;
}

static void fill_daemon(Profbpf__Control__DaemonStatus *status, const struct status_facts *facts,
			const struct utsname *system)
{
	status->version = (char *)PROFBPF_VERSION;
	status->pid = (uint32_t)getpid();
	status->uid = geteuid();
	status->private_daemon = facts->private_daemon;
	status->kernel = (char *)system->release;
	status->probe_method = (char *)probe_method_name(facts->features->method);
	status->optimized_nop = facts->features->optimized_nop;
	if (facts->obstacles->count)
		status->obstacle = facts->obstacles->word[0];
	status->n_obstacles = facts->obstacles->count;
	status->obstacles = facts->obstacles->word;
	status->n_limits = facts->limits->count;
	status->limits = facts->limits->word;
	status->n_catalogs = facts->catalogs->count;
	status->catalogs = facts->catalogs->word;
	status->n_catalog_errors = facts->catalog_errors->count;
	status->catalog_errors = facts->catalog_errors->word;
	status->cpu_ns = own_cpu_ns();
	status->rss_bytes = own_rss_bytes();
	status->age_ns = monotonic_now() - facts->start_ns;
}

static size_t fill_prices(const struct probe_costs *costs, Profbpf__Control__ProbePrice *price,
			  Profbpf__Control__ProbePrice **prices)
{
	size_t count = 0;

	for (int i = 0; i < INSTRUCTION_CLASSES; i++) {
		if (!costs->by_class[i].whole_ns)
			continue;
		profbpf__control__probe_price__init(&price[count]);
		price[count].instruction = (char *)instruction_class_name(i);
		price[count].whole_ns = costs->by_class[i].whole_ns;
		prices[count] = &price[count];
		count++;
	}
	return count;
}

void answer_status(struct client *client, uint32_t request, const struct roster *roster,
		   const struct status_facts *facts)
{
	Profbpf__Control__Response response = PROFBPF__CONTROL__RESPONSE__INIT;
	Profbpf__Control__DaemonStatus status = PROFBPF__CONTROL__DAEMON_STATUS__INIT;
	Profbpf__Control__Feature feature[FEATURES_MAX], *features[FEATURES_MAX];
	Profbpf__Control__ProbePrice price[INSTRUCTION_CLASSES], *prices[INSTRUCTION_CLASSES];
	struct session_messages all;
	struct utsname system;

	if (uname(&system) || !fill_sessions(&all, roster, &client->peer)) {
		client_refuse(client, request, "profbpfd is out of memory");
		return;
	}
	fill_daemon(&status, facts, &system);
	status.n_features = fill_features(facts->features, feature, features);
	status.features = features;
	status.probe_cost_ns = roster->probe_costs.by_class[INSTRUCTION_EMULATED].inside_ns;
	status.n_probe_prices = fill_prices(&roster->probe_costs, price, prices);
	status.probe_prices = prices;
	status.sessions = (uint32_t)roster_count_running(roster);
	status.n_session = all.count;
	status.session = all.pointers;
	response.id = request;
	response.what_case = PROFBPF__CONTROL__RESPONSE__WHAT_STATUS;
	response.status = &status;
	client_send(client, &response.base);
	free_sessions(&all);
}
