/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/metrics/exposition.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/profbpfd/metrics/live_figures.h"
#include "daemon/profbpfd/metrics/process_figures.h"

/* A session's state at the time of the request. */
struct shown {
	uint32_t id;
	struct session_info info;
	struct process_figures *rows;
	size_t count;
	struct live_copy *live;
};

struct page {
	FILE *out;
	bool openmetrics;
	struct shown *sessions;
	size_t count;
};

/* ---- Lines */

/* The unit at the end of a family's name; NULL: it counts things. */
static const char *unit_of(const char *name)
{
	static const char *const units[] = { "seconds", "bytes", "ratio" };
	const char *last = strrchr(name, '_');

	for (size_t i = 0; last && i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(last + 1, units[i]))
			return units[i];
	return NULL;
}

/*
 * In OpenMetrics only the samples of a counter have the suffix _total; in the older format its name has it, too. The older
 * format has no units.
 */
static void family(const struct page *page, const char *name, bool counter, const char *help)
{
	const char *end = counter && !page->openmetrics ? "_total" : "";

	fprintf(page->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, end, help, name, end,
		counter ? "counter" : "gauge");
	if (page->openmetrics && unit_of(name))
		fprintf(page->out, "# UNIT %s %s\n", name, unit_of(name));
}

/* The text comes from other processes: escapes characters that would end the value; unprintable bytes become "?". */
static void label(const struct page *page, const char *name, const char *value)
{
	if (!*value)
		return;
	fprintf(page->out, ",%s=\"", name);
	for (; *value; value++) {
		unsigned char c = (unsigned char)*value;

		if (c == '"' || c == '\\')
			fputc('\\', page->out);
		fputc(c < ' ' || c > '~' ? '?' : c, page->out);
	}
	fputc('"', page->out);
}

/* Writes the labels without the closing brace, so that more can follow. */
static void process_labels(const struct page *page, const char *name, const struct shown *session,
			   const struct process_figures *row)
{
	char pid[16] = "";

	if (row->pid)
		snprintf(pid, sizeof(pid), "%" PRIu32, row->pid);
	fprintf(page->out, "%s{session=\"%" PRIu32 "\"", name, session->id);
	label(page, "pid", pid);
	label(page, "process", row->pid ? row->labels.name : "other");
	label(page, "rank", row->labels.rank);
	label(page, "local_rank", row->labels.local_rank);
	label(page, "cgroup", row->labels.cgroup);
	label(page, "container", row->labels.container);
	label(page, "pod", row->labels.pod);
}

static void process_sample(const struct page *page, const char *name, const struct shown *session,
			   const struct process_figures *row)
{
	process_labels(page, name, session, row);
	fputs("} ", page->out);
}

static void seconds(const struct page *page, uint64_t ns)
{
	fprintf(page->out, "%" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000, ns % 1000000000);
}

/* ---- The daemon's own metrics */

static void write_memory(const struct page *page)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	unsigned long pages;

	if (statm && fscanf(statm, "%*u %lu", &pages) == 1) {
		family(page, "profbpfd_resident_memory_bytes", false, "Resident memory of the daemon.");
		fprintf(page->out, "profbpfd_resident_memory_bytes %lu\n",
			pages * (unsigned long)sysconf(_SC_PAGESIZE));
	}
	if (statm)
		fclose(statm);
}

static void write_daemon(const struct page *page)
{
	size_t live = 0;
	struct timespec cpu;

	for (size_t i = 0; i < page->count; i++)
		live += page->sessions[i].info.state == SESSION_LIVE;
	family(page, "profbpfd_build_info", false, "Always 1; the label version is the daemon's version.");
	fprintf(page->out, "profbpfd_build_info{version=\"%s\"} 1\n", PROFBPF_VERSION);
	family(page, "profbpfd_sessions", false, "Sessions that are recording now and that you may see.");
	fprintf(page->out, "profbpfd_sessions %zu\n", live);
	if (!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu)) {
		family(page, "profbpfd_cpu_seconds", true, "CPU time of the daemon.");
		fputs("profbpfd_cpu_seconds_total ", page->out);
		seconds(page, (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec);
	}
	write_memory(page);
}

/* ---- Sessions */

