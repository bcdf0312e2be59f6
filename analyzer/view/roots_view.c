/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/roots_view.h"

#include "analyzer/analyse/device/results.h"
#include "analyzer/analyse/idle/host_waits.h"
#include "analyzer/analyse/idle/job_verdicts.h"
#include "analyzer/analyse/idle/root_text.h"
#include "analyzer/analyse/idle/verdict.h"
#include "analyzer/model/translate.h"
#include "analyzer/store/define_table.h"

#define TEXT_SIZE 512
#define HOPS_SHOWN 4 /* in a chain of the text report, from the root on */

/* ---- Text */

/* Returns, for display, why nothing more is known. */
static const char *end_text(uint8_t end)
{
	static const char *const texts[ROOT_ENDS] = {
		[ROOT_END_CIRCLE] = N_("threads wait for each other in a circle"),
		[ROOT_END_DEPTH] = N_("waits for yet another thread, which was not followed"),
		[ROOT_END_UNTRACED] = N_("was not traced"),
		[ROOT_END_NO_WAKER] = N_("what ended its sleep was not recorded"),
		[ROOT_END_NO_RECORD] = N_("no scheduling records for this time"),
		[ROOT_END_INTERRUPT] = N_("woken by an interrupt"),
		[ROOT_END_STOPPED] = N_("stopped by a signal or a debugger"),
		[ROOT_END_UNSEEN_WORK] = N_("its task waited for long, probably for work that the file does not have, or it "
					   "waited for the host (callbacks, events of other processes)"),
	};

	return end < ROOT_ENDS && texts[end] ? tr(texts[end]) : "";
}

/* "read of a pipe", "train.py:19 noise", "munmap; was not traced" */
static void doing_text(const struct table_data *of, const struct idle_root *row, char *text,
		       size_t size)
{
	const struct root *root = &row->root;
	char place[TEXT_SIZE], object[TEXT_SIZE];
	const char *end = end_text(root->end);
	size_t used;

	root_place_text(of->model, of->syscalls, root, place, sizeof(place));
	root_object_text(of->model, root, object, sizeof(object));
	used = row->word ? (size_t)snprintf(text, size, "%s%s", tr(row->word), *place ? tr(" in ") : "")
			 : 0;
	snprintf(text + used, size - used, "%s%s%s%s%s", place, *place && *object ? ": " : "",
		 object, (*place || *object) && *end ? "; " : "", end);
}

/* Writes "<- decoder 12 <- main 10": from the root back to the thread that submitted. */
static void chain_text(const struct table_data *of, const struct idle_root *row, char *text,
		       size_t size)
{
	uint32_t left = row->hop_count, shown = 0;
	size_t used = 0;

	*text = '\0';
	/* The root itself is already named as the thread. */
	if (left && row->root.who_kind == WHO_THREAD && row->hops[left - 1].thread == row->root.who)
		left--;
	while (left-- > 0 && used < size) {
		char who[TEXT_SIZE];

		if (++shown >= HOPS_SHOWN && left > 0) {
			used += (size_t)snprintf(text + used, size - used, tr("%s<- %u more"),
						 used ? " " : "", left);
			left = 0;
		}
		if (used >= size)
			break;
		root_thread_text(of->model, row->hops[left].thread, who, sizeof(who));
		used += (size_t)snprintf(text + used, size - used, "%s<- %.100s", used ? " " : "",
					 who);
	}
}

void root_told_text(const struct table_data *of, const struct idle_root *row, char *text,
		    size_t size)
{
	char who[TEXT_SIZE], doing[3 * TEXT_SIZE], chain[2 * TEXT_SIZE];

	root_who_text(of->model, &row->root, who, sizeof(who));
	doing_text(of, row, doing, sizeof(doing));
	chain_text(of, row, chain, sizeof(chain));
	snprintf(text, size, "%s%s%s%s%s", *who ? who : tr("unknown"), *doing ? tr(": ") : "", doing,
		 *chain ? " " : "", chain);
}

/* ---- Figures of roots */

static struct cell told_cell(struct table_cursor *at,
			     void (*tell)(const struct table_data *, const struct idle_root *,
					  char *, size_t))
{
	char *text = report_of(at)->text;

	tell(at->of, at->row, text, REPORT_TEXT_SIZE);
	return cell_text(text);
}

#define ROOT_FIGURES(COLUMN)                                                               \
	COLUMN(told, TEXT, "where, and for what", "place, object and why the walk ended",  \
	       told_cell(at, doing_text))                                                  \
	COLUMN(way, TEXT, "waited for by", "from there back to the thread that submitted", \
	       told_cell(at, chain_text))

DEFINE_FIGURES(root_figures, struct idle_root, ROOT_FIGURES, NULL);

static struct cell hop_who(struct table_cursor *at, uint32_t thread)
{
	if (thread >= at->of->model->threads.count)
		return cell_none();
	root_thread_text(at->of->model, thread, at->text[0], sizeof(at->text[0]));
	return cell_text(at->text[0]);
}

#define HOP_COLUMNS(COLUMN)                                                                 \
	COLUMN(cause, TEXT, "cause", "what the thread was in",                              \
	       cell_text(idle_cause_name(row->cause)))                                      \
	COLUMN(who, TEXT, "who", "the thread", hop_who(at, row->thread))                    \
	COLUMN(thread, ROW, "thread", "a row of threads", cell_index(row->thread))          \
	COLUMN(ns, NS, "time", "what came this way", cell_u64(row->ns))

