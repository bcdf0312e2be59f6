/* SPDX-License-Identifier: Apache-2.0 */
/* Completeness of the recording: records that were lost, damaged or never seen. */
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/store/define_table.h"
#include "analyzer/model/translate.h"
#include "analyzer/view/file_damage.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"
#include "lib/trace/pbt.h"

#define LINE_SIZE 4096
#define PROCESSES_TOLD 4

static const char *known(const struct model *model, uint32_t id)
{
	const char *text = model_text(model, id);

	return *text ? text : "unknown";
}

/* A cell with the string, even if it is "". */
static struct cell any_string(const struct model *model, uint32_t id)
{
	return (struct cell){ .kind = CELL_TEXT, .text = model_text(model, id) };
}

/* ---- Records produced by the sources */

#define SOURCE (&model->sources.row[row->source])

static void reasons_text(const struct model *model, const struct source_loss *source, char *into,
			 size_t size)
{
	size_t used = 0;

	into[0] = '\0';
	for (uint32_t i = 0; i < source->reason_count && used < size; i++)
		used += (size_t)snprintf(into + used, size - used, "%s%s: %" PRIu64, i ? ", " : "",
					 model_text(model, source->reasons[i].reason),
					 source->reasons[i].count);
}

static struct cell reasons_cell(struct table_cursor *at, const struct source_loss *source)
{
	reasons_text(at->of->model, source, at->text[0], sizeof(at->text[0]));
	return (struct cell){ .kind = CELL_TEXT, .text = at->text[0] };
}

#define SOURCE_COLUMNS(COLUMN)                                                                     \
	COLUMN(name, TEXT, "source", "what its records are of", any_string(model, SOURCE->name))   \
	COLUMN(produced, COUNT, "records produced", "by the programs in the kernel",               \
	       cell_u64(SOURCE->produced))                                                         \
	COLUMN(delivered, COUNT, "delivered", "to the file, as the recorder counted",              \
	       cell_u64(SOURCE->delivered))                                                        \
	COLUMN(lost, COUNT, "lost", "for all reasons", cell_u64(row->lost))                        \
	COLUMN(missing, COUNT, "missing here", "delivered, but not in what was read",              \
	       cell_u64(row->missing))                                                             \
	COLUMN(reasons, TEXT, "lost because", "how many for which reason",                         \
	       reasons_cell(at, SOURCE))                                                           \
	COLUMN(read, COUNT, "read", "found in the file; unknown if not comparable",                \
	       cell_id(SOURCE->read))                                                              \
	COLUMN(adds_up, FLAG, "adds up", "produced is delivered and lost",                         \
	       cell_flag(row->adds_up))

DEFINE_NEXT(next_source, at->of->results->capture, sources, source_count)
DEFINE_FIGURES(capture_sources, struct capture_source, SOURCE_COLUMNS, next_source);

/* The reasons become keys. */
static void write_reasons(const struct report *report, const struct table_cursor *at)
{
	const struct capture_source *source = at->row;
	const struct source_loss *row = &report->model->sources.row[source->source];

	json_map(report->json, "lost_by");
	for (uint32_t i = 0; i < row->reason_count; i++)
		json_u64(report->json, model_text(report->model, row->reasons[i].reason),
			 row->reasons[i].count);
	json_map_close(report->json);
}

static const struct view_column SOURCE_SHOWN[] = {
	{ "name" },
	{ "produced" },
	{ "delivered" },
	{ "lost" },
	{ "missing", .how = VIEW_TEXT },
	{ "reasons", .how = VIEW_TEXT | VIEW_SHRINK },
	{ "read", .how = VIEW_JSON },
	{ "adds_up", .how = VIEW_JSON },
	{ NULL },
};

static const struct view SOURCES = { "sources", NULL, &capture_sources, SOURCE_SHOWN,
				     .more = write_reasons };

/* ---- Unreadable parts */

#define DAMAGE_KNOWN(value) (row->first_reason[0] ? (value) : cell_none())

