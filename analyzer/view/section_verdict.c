/* SPDX-License-Identifier: Apache-2.0 */
/* What holds the job up as a whole: the report's first lines. */
#include "analyzer/analyse/idle/verdict.h"
#include "analyzer/model/translate.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/render/wrap.h"
#include "analyzer/view/roots_view.h"
#include "analyzer/view/sections.h"
#include "analyzer/view/straggler_view.h"
#include "analyzer/view/verdict_words.h"

#define INDENT 9 /* of its lines, below their labels */

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
	COLUMN(do, TEXT, "do", "what to change, or what it would take to know",             \
	       words_cell(at, verdict_remedy))                                              \
	COLUMN(but, TEXT, "but", "what it leans on that may not be whole",                  \
	       words_cell(at, verdict_but))

DEFINE_FIGURES(verdict_figures, struct verdict, VERDICT_FIGURES, NULL);

static const struct view_column VERDICT_SHOWN[] = {
	{ "state" }, { "percent" },  { "share_of", "of" },		 { "stage" },
	{ "do" },    { "sentence" }, { "gain", "gain_at_most_percent" }, { "but" },
	{ NULL },
};

static const struct view VERDICT = {
	"verdict", NULL, &table_verdict, VERDICT_SHOWN, VIEW_ONE, &verdict_figures,
	.inside = { &idle_root_view, &wait_root_view, &wait_run_view, &straggler_view },
};

/* ---- In words */

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
	return 0;
}

const struct section section_verdict = { verdict_text, NULL, VIEWS(&VERDICT) };
