/* SPDX-License-Identifier: Apache-2.0 */
/* What was recorded, and whether it can be trusted. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/view/report_parts.h"
#include "analyzer/view/render/table.h"

#define LINE_SIZE 4096

/* A line "label   text", cut to the width of the terminal. */
static void line(FILE *out, const struct report_options *options, const char *label,
		 const char *text)
{
	char clean[LINE_SIZE];
	size_t size = sizeof(clean), room = options->width > 14 ? options->width - 14 : 0;

	if (options->width && room + 1 < size)
		size = room + 1;
	fprintf(out, "%-12s  %s\n", label, printable(text, clean, size));
}

static const char *known(const struct model *model, uint32_t id)
{
	const char *text = model_text(model, id);

	return *text ? text : "unknown";
}

static void print_host(FILE *out, const struct model *model, const struct report_options *options)
{
	const struct trace_info *info = &model->info;
	char text[512];

	if (!info->cpus)
		snprintf(text, sizeof(text), "unknown: the file's header could not be read");
	else
		snprintf(text, sizeof(text), "%s, Linux %s %s, %u CPUs",
			 known(model, info->hostname), known(model, info->kernel),
			 known(model, info->arch), info->cpus);
	line(out, options, "host", text);
}

static void print_times(FILE *out, const struct model *model, const struct results *results,
			const struct report_options *options)
{
	const struct trace_info *info = &model->info;
	time_t seconds = (time_t)(info->start_realtime_ns / 1000000000);
	char when[64] = "unknown date", text[256];
	struct tm utc;

	if (info->start_realtime_ns && gmtime_r(&seconds, &utc))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &utc);
	snprintf(text, sizeof(text), "%.3f s from %s",
		 (double)(info->session_end_ns - info->session_start_ns) / 1e9, when);
	line(out, options, "recorded", text);
	/* Of a session without a known instant there is no part. */
	if (info->session_end_ns <= info->session_start_ns ||
	    (results->from_ns == info->session_start_ns && results->to_ns == info->session_end_ns))
		return;
	snprintf(text, sizeof(text),
		 "only what happened from %.6f s to %.6f s after the start is shown below",
		 ((double)results->from_ns - (double)info->session_start_ns) / 1e9,
		 ((double)results->to_ns - (double)info->session_start_ns) / 1e9);
	line(out, options, "part", text);
}

static const struct process *find_process(const struct model *model, uint32_t pid)
{
	for (uint32_t i = 0; i < model->processes.count; i++) {
		if (model->processes.row[i].pid == pid)
			return &model->processes.row[i];
	}
	return NULL;
}

static void print_targets(FILE *out, const struct model *model,
			  const struct report_options *options)
{
	const struct trace_info *info = &model->info;
	uint32_t shown = rows_shown(options, info->target_count);
	char text[LINE_SIZE];

	if (info->system_wide)
		line(out, options, "targets", "the whole machine");
	for (uint32_t i = 0; i < shown; i++) {
		const struct process *process = find_process(model, info->targets[i]);
		const char *cmdline = process ? model_text(model, process->cmdline) : "";
		const char *name = process ? model_text(model, process->name) : "";

		snprintf(text, sizeof(text), "%u %s%s%s", info->targets[i],
			 *name ? name : "(nothing is known of it)", *cmdline ? ": " : "", cmdline);
		line(out, options, i == 0 && !info->system_wide ? "targets" : "", text);
	}
	text_more(out, "targets", info->target_count, shown);
	if (info->follow && !info->system_wide)
		line(out, options, "", "and the processes they start");
}

static void print_recorder(FILE *out, const struct model *model,
			   const struct report_options *options)
{
	const struct trace_info *info = &model->info;
	char text[512];

	snprintf(text, sizeof(text), "%s, topics: %s", known(model, info->producer),
		 known(model, info->topics));
	line(out, options, "recorder", text);
	if (info->daemon_cpu_ns) {
		snprintf(text, sizeof(text), "the recorder used %.1f ms of CPU time",
			 (double)info->daemon_cpu_ns / 1e6);
		line(out, options, "cost", text);
	}
}