#define DAMAGE_COLUMNS(COLUMN)                                                                  \
	COLUMN(batches_read, COUNT, "read", "batches that were read",                           \
	       cell_u64(row->packets_read))                                                     \
	COLUMN(batches_skipped, COUNT, "skipped", "batches that could not be read",             \
	       cell_u64(row->packets_skipped))                                                  \
	COLUMN(bytes_skipped, BYTES, "skipped", "bytes that belong to no readable batch",       \
	       cell_u64(row->bytes_skipped))                                                    \
	COLUMN(torn_tail, FLAG, "torn", "the file ends in the middle of a batch",               \
	       cell_flag(row->torn_tail))                                                       \
	COLUMN(bad_rows, COUNT, "bad rows", "rows that were not valid and were left out",       \
	       cell_u64(model->bad_rows))                                                       \
	COLUMN(unknown_values, COUNT, "unknown values", "values that a later version wrote",    \
	       cell_u64(model->unknown_values))                                                 \
	COLUMN(unknown_batches, COUNT, "unknown batches", "batches that a later version wrote", \
	       cell_u64(model->unknown_batches))                                                \
	COLUMN(first_offset, NUMBER, "at", "byte of the file where the first damage is",        \
	       DAMAGE_KNOWN(cell_u64(row->first_offset)))                                       \
	COLUMN(first_reason, TEXT, "reason", "what is wrong there", cell_text(row->first_reason))

static bool next_damage(struct table_cursor *at)
{
	return cursor_rows(at, &at->of->model->damage, 1, sizeof(at->of->model->damage));
}

DEFINE_FIGURES(damages, struct pbt_damage, DAMAGE_COLUMNS, next_damage);

static const struct view DAMAGE = { "damage", NULL, &damages, NULL, VIEW_ONE,
				    .within = view_all };

/* ---- Events that were never seen */

#define GAP_COVERAGE (&model->coverage.row[row->coverage])
#define OF_FILE(value) (row->of_process ? cell_none() : (value))

#define GAP_COLUMNS(COLUMN)                                                        \
	COLUMN(process, ROW, "process", "a row of processes",                      \
	       cell_index(GAP_COVERAGE->process))                                  \
	COLUMN(file, TEXT, "file", "whose functions were not probed until later",  \
	       OF_FILE(any_string(model, GAP_COVERAGE->file)))                     \
	COLUMN(functions, COUNT, "functions", "how many these are",                \
	       OF_FILE(cell_u64(GAP_COVERAGE->functions)))                         \
	COLUMN(start_ns, INSTANT, "start", "from when on calls were not recorded", \
	       cell_u64(row->start_ns))                                            \
	COLUMN(duration_ns, NS, "duration", "for how long", cell_u64(row->ns))

DEFINE_NEXT(next_gap, at->of->results->capture, gaps, gap_count)
DEFINE_FIGURES(not_covered, struct coverage_gap, GAP_COLUMNS, next_gap);

static const struct view_column GAP_SHOWN[] = {
	{ "process.pid" }, { "file" },	      { "functions" },
	{ "start_ns" },	   { "duration_ns" }, { NULL },
};

static const struct view NOT_COVERED = { "not_covered", NULL, &not_covered, GAP_SHOWN };

/* Returns the reason as a word of the JSON report. */
static const char *unseen_why(const struct unseen_launch *row)
{
	return row->family ? "not_called" : "no_symbols";
}

#define UNSEEN_COLUMNS(COLUMN)                                                             \
	COLUMN(process, ROW, "process", "a row of processes", cell_index(row->process))    \
	COLUMN(runtime, TEXT, "runtime", "of which no launch was recorded",                \
	       cell_string(model, row->family))                                            \
	COLUMN(file, TEXT, "file", "that has its functions", any_string(model, row->file)) \
	COLUMN(functions, COUNT, "functions", "that launch, in all its files",             \
	       cell_not_0(row->functions))                                                 \
	COLUMN(pointers, TEXT, "pointers of",                                              \
	       "a function that returns pointers to others, whose calls are not recorded", \
	       cell_text(row->pointers))                                                   \
	COLUMN(why, TEXT, "why", "none was called, or none can be found", cell_text(unseen_why(row)))

DEFINE_NEXT(next_unseen, at->of->results->capture, unseen.row, unseen.count)
DEFINE_FIGURES(unseen_launches, struct unseen_launch, UNSEEN_COLUMNS, next_unseen);