static void write_records(const struct page *page, const char *name, const char *help, bool delivered)
{
	family(page, name, true, help);
	for (size_t i = 0; i < page->count; i++)
		for (size_t k = 0; k < page->sessions[i].info.source_count; k++) {
			const struct session_source *source = &page->sessions[i].info.sources[k];

			fprintf(page->out, "%s_total{session=\"%" PRIu32 "\",source=\"%s\"} %" PRIu64 "\n", name,
				page->sessions[i].id, source->name,
				delivered ? source->delivered : source->produced);
		}
}

static void write_lost(const struct page *page)
{
	family(page, "profbpfd_session_records_lost", true,
	       "Lost records, by source and reason; no series means no loss.");
	for (size_t i = 0; i < page->count; i++)
		for (size_t k = 0; k < page->sessions[i].info.source_count; k++) {
			const struct session_source *source = &page->sessions[i].info.sources[k];

			for (size_t n = 0; n < source->lost_count; n++)
				fprintf(page->out,
					"profbpfd_session_records_lost_total{session=\"%" PRIu32
					"\",source=\"%s\",reason=\"%s\"} %" PRIu64 "\n",
					page->sessions[i].id, source->name, source->lost[n].reason,
					source->lost[n].count);
		}
}

static void write_sessions(const struct page *page)
{
	write_records(page, "profbpfd_session_records_produced", "Records that a session's programs made.", false);
	write_records(page, "profbpfd_session_records_delivered", "Records that reached its output.", true);
	write_lost(page);
	family(page, "profbpfd_session_written_bytes", true, "Bytes that a session wrote.");
	for (size_t i = 0; i < page->count; i++)
		fprintf(page->out, "profbpfd_session_written_bytes_total{session=\"%" PRIu32 "\"} %" PRIu64 "\n",
			page->sessions[i].id, page->sessions[i].info.bytes);
	family(page, "profbpfd_session_program_cpu_ratio", false,
	       "Share of one CPU's time that a session's programs took in the last second, on the "
	       "CPU where it is highest.");
	for (size_t i = 0; i < page->count; i++)
		if (page->sessions[i].info.cost_known)
			fprintf(page->out, "profbpfd_session_program_cpu_ratio{session=\"%" PRIu32 "\"} %g\n",
				page->sessions[i].id, page->sessions[i].info.cost);
}

/* ---- Processes */

struct process_metric {
	const char *name, *help;
	size_t offset; /* offset of an uint64_t in struct process_figures */
	bool seconds; /* convert from nanoseconds to seconds */
	bool account; /* needs the kernel's accounts */
};

#define FIGURE(what) offsetof(struct process_figures, what)

static const struct process_metric METRICS[] = {
	{ "profbpf_process_launches",
	  "Launches of work for a device; no series means that none was recorded.", FIGURE(launches),
	  false, false },
	{ "profbpf_process_cpu_seconds", "Time on a CPU, of all threads.", FIGURE(run_ns), true, true },
	{ "profbpf_process_runnable_seconds", "Time waiting for a CPU, of all threads.", FIGURE(runnable_ns), true,
	  true },
	{ "profbpf_process_blocked_seconds", "Time asleep, of all threads, each up to the last time that it ran.",
	  FIGURE(blocked_ns), true, true },
	{ "profbpf_process_minor_faults", "Minor page faults (without input).", FIGURE(minor_faults), false, true },
	{ "profbpf_process_major_faults", "Major page faults (a page was read).", FIGURE(major_faults), false,
	  true },
};

static void write_metric(const struct page *page, const struct process_metric *metric)
{
	char sample[64];

	snprintf(sample, sizeof(sample), "%s_total", metric->name);
	family(page, metric->name, true, metric->help);
	for (size_t i = 0; i < page->count; i++)
		for (size_t k = 0; k < page->sessions[i].count; k++) {
			const struct process_figures *row = &page->sessions[i].rows[k];
			uint64_t value = *(const uint64_t *)((const char *)row + metric->offset);

			if (metric->account ? !row->has_accounts : !value)
				continue;
			process_sample(page, sample, &page->sessions[i], row);
			if (metric->seconds)
				seconds(page, value);
			else
				fprintf(page->out, "%" PRIu64 "\n", value);
		}
}