static void print_probe_cost(FILE *out, const struct model *model,
			     const struct probe_cost_results *cost,
			     const struct report_options *options)
{
	const struct trace_info *info = &model->info;
	const char *label = info->daemon_cpu_ns ? "" : "cost";
	char text[LINE_SIZE];

	if (!cost || !cost->known)
		return;
	for (uint32_t i = 0; i < info->probe_cost_count; i++) {
		const struct probe_cost *row = &info->probe_costs[i];

		snprintf(text, sizeof(text),
			 "a probe (instruction: %s): %u ns of the recorded duration, %u ns of the "
			 "caller's time",
			 row->instruction ? model_text(model, row->instruction) : "any",
			 row->inside_ns, row->whole_ns);
		line(out, options, label, text);
		label = "";
	}
	if (!cost->calls)
		return;
	snprintf(text, sizeof(text), "the probes of %" PRIu64 " calls took at least about %.3f ms; %s",
		 cost->calls, (double)cost->total_ns / 1e6,
		 cost->subtracted ? "the calls' durations are without it"
				  : "it is in the calls' durations (see --subtract-probe-cost)");
	line(out, options, label, text);
}

bool text_nothing_recorded(FILE *out, const struct model *model)
{
	if (model->files.count || !model->imports.count)
		return false;
	fputs("nothing was recorded: all that is shown is from device files\n", out);
	return true;
}

int text_trace(FILE *out, const struct model *model, const struct results *results,
	       const struct report_options *options)
{
	print_heading(out, options, "Trace");
	if (text_nothing_recorded(out, model))
		return 0;
	for (uint32_t i = 0; i < model->files.count; i++)
		line(out, options, i ? "" : "file", model_text(model, model->files.row[i]));
	print_host(out, model, options);
	print_times(out, model, results, options);
	print_targets(out, model, options);
	print_recorder(out, model, options);
	print_probe_cost(out, model, results->probe_cost, options);
	return 0;
}

char *text_damage(const struct model *model, char *into, size_t size)
{
	const struct pbt_damage *damage = &model->damage;
	int used = 0;

	into[0] = '\0';
	if (damage->first_reason[0])
		used = snprintf(into, size, "byte %" PRIu64 ": %s; ", damage->first_offset,
				damage->first_reason);
	if (used < 0 || (size_t)used >= size)
		return into;
	if (damage->packets_skipped || damage->bytes_skipped || damage->torn_tail)
		used += snprintf(into + used, size - (size_t)used,
				 "%" PRIu64 " batches and %" PRIu64 " bytes skipped%s",
				 damage->packets_skipped, damage->bytes_skipped,
				 damage->torn_tail ? "; the file ends in the middle of a batch"
						   : "");
	if (model->bad_rows && used >= 0 && (size_t)used < size)
		snprintf(into + used, size - (size_t)used,
			 "%s%" PRIu64 " rows made no sense and were left out", used ? "; " : "",
			 model->bad_rows);
	return into;
}

char *text_losses(const struct model *model, const struct capture_results *capture, char *into,
		  size_t size)
{
	if (capture->complete && capture->left_out_count)
		snprintf(into, size,
			 "complete, but for what --budget left out for some time (--section capture)");
	else if (capture->complete)
		snprintf(into, size, "complete: nothing was lost");
	else if (capture->lost)
		snprintf(into, size,
			 "INCOMPLETE: %" PRIu64
			 " records were lost while recording (--section capture)",
			 capture->lost);
	else if (capture->missing)
		snprintf(into, size,
			 "INCOMPLETE: %" PRIu64
			 " records are not in the file (--section capture)",
			 capture->missing);
	else
		snprintf(into, size, "INCOMPLETE: %s (--section capture)",
			 !model->info.ended ? "the recording did not end properly"
			 : capture->damaged ? "a part of the file cannot be read"
					    : "the books of its records do not add up");
	return into;
}