static const struct view_column UNSEEN_SHOWN[] = {
	{ "process.pid" }, { "runtime" },  { "file" }, { "functions" },
	{ "pointers" },	   { "why" }, { NULL },
};

static const struct view UNSEEN = { "no_launches", NULL, &unseen_launches, UNSEEN_SHOWN };

#define SPAN_FUNCTION (&model->functions.row[row->function])

#define SPAN_COLUMNS(COLUMN)                                                              \
	COLUMN(function, TEXT, "function", "whose calls' ends were not recorded",         \
	       any_string(model, SPAN_FUNCTION->name))                                    \
	COLUMN(file, TEXT, "file", "where it is", any_string(model, SPAN_FUNCTION->file)) \
	COLUMN(start_ns, INSTANT, "start", "from when on", cell_u64(row->start_ns))       \
	COLUMN(duration_ns, NS, "duration", "for how long", cell_u64(row->ns))            \
	COLUMN(calls_per_second, COUNT, "calls/s", "when it began",                       \
	       cell_u64(row->calls_per_second))

DEFINE_NEXT(next_span, at->of->results->capture, unseen_ends, unseen_end_count)
DEFINE_FIGURES(ends_not_seen, struct ends_span, SPAN_COLUMNS, next_span);

static const struct view ENDS_NOT_SEEN = { "ends_not_seen", NULL, &ends_not_seen, NULL };

#define LEFT_OUT_COLUMNS(COLUMN)                                                                \
	COLUMN(what, TEXT, "what", "the records", cell_text(left_out_name(row->what)))          \
	COLUMN(start_ns, INSTANT, "start", "from when on", cell_u64(row->start_ns))             \
	COLUMN(duration_ns, NS, "duration", "for how long", cell_u64(row->ns))                  \
	COLUMN(kept_percent, PERCENT, "kept", "of these records",                               \
	       cell_real(row->kept_permille / 10.0))                                            \
	COLUMN(reason, TEXT, "reason", "room for records, or the recording's cost",             \
	       cell_text(row->for_room ? "room" : "cost"))                                      \
	COLUMN(cost_percent, PERCENT, "cost", "of the busiest CPU's time, just before",         \
	       cell_real(row->cost_ppm / 1e4))

DEFINE_NEXT(next_left_out, at->of->results->capture, left_out, left_out_count)
DEFINE_FIGURES(left_out, struct left_out, LEFT_OUT_COLUMNS, next_left_out);

static const struct view LEFT_OUT = { "left_out", NULL, &left_out, NULL };

#define NOTE_COLUMNS(COLUMN)                                                            \
	COLUMN(note, TEXT, "note", "a message of the recorder, or damage of a device file", \
	       any_string(model, *row))

static bool next_note(struct table_cursor *at)
{
	return CURSOR_ROWS(at, at->of->model->notes);
}

DEFINE_FIGURES(capture_notes, uint32_t, NOTE_COLUMNS, next_note);

static const struct view NOTES = { "notes", NULL, &capture_notes, NULL, VIEW_LIST };

#define CAPTURE_COLUMNS(COLUMN)                                                                 \
	COLUMN(complete, FLAG, "complete", "every record was read, and the recording ended",    \
	       cell_flag(row->complete))                                                        \
	COLUMN(ended, FLAG, "ended", "the recording ended properly",                            \
	       cell_flag(model->info.ended))                                                    \
	COLUMN(end_reason, TEXT, "ended by", "why it ended",                                    \
	       cell_string(model, model->info.end_reason))                                      \
	COLUMN(switches_missing, COUNT, "switches missing",                                     \
	       "context switches that the kernel did not report, as the others show",           \
	       cell_u64(row->switches_missing))

static bool next_capture(struct table_cursor *at)
{
	const struct capture_results *capture = at->of->results->capture;

	return capture && cursor_rows(at, capture, 1, sizeof(*capture));
}

DEFINE_FIGURES(captures, struct capture_results, CAPTURE_COLUMNS, next_capture);

static const struct view CAPTURE = { NULL, NULL, &captures, NULL, VIEW_ONE };

/* ---- Text */