static void write_left_out(const struct page *page)
{
	family(page, "profbpfd_session_left_out", true,
	       "Calls, threads, operators, devices and others left out because the tables for "
	       "figures of devices and data pipelines are full: while this grows, these figures "
	       "are too low.");
	for (size_t i = 0; i < page->count; i++)
		fprintf(page->out, "profbpfd_session_left_out_total{session=\"%" PRIu32 "\"} %" PRIu64 "\n",
			page->sessions[i].id, page->sessions[i].live->left_out);
}

static void write_processes(const struct page *page)
{
	for (size_t i = 0; i < sizeof(METRICS) / sizeof(*METRICS); i++)
		write_metric(page, &METRICS[i]);
	family(page, "profbpf_processes_in_other", false,
	       "Processes without series of their own; the series process=other have their sums.");
	for (size_t i = 0; i < page->count; i++) {
		const struct shown *session = &page->sessions[i];
		bool others = session->count && !session->rows[0].pid;

		fprintf(page->out, "profbpf_processes_in_other{session=\"%" PRIu32 "\"} %" PRIu64 "\n", session->id,
			others ? session->rows[0].others : 0);
	}
}

/* ---- Devices and data pipelines of processes */

/* Returns the process' figures; NULL: it has no series of its own, and its devices and operators have none. */
static const struct process_figures *row_of(const struct shown *session, uint32_t pid)
{
	for (size_t i = session->count; i > 0; i--)
		if (pid && session->rows[i - 1].pid == pid)
			return &session->rows[i - 1];
	return NULL;
}

static void write_waits(const struct page *page)
{
	family(page, "profbpf_process_data_wait_seconds", true,
	       "Time that a trainer waited for data; no series means unknown.");
	for (size_t i = 0; i < page->count; i++) {
		const struct shown *session = &page->sessions[i];

		for (size_t k = 0; k < session->live->wait_count; k++) {
			const struct wait_figures *wait = &session->live->waits[k];
			const struct process_figures *row = row_of(session, wait->pid);

			if (!row)
				continue;
			process_sample(page, "profbpf_process_data_wait_seconds_total", session, row);
			seconds(page, wait->wait_ns);
		}
	}
}

static bool device_sample(const struct page *page, const char *name, const struct shown *session,
			  const struct device_figures *device)
{
	const struct process_figures *row = row_of(session, device->pid);
	char id[16];

	if (!row)
		return false;
	snprintf(id, sizeof(id), "%" PRIu32, device->id);
	process_labels(page, name, session, row);
	label(page, "device", id);
	label(page, "device_name", device->name);
	fputs("} ", page->out);
	return true;
}

static void write_devices(const struct page *page)
{
	family(page, "profbpf_device_busy_seconds", true,
	       "Time in which a device ran tasks of a process, as the runtime reports it.");
	for (size_t i = 0; i < page->count; i++)
		for (size_t k = 0; k < page->sessions[i].live->device_count; k++) {
			const struct device_figures *d = &page->sessions[i].live->devices[k];

			if (device_sample(page, "profbpf_device_busy_seconds_total", &page->sessions[i], d))
				seconds(page, d->busy_ns);
		}
	family(page, "profbpf_device_tasks", true, "Tasks of a process that a device ended.");
	for (size_t i = 0; i < page->count; i++)
		for (size_t k = 0; k < page->sessions[i].live->device_count; k++) {
			const struct device_figures *d = &page->sessions[i].live->devices[k];

			if (device_sample(page, "profbpf_device_tasks_total", &page->sessions[i], d))
				fprintf(page->out, "%" PRIu64 "\n", d->tasks);
		}
}

struct operator_metric {
	const char *name, *help;
	size_t offset; /* offset of an uint64_t in struct operator_figures */
	size_t known; /* offset of a bool: was the value ever known? 0: always */
	bool seconds; /* convert from nanoseconds to seconds */
};

#define OPERATOR(what) offsetof(struct operator_figures, what)

static const struct operator_metric OPERATORS[] = {
	{ "profbpf_operator_cpu_seconds", "CPU time of an operator of a data pipeline.", OPERATOR(run_ns), 0,
	  true },
	{ "profbpf_operator_rows", "Rows, elements or tensors that were taken from an operator.", OPERATOR(rows), 0,
	  false },
	{ "profbpf_operator_put_wait_seconds",
	  "Time in which an operator put elements into its queue, including waits for space.",
	  OPERATOR(put_wait_ns), OPERATOR(has_put_wait), true },
	{ "profbpf_operator_get_wait_seconds",
	  "Time in which elements were taken from an operator, including waits for them.", OPERATOR(get_wait_ns),
	  OPERATOR(has_get_wait), true },
};

