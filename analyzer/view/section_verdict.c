/* SPDX-License-Identifier: Apache-2.0 */
/* The bottleneck of the whole job: the first lines of the report. */
#include "analyzer/analyse/idle/job_verdicts.h"
#include "analyzer/analyse/idle/verdict.h"
#include "analyzer/model/translate.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/render/wrap.h"
#include "analyzer/view/roots_view.h"
#include "analyzer/view/sections.h"
#include "analyzer/view/straggler_view.h"
#include "analyzer/view/verdict_words.h"

#define INDENT 9 /* of the lines below their labels */

typedef void words(const struct model *model, const struct results *results, char *text,
		   size_t size);

static struct cell words_cell(struct table_cursor *at, words *write)
{
	char *text = report_of(at)->text;

	write(at->of->model, at->of->results, text, REPORT_TEXT_SIZE);
	return cell_text(text);
}

#define VERDICT_FIGURES(COLUMN)                                                             \
	COLUMN(stage, TEXT, "stage", "the operator of a data pipeline that it is about",    \
	       words_cell(at, verdict_stage_name))                                          \
	COLUMN(sentence, TEXT, "verdict", "all of it in words",                             \
	       words_cell(at, verdict_sentence))                                            \
	COLUMN(do, TEXT, "do", "what to change, or which data are needed to know",          \
	       words_cell(at, verdict_remedy))                                              \
	COLUMN(but, TEXT, "but", "incomplete data that it is based on",                     \
	       words_cell(at, verdict_but))                                                 \
	COLUMN(each, TEXT, "each", "if there are several jobs, what holds up each of them", \
	       words_cell(at, verdict_each))

DEFINE_FIGURES(verdict_figures, struct verdict, VERDICT_FIGURES, NULL);

static const struct view_column VERDICT_SHOWN[] = {
	{ "state" }, { "percent" },  { "share_of", "of" },		 { "copies_percent" }, { "stage" },
	{ "do" },    { "sentence" }, { "gain", "gain_at_most_percent" }, { "but" },
	{ "each" },  { NULL },
};

/* ---- Verdicts of several jobs */

static struct cell job_cell(struct table_cursor *at, const struct job_verdict *job, words *write)
{
	struct results results = *at->of->results;
	char *text = report_of(at)->text;

	results.jobs = NULL;
	results.verdict = (struct verdict *)&job->verdict;
	if (job->devices.devices)
		results.devices = (struct device_results *)&job->devices;
	else
		results.waits = (struct host_waits *)&job->waits;
	results.steps = (struct step_results *)&job->steps;
	write(at->of->model, &results, text, REPORT_TEXT_SIZE);
	return cell_text(text);
}

#define JOB_FIGURES(COLUMN)                                                                   \
	COLUMN(process, ROW, "process", "at its head: a row of processes",                    \
	       cell_index(row->process))                                                      \
	COLUMN(state, TEXT, "state", "as the verdict's",                                      \
	       cell_text(verdict_state_name(row->verdict.state)))                             \
	COLUMN(percent, PERCENT, "share", "what it costs, as the verdict's",                  \
	       cell_known_real(row->verdict.has_percent, row->verdict.percent))               \
	COLUMN(of, TEXT, "of", "whose share: device_time, step_time or wall_time",            \
	       cell_text(row->verdict.has_percent ? verdict_of_name(row->verdict.of) : NULL)) \
	COLUMN(sentence, TEXT, "verdict", "all of it in words",                               \
	       job_cell(at, row, verdict_sentence))                                           \
	COLUMN(do, TEXT, "do", "what to change, or which data are needed to know",            \
	       job_cell(at, row, verdict_remedy))

static bool next_job(struct table_cursor *at)
{
	const struct job_verdicts *jobs = at->of->results->jobs;

	return jobs && cursor_rows(at, jobs->row, jobs->count, sizeof(*jobs->row));
}

DEFINE_FIGURES(job_figures, struct job_verdict, JOB_FIGURES, next_job);

static const struct view_column JOBS_SHOWN[] = {
	{ "process.pid" }, { "process.name", "name" }, { "state" }, { "percent" },
	{ "of" },	   { "sentence" },	       { "do" },    { NULL },
};

static const struct view JOBS = { "jobs", NULL, &job_figures, JOBS_SHOWN, .within = view_all,
				  .inside = { &job_root_view }, .optional = true };

static const struct view VERDICT = {
	"verdict", NULL, &table_verdict, VERDICT_SHOWN, VIEW_ONE, &verdict_figures,
	.inside = { &idle_root_view, &wait_root_view, &wait_run_view, &straggler_view, &JOBS },
};

/* ---- Text */

static void line(const struct report *report, const char *label)
{
	if (*report->text)
		wrap_line(report->out, label, INDENT, report->text, report->options->width);
}

static int verdict_text(const struct report *report)
{
	const struct verdict *verdict = report->results->verdict;
	char *text = report->text;

	if (!verdict)
		return 0;
	verdict_sentence(report->model, report->results, text, REPORT_TEXT_SIZE);
	line(report, tr("verdict"));
	verdict_root_text(&report->data, text, REPORT_TEXT_SIZE);
	line(report, tr("root"));
	verdict_remedy(report->model, report->results, text, REPORT_TEXT_SIZE);
	line(report, verdict->state == VERDICT_UNKNOWN ? tr("to know") : tr("do"));
	*text = '\0';
	if (verdict->gain_percent > 0)
		snprintf(text, REPORT_TEXT_SIZE, tr("at most %.1f %% of %s"), verdict->gain_percent,
			 verdict_of_text(verdict->of));
	line(report, tr("gain"));
	verdict_but(report->model, report->results, text, REPORT_TEXT_SIZE);
	line(report, tr("but"));
	verdict_each(report->model, report->results, text, REPORT_TEXT_SIZE);
	line(report, tr("each"));
	return 0;
}

const struct section section_verdict = { verdict_text, NULL, VIEWS(&VERDICT) };
