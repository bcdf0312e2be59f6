/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/metrics/exposition.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/profbpfd/metrics/process_figures.h"

/* One session as it was at the time of the request. */
struct shown {
	uint32_t id;
	struct session_info info;
	struct process_figures *rows;
	size_t count;
};

struct page {
	FILE *out;
	bool openmetrics;
	struct shown *sessions;
	size_t count;
};

/* ---- lines */

/* OpenMetrics names a counter without _total, which its samples have; the older format knows the latter only. */
static void family(const struct page *page, const char *name, bool counter, const char *help)
{
	const char *end = counter && !page->openmetrics ? "_total" : "";

	fprintf(page->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, end, help, name, end,
		counter ? "counter" : "gauge");
}

/* Other people's bytes: what would end the value is escaped, what is no plain text is "?". */
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

static void process_sample(const struct page *page, const char *name, const struct shown *session,
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
	fputs("} ", page->out);
}

static void seconds(const struct page *page, uint64_t ns)
{
	fprintf(page->out, "%" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000, ns % 1000000000);
}

/* ---- the daemon's own */

static void write_memory(const struct page *page)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	unsigned long pages;

	if (statm && fscanf(statm, "%*u %lu", &pages) == 1) {
		family(page, "profbpfd_resident_memory_bytes", false, "Memory of the daemon that is resident.");
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
	family(page, "profbpfd_build_info", false, "1; which version this is.");
	fprintf(page->out, "profbpfd_build_info{version=\"%s\"} 1\n", PROFBPF_VERSION);
	family(page, "profbpfd_sessions", false, "Sessions that record now, of those you may see.");
	fprintf(page->out, "profbpfd_sessions %zu\n", live);
	if (!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu)) {
		family(page, "profbpfd_cpu_seconds", true, "CPU time of the daemon.");
		fputs("profbpfd_cpu_seconds_total ", page->out);
		seconds(page, (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec);
	}
	write_memory(page);
}

/* ---- sessions */

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
	       "Records that were lost, by source and reason; no series: none.");
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
	       "Part of the dearest CPU's time that a session's programs took in the last second.");
	for (size_t i = 0; i < page->count; i++)
		if (page->sessions[i].info.cost_known)
			fprintf(page->out, "profbpfd_session_program_cpu_ratio{session=\"%" PRIu32 "\"} %g\n",
				page->sessions[i].id, page->sessions[i].info.cost);
}

/* ---- processes */

struct process_metric {
	const char *name, *help;
	size_t offset; /* of an uint64_t in struct process_figures */
	bool seconds; /* it is in nanoseconds */
	bool account; /* known only with the kernel's accounts */
};

#define FIGURE(what) offsetof(struct process_figures, what)

static const struct process_metric METRICS[] = {
	{ "profbpf_process_launches", "Launches of work for a device; no series: none was seen.", FIGURE(launches),
	  false, false },
	{ "profbpf_process_cpu_seconds", "Time on a CPU, of all threads.", FIGURE(run_ns), true, true },
	{ "profbpf_process_runnable_seconds", "Time of waiting for a CPU, of all threads.", FIGURE(runnable_ns), true,
	  true },
	{ "profbpf_process_blocked_seconds", "Time asleep, of all threads, each until it last ran.",
	  FIGURE(blocked_ns), true, true },
	{ "profbpf_process_minor_faults", "Page faults without input.", FIGURE(minor_faults), false, true },
	{ "profbpf_process_major_faults", "Page faults for which a page was fetched.", FIGURE(major_faults), false,
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

static void write_processes(const struct page *page)
{
	for (size_t i = 0; i < sizeof(METRICS) / sizeof(*METRICS); i++)
		write_metric(page, &METRICS[i]);
	family(page, "profbpf_processes_in_other", false,
	       "Processes beyond those that have series of their own: process=other sums them up.");
	for (size_t i = 0; i < page->count; i++) {
		const struct shown *session = &page->sessions[i];
		bool others = session->count && !session->rows[0].pid;

		fprintf(page->out, "profbpf_processes_in_other{session=\"%" PRIu32 "\"} %" PRIu64 "\n", session->id,
			others ? session->rows[0].others : 0);
	}
}

/* ---- the whole */

static bool take_session(struct page *page, const struct roster_entry *entry)
{
	struct shown *session = &page->sessions[page->count];

	session->rows = calloc(FIGURES_ROWS_MAX, sizeof(*session->rows));
	if (!session->rows)
		return false;
	page->count++;
	session->id = entry->id;
	session_info(entry->session, &session->info);
	session->count = session_figures(entry->session, session->rows, FIGURES_ROWS_MAX);
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
		write_processes(&page);
		if (openmetrics)
			fputs("# EOF\n", page.out);
		whole = !ferror(page.out);
		whole = !fclose(page.out) && whole;
	}
	for (size_t i = 0; i < page.count; i++)
		free(page.sessions[i].rows);
	free(page.sessions);
	if (whole)
		return text;
	free(text);
	return NULL;
}