/* Returns false if its process has no series. */
static bool operator_sample(const struct page *page, const char *name, const struct shown *session,
			    const struct operator_figures *operator)
{
	const struct process_figures *row = row_of(session, operator->pid);
	char number[16] = "", unique[sizeof(operator->name) + 16];

	if (!row)
		return false;
	if (operator->pipeline)
		snprintf(number, sizeof(number), "%" PRIu32, operator->pipeline);
	snprintf(unique, sizeof(unique), "%s", operator->name);
	if (operator->nth > 1)
		snprintf(unique, sizeof(unique), "%s#%" PRIu32, operator->name, operator->nth);
	process_labels(page, name, session, row);
	label(page, "pipeline", number);
	label(page, "operator", unique);
	fputs("} ", page->out);
	return true;
}

static void write_operator_metric(const struct page *page, const struct operator_metric *metric)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_total", metric->name);
	family(page, metric->name, true, metric->help);
	for (size_t i = 0; i < page->count; i++)
		for (size_t k = 0; k < page->sessions[i].live->operator_count; k++) {
			const struct operator_figures *o = &page->sessions[i].live->operators[k];
			uint64_t value = *(const uint64_t *)((const char *)o + metric->offset);

			if ((metric->known && !*(const bool *)((const char *)o + metric->known)) ||
			    !operator_sample(page, name, &page->sessions[i], o))
				continue;
			if (metric->seconds)
				seconds(page, value);
			else
				fprintf(page->out, "%" PRIu64 "\n", value);
		}
}

static void write_operators(const struct page *page)
{
	for (size_t i = 0; i < sizeof(OPERATORS) / sizeof(*OPERATORS); i++)
		write_operator_metric(page, &OPERATORS[i]);
	family(page, "profbpf_operator_queue_filled_ratio", false,
	       "Mean fill of an operator's queue in the last second, 1 is full; no series means unknown.");
	for (size_t i = 0; i < page->count; i++)
		for (size_t k = 0; k < page->sessions[i].live->operator_count; k++) {
			const struct operator_figures *o = &page->sessions[i].live->operators[k];

			if (o->has_filled &&
			    operator_sample(page, "profbpf_operator_queue_filled_ratio", &page->sessions[i], o))
				fprintf(page->out, "%g\n", o->filled);
		}
}

/* ---- The page */

static bool take_session(struct page *page, const struct roster_entry *entry)
{
	struct shown *session = &page->sessions[page->count];

	session->rows = calloc(FIGURES_ROWS_MAX, sizeof(*session->rows));
	session->live = calloc(1, sizeof(*session->live));
	page->count++;
	if (!session->rows || !session->live)
		return false;
	session->id = entry->id;
	session_info(entry->session, &session->info);
	session->count = session_figures(entry->session, session->rows, FIGURES_ROWS_MAX);
	session_live_figures(entry->session, session->live);
	return true;
}

static bool take_sessions(struct page *page, const struct roster *roster, const struct peer *peer)
{
	page->sessions = calloc(roster_count(roster) + 1, sizeof(*page->sessions));
	if (!page->sessions)
		return false;
	for (const struct roster_entry *e = roster->first; e; e = e->next)
		if (!e->ended && access_session(peer, e->owner) && !take_session(page, e))
			return false;
	return true;
}

char *exposition_write(const struct roster *roster, const struct peer *peer, bool openmetrics, size_t *size)
{
	struct page page = { .openmetrics = openmetrics };
	char *text = NULL;
	bool whole = take_sessions(&page, roster, peer) && (page.out = open_memstream(&text, size));

	if (whole) {
		write_daemon(&page);
		write_sessions(&page);
		write_left_out(&page);
		write_processes(&page);
		write_waits(&page);
		write_devices(&page);
		write_operators(&page);
		if (openmetrics)
			fputs("# EOF\n", page.out);
		whole = !ferror(page.out);
		whole = !fclose(page.out) && whole;
	}
	for (size_t i = 0; i < page.count; i++) {
		free(page.sessions[i].rows);
		free(page.sessions[i].live);
	}
	free(page.sessions);
	if (whole)
		return text;
	free(text);
	return NULL;
}