char *text_damage(const struct model *model, char *into, size_t size)
{
	const struct pbt_damage *damage = &model->damage;
	size_t used = 0;

	into[0] = '\0';
	if (damage->first_reason[0])
		used = (size_t)snprintf(into, size, "byte %" PRIu64 ": %s; ", damage->first_offset,
					damage->first_reason);
	if (used >= size)
		return into;
	if (damage->packets_skipped || damage->bytes_skipped || damage->torn_tail)
		used += (size_t)snprintf(into + used, size - used,
					 "%" PRIu64 " batches and %" PRIu64 " bytes skipped%s",
					 damage->packets_skipped, damage->bytes_skipped,
					 damage->torn_tail ? "; the file ends in the middle of a batch"
							   : "");
	if (model->bad_rows && used < size)
		snprintf(into + used, size - used, "%s%" PRIu64 " rows %s", used ? "; " : "",
			 model->bad_rows, model->threadless_rows == model->bad_rows
				 ? "were left out: nothing else is known of their threads"
				 : "were not valid and were left out");
	return into;
}

char *text_no_launches(const struct model *model, const struct capture_results *capture, char *into,
		       size_t size)
{
	const struct unseen_launches *unseen = &capture->unseen;
	uint32_t family = 0, families = 0;
	size_t used;

	into[0] = '\0';
	if (unseen->any_launch || !unseen->count)
		return into;
	if (!unseen->row[0].family) {
		snprintf(into, size, tr("no launch was recorded, and a program without symbols may make launches"));
		return into;
	}
	used = (size_t)snprintf(into, size, tr("no launch was recorded, though"));
	for (uint32_t i = 0; i < unseen->count && used < size; i++) {
		if (!unseen->row[i].family || unseen->row[i].family == family)
			continue;
		family = unseen->row[i].family;
		used += (size_t)snprintf(into + used, size - used, "%s %s", families++ ? "," : "",
					 model_text(model, family));
	}
	if (used < size)
		snprintf(into + used, size - used, tr(" %s mapped"), families > 1 ? tr("are") : tr("is"));
	return into;
}