static void print_verdict(FILE *out, const struct model *model,
			  const struct capture_results *capture)
{
	const struct trace_info *info = &model->info;
	char damage[512];

	if (capture->complete)
		fprintf(out, "complete: nothing was lost; the recording ended: %s\n",
			known(model, info->end_reason));
	else
		fputs("INCOMPLETE: figures below are of what was read\n", out);
	if (capture->lost)
		fprintf(out, "  %" PRIu64 " records were lost while recording, see the table\n",
			capture->lost);
	if (capture->missing)
		fprintf(out,
			"  %" PRIu64 " records that the recorder wrote are not in %s read here\n",
			capture->missing, model->files.count == 1 ? "the file" : "the files");
	for (uint32_t i = 0; i < capture->source_count; i++) {
		if (!capture->sources[i].adds_up)
			fprintf(out, "  source %s: produced is not delivered + lost\n",
				model_text(model,
					   model->sources.row[capture->sources[i].source].name));
	}
	if (capture->damaged)
		fprintf(out, "  damage: %s\n", text_damage(model, damage, sizeof(damage)));
	if (model->unknown_values || model->unknown_batches)
		fprintf(out,
			"  written by a later profbpf: %" PRIu64 " values and %" PRIu64
			" batches are unknown to this analyzer; use a later one\n",
			model->unknown_values, model->unknown_batches);
	if (!info->ended)
		fprintf(out,
			"  the recording did not end properly: the file has no final statistics; "
			"readable to %.3f s after the start\n",
			(double)(info->session_end_ns - info->session_start_ns) / 1e9);
}

static void reasons_text(const struct model *model, const struct source_loss *source, char *into,
			 size_t size)
{
	size_t used = 0;

	into[0] = '\0';
	for (uint32_t i = 0; i < source->reason_count && used < size; i++) {
		int wrote = snprintf(into + used, size - used, "%s%s: %" PRIu64, i ? ", " : "",
				     model_text(model, source->reasons[i].reason),
				     source->reasons[i].count);

		used += wrote > 0 ? (size_t)wrote : size;
	}
}

static int print_sources(FILE *out, const struct model *model,
			 const struct capture_results *capture,
			 const struct report_options *options)
{
	struct table *table;
	int err;

	if (capture->source_count == 0) {
		fputs("what the sources produced and lost is unknown: no statistics were found\n",
		      out);
		return 0;
	}
	table = table_new(options);
	if (!table)
		return -ENOMEM;
	table_column(table, "source", TABLE_LEFT);
	table_column(table, "records produced", TABLE_RIGHT);
	table_column(table, "delivered", TABLE_RIGHT);
	table_column(table, "lost", TABLE_RIGHT);
	table_column(table, "missing here", TABLE_RIGHT);
	table_column(table, "lost because", TABLE_LEFT | TABLE_SHRINK);
	for (uint32_t i = 0; i < capture->source_count; i++) {
		const struct capture_source *source = &capture->sources[i];
		const struct source_loss *row = &model->sources.row[source->source];
		char reasons[512];

		reasons_text(model, row, reasons, sizeof(reasons));
		table_row(table);
		table_text(table, model_text(model, row->name));
		table_count(table, row->produced);
		table_count(table, row->delivered);
		table_count(table, source->lost);
		table_count(table, source->missing);
		table_text(table, reasons);
	}
	err = table_print(table, out);
	table_free(table);
	return err;
}

/* Many at once where a job starts short-lived ones: one line for all. */
static void print_unseen_processes(FILE *out, const struct model *model,
				   const struct capture_results *capture)
{
	const struct coverage_gap *first;

	if (!capture->process_gaps)
		return;
	first = &capture->gaps[capture->gap_count - capture->process_gaps];
	fprintf(out,
		"processes that ended before anybody looked at what they map, so that calls they made were "
		"not seen: %u, of which %u lived longest (--format json lists them)\n",
		capture->process_gaps,
		model->processes.row[model->coverage.row[first->coverage].process].pid);
}

static void print_coverage(FILE *out, const struct model *model,
			   const struct capture_results *capture,
			   const struct report_options *options)
{
	uint32_t count = capture->gap_count - capture->process_gaps;
	uint32_t shown = rows_shown(options, count);
	char file[512];

	for (uint32_t i = 0; i < shown; i++) {
		const struct coverage_gap *gap = &capture->gaps[i];
		const struct coverage *coverage = &model->coverage.row[gap->coverage];

		printable(known(model, coverage->file), file, sizeof(file));
		if (gap->since_mapped)
			fprintf(out,
				"calls in the first %.3f ms after %s was loaded by process %u "
				"were not seen\n",
				(double)gap->ns / 1e6, file,
				model->processes.row[coverage->process].pid);
		else
			fprintf(out,
				"calls of %s in process %u in the first %.3f ms of the recording "
				"were not seen\n",
				file, model->processes.row[coverage->process].pid,
				(double)gap->ns / 1e6);
	}
	text_more(out, "such gaps", count, shown);
	print_unseen_processes(out, model, capture);
}