static bool next_hop(struct table_cursor *at)
{
	const struct idle_root *root = at->outer;

	return cursor_rows(at, root->hops, root->hop_count, sizeof(*root->hops));
}

DEFINE_FIGURES(hops, struct idle_hop, HOP_COLUMNS, next_hop);

static void of_root(struct table_cursor *at, const struct table_cursor *outer)
{
	at->outer = outer->row;
}

static const struct view_column HOP_SHOWN[] = {
	{ "cause" }, { "who" }, { "thread.process.pid" }, { "thread.tid" }, { "ns" }, { NULL },
};

static const struct view CHAIN = { "chain", NULL, &hops, HOP_SHOWN, .within = of_root };

/* The text's headings name the whole of which the time is a share. */
#define ROOT_SHOWN(time)                                                                   \
	{                                                                                  \
		{ "percent", .how = VIEW_TEXT, .heading = time " %" },                     \
		{ "ns", .how = VIEW_TEXT | VIEW_WIDE, .heading = time " ms" },             \
		{ "gaps", .how = VIEW_TEXT | VIEW_WIDE, .heading = "gaps" },               \
		{ "cause" },                                                               \
		{ "who", .how = VIEW_SHRINK },                                             \
		{ "told", .how = VIEW_TEXT | VIEW_SHRINK | VIEW_BLANK },                   \
		{ "way", .how = VIEW_TEXT | VIEW_SHRINK | VIEW_BLANK },                    \
		{ "thread.process.pid", .how = VIEW_JSON },                                \
		{ "thread.tid", .how = VIEW_JSON },                                        \
		{ "place", "where", VIEW_JSON },                                           \
		{ "samples", .how = VIEW_JSON },                                           \
		{ "doing", .how = VIEW_JSON },                                             \
		{ "object", .how = VIEW_JSON },                                            \
		{ "ns", .how = VIEW_JSON },                                                \
		{ "percent", .how = VIEW_JSON },                                           \
		{ "gaps", .how = VIEW_JSON },                                              \
		{ "ended", "end", VIEW_JSON },                                             \
		{ NULL },                                                                  \
	}

static const struct view_column IDLE_SHOWN[] = ROOT_SHOWN("idle");
static const struct view_column WAITING_SHOWN[] = ROOT_SHOWN("waiting");
static const struct view_column RUNNING_SHOWN[] = ROOT_SHOWN("running");

#define ROOTS_VIEW(key, table, columns)                                                    \
	{                                                                                  \
		key, "roots", table, columns, .figures = &root_figures, .within = view_all, \
			.inside = { &CHAIN }                                               \
	}

const struct view idle_roots_view = ROOTS_VIEW("roots", &table_idle_roots, IDLE_SHOWN);
const struct view wait_roots_view = ROOTS_VIEW("roots", &table_wait_roots, WAITING_SHOWN);
const struct view wait_runs_view = ROOTS_VIEW("run", &table_wait_runs, RUNNING_SHOWN);

/* ---- The root of the verdict */

static bool is_among(const struct table_cursor *outer, const struct idle_roots *roots)
{
	const struct verdict *verdict = outer->row;

	return verdict->idle.most && roots && verdict->roots == roots;
}

static bool is_idle_root(const struct table_cursor *outer)
{
	const struct device_results *devices = outer->of->results->devices;

	return is_among(outer, devices ? devices->idle.roots : NULL);
}

static bool is_wait_root(const struct table_cursor *outer)
{
	const struct host_waits *waits = outer->of->results->waits;

	return is_among(outer, waits ? &waits->waits : NULL);
}

static bool is_wait_run(const struct table_cursor *outer)
{
	const struct host_waits *waits = outer->of->results->waits;

	return is_among(outer, waits ? &waits->own : NULL);
}

static void at_most(struct table_cursor *at, const struct table_cursor *outer)
{
	const struct verdict *verdict = outer->row;

	at->i = (uint64_t)(verdict->idle.most - verdict->roots->row);
	at->limit = at->i + 1;
}

#define ROOT_VIEW(table, columns, is_it)                                              \
	{                                                                             \
		"root", NULL, table, columns, VIEW_ONE, &root_figures,                \
			.within = at_most, .known = is_it, .inside = { &CHAIN }       \
	}

const struct view idle_root_view = ROOT_VIEW(&table_idle_roots, IDLE_SHOWN, is_idle_root);
const struct view wait_root_view = ROOT_VIEW(&table_wait_roots, WAITING_SHOWN, is_wait_root);
const struct view wait_run_view = ROOT_VIEW(&table_wait_runs, RUNNING_SHOWN, is_wait_run);

/* ---- The root of a job's verdict, which may be of any of these tables */

static bool next_job_root(struct table_cursor *at)
{
	const struct job_verdict *job = at->outer;
	const struct idle_root *most = job->verdict.idle.most;

	return most && cursor_rows(at, most, 1, sizeof(*most));
}

static void of_job(struct table_cursor *at, const struct table_cursor *outer)
{
	at->outer = outer->row;
}

const struct view job_root_view = { "root",
				    NULL,
				    &table_idle_roots,
				    IDLE_SHOWN,
				    VIEW_ONE,
				    &root_figures,
				    .next = next_job_root,
				    .within = of_job,
				    .inside = { &CHAIN } };

int roots_text(const struct report *report, const struct view *view, const char *heading)
{
	fprintf(report->out, tr("\n%s:\n"), heading);
	return view_text(report, view);
}