char *text_losses(const struct model *model, const struct capture_results *capture, char *into,
		  size_t size)
{
	char launches[256];

	if (capture->complete && capture->left_out_count)
		snprintf(into, size,
			 tr("complete, except for records left out by --budget for some time (--section capture)"));
	else if (capture->complete && *text_no_launches(model, capture, launches, sizeof(launches)))
		snprintf(into, size, tr("complete: nothing was lost; %s (--section capture)"), launches);
	else if (capture->complete)
		snprintf(into, size, tr("complete: nothing was lost"));
	else if (capture->lost)
		snprintf(into, size,
			 tr("INCOMPLETE: %" PRIu64
			 " records were lost while recording (--section capture)"),
			 capture->lost);
	else if (capture->missing)
		snprintf(into, size,
			 tr("INCOMPLETE: %" PRIu64
			 " records are not in the file (--section capture)"),
			 capture->missing);
	else
		snprintf(into, size, tr("INCOMPLETE: %s (--section capture)"),
			 !model->info.ended ? tr("the recording did not end properly")
			 : capture->damaged ? tr("a part of the file cannot be read")
					    : tr("its numbers of produced, delivered and lost records do not match"));
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
		fputs("INCOMPLETE: the figures below cover only what was read\n", out);
	if (capture->lost)
		fprintf(out, "  %" PRIu64 " records were lost while recording, see the table\n",
			capture->lost);
	if (capture->missing)
		fprintf(out,
			"  %" PRIu64 " records that the recorder wrote are missing in %s read here\n",
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

/* A job that starts short-lived processes may have many: one line for all. */
static void print_unseen_processes(FILE *out, const struct model *model,
				   const struct capture_results *capture)
{
	const struct coverage_gap *first;

	if (!capture->process_gaps)
		return;
	first = &capture->gaps[capture->gap_count - capture->process_gaps];
	fprintf(out,
		"processes that ended before their mapped files were examined, so that their calls "
		"were not recorded: %u; process %u lived longest (--format json lists them)\n",
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
				"calls in the first %.3f ms after %s was loaded by process %u were not recorded\n",
				(double)gap->ns / 1e6, file,
				model->processes.row[coverage->process].pid);
		else
			fprintf(out,
				"calls of %s in process %u in the first %.3f ms of the recording were not recorded\n",
				file, model->processes.row[coverage->process].pid,
				(double)gap->ns / 1e6);
	}
	text_more(out, "such gaps", count, shown);
	print_unseen_processes(out, model, capture);
}

/* Entries of one runtime and file share a line. */
static uint32_t unseen_alike(const struct unseen_launches *unseen, uint32_t from)
{
	uint32_t i = from + 1;

	while (i < unseen->count && unseen->row[i].family == unseen->row[from].family &&
	       unseen->row[i].file == unseen->row[from].file)
		i++;
	return i - from;
}

/* "process 17", "processes 17, 18 and 6 more" */
static void unseen_processes(const struct model *model, const struct unseen_launch *row, uint32_t count,
			     char *text, size_t size)
{
	int used = snprintf(text, size, count > 1 ? "processes" : "process");

	for (uint32_t i = 0; i < count && i < PROCESSES_TOLD; i++)
		used += snprintf(text + used, size - (size_t)used, "%s %u", i ? "," : "",
				 model->processes.row[row[i].process].pid);
	if (count > PROCESSES_TOLD)
		snprintf(text + used, size - (size_t)used, " and %u more", count - PROCESSES_TOLD);
}

static void print_unseen_launches(FILE *out, const struct model *model,
				  const struct unseen_launches *unseen)
{
	for (uint32_t i = 0, count; i < unseen->count; i += count) {
		const struct unseen_launch *row = &unseen->row[i];
		char file[512], who[128];

		count = unseen_alike(unseen, i);
		unseen_processes(model, row, count, who, sizeof(who));
		printable(known(model, row->file), file, sizeof(file));
		if (!row->family) {
			fprintf(out,
				"no symbols: functions of %s, which is %s, cannot be found, so "
				"calls of a runtime that is linked into it are not recorded: keep "
				"its symbols (no strip, no -s), or put them below /usr/lib/debug\n",
				file, who);
			continue;
		}
		fprintf(out, "no launches: %s is mapped by %s (%s), and none of its %u functions that launch was called",
			model_text(model, row->family), who, file, row->functions);
		if (row->pointers)
			fprintf(out, "; calls through pointers that %s returns are not recorded", row->pointers);
		fputc('\n', out);
	}
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
			"ends not recorded: %s of %s from %.3f s to %.3f s of the recording: "
			"called %u times a second, more than --budget allows\n",
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
		return "a sample taken then also stands for those left out; without any sample nothing is known";
	case PROFBPF__SHED__WHAT__SLEEPS:
		return "where threads slept then, and which thread held an interpreter's lock, is unknown";
	default:
		return "which thread woke another then is unknown; a woken thread counts as asleep "
		       "until it gets a CPU";
	}
}

/* The consequence for the figures is printed once for each kind. */
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

static int print_sources(const struct report *report)
{
	if (report->results->capture->source_count)
		return view_text(report, &SOURCES);
	fputs("what the sources produced and lost is unknown: no statistics were found\n",
	      report->out);
	return 0;
}

static int capture_text(const struct report *report)
{
	const struct capture_results *capture = report->results->capture;
	const struct report_options *options = report->options;
	const struct model *model = report->model;
	FILE *out = report->out;
	char note[LINE_SIZE];
	int err;

	print_heading(out, options, "Capture");
	if (text_nothing_recorded(out, model)) {
		tell_file_damage(report);
		return 0;
	}
	print_verdict(out, model, capture);
	err = print_sources(report);
	if (err)
		return err;
	print_coverage(out, model, capture, options);
	print_unseen_launches(out, model, &capture->unseen);
	print_unseen_ends(out, model, capture, options);
	print_left_out(out, model, capture, options);
	if (capture->switches_missing)
		fprintf(out,
			"%" PRIu64 " of %" PRIu64 " context switches were not reported by the "
			"kernel, as the others show; the thread states between them are unknown\n",
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

const struct section section_capture = {
	capture_text, NULL,
	VIEWS(&CAPTURE, &SOURCES, &DAMAGE, &NOT_COVERED, &UNSEEN, &ENDS_NOT_SEEN, &LEFT_OUT, &NOTES), "capture"
};