static double seconds_into(const struct model *model, uint64_t ts_ns)
{
	uint64_t start_ns = model->info.session_start_ns;

	return ts_ns > start_ns ? (double)(ts_ns - start_ns) / 1e9 : 0;
}

static void print_unseen_ends(FILE *out, const struct model *model,
			      const struct capture_results *capture,
			      const struct report_options *options)
{
	uint32_t shown = rows_shown(options, capture->unseen_end_count);
	char name[512], file[512];

	for (uint32_t i = 0; i < shown; i++) {
		const struct ends_span *span = &capture->unseen_ends[i];
		const struct function *function = &model->functions.row[span->function];

		printable(known(model, function->name), name, sizeof(name));
		printable(known(model, function->file), file, sizeof(file));
		fprintf(out,
			"ends not seen: %s of %s from %.3f s to %.3f s of the recording: called %u "
			"times a second, more than --budget allows\n",
			name, file, seconds_into(model, span->start_ns),
			seconds_into(model, span->start_ns + span->ns), span->calls_per_second);
	}
	text_more(out, "such stretches", capture->unseen_end_count, shown);
}

static const char *left_out_words(uint32_t what)
{
	switch (what) {
	case PROFBPF__SHED__WHAT__SAMPLES: return "samples";
	case PROFBPF__SHED__WHAT__SLEEPS: return "stacks of sleeps";
	default: return "wake-ups";
	}
}

static const char *left_out_meaning(uint32_t what)
{
	switch (what) {
	case PROFBPF__SHED__WHAT__SAMPLES:
		return "a sample that was taken then counts for all that were not; without any there is no telling";
	case PROFBPF__SHED__WHAT__SLEEPS:
		return "where threads slept, and who held the interpreter's lock that they waited for, is not known then";
	default:
		return "who woke a thread is not known then; until it got a CPU it counts as asleep";
	}
}

/* What follows from it for the figures is said once for each kind. */
static void print_left_out(FILE *out, const struct model *model, const struct capture_results *capture,
			   const struct report_options *options)
{
	uint32_t shown = rows_shown(options, capture->left_out_count);
	uint32_t what = PROFBPF__SHED__WHAT__NOTHING;

	for (uint32_t i = 0; i < shown; i++) {
		const struct left_out *row = &capture->left_out[i];

		fprintf(out, "left out: %.0f %% of the %s from %.3f s to %.3f s of the recording: ",
			(1000 - row->kept_permille) / 10.0, left_out_words(row->what),
			seconds_into(model, row->start_ns), seconds_into(model, row->start_ns + row->ns));
		if (row->for_room)
			fprintf(out, "there was no room for all records\n");
		else
			fprintf(out, "recording took %.2f %% of a CPU, more than --budget allows\n",
				row->cost_ppm / 1e4);
		if (row->what != what)
			fprintf(out, "  %s\n", left_out_meaning(row->what));
		what = row->what;
	}
	text_more(out, "such stretches", capture->left_out_count, shown);
}

int text_capture(FILE *out, const struct model *model, const struct results *results,
		 const struct report_options *options)
{
	const struct capture_results *capture = results->capture;
	char note[LINE_SIZE];
	int err;

	print_heading(out, options, "Capture");
	if (text_nothing_recorded(out, model))
		return 0;
	print_verdict(out, model, capture);
	err = print_sources(out, model, capture, options);
	if (err)
		return err;
	print_coverage(out, model, capture, options);
	print_unseen_ends(out, model, capture, options);
	print_left_out(out, model, capture, options);
	if (capture->switches_missing)
		fprintf(out,
			"%" PRIu64
			" of %" PRIu64 " context switches were not reported by the kernel, as the "
			"others show; states they leave open are unknown\n",
			capture->switches_missing,
			model->switches.count + model->survey.switches);
	if (model->info.min_duration_ns)
		fprintf(out, "calls shorter than %.3f us were counted but not recorded\n",
			(double)model->info.min_duration_ns / 1e3);
	for (uint32_t i = 0; i < model->notes.count; i++)
		fprintf(out, "note: %s\n",
			printable(model_text(model, model->notes.row[i]), note, sizeof(note)));
	return 0;
}
