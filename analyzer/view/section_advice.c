/* SPDX-License-Identifier: Apache-2.0 */
/* Recommendations. */
#include "analyzer/analyse/pipeline/bottleneck.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/alike.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"

static const struct view_column COLUMNS[] = {
	{ "id" },
	{ "severity" },
	{ "title" },
	{ "evidence" },
	{ "remedy", "do" },
	{ "gain_at_most_percent", .how = VIEW_JSON },
	{ NULL },
};

static const struct view_column RULE_COLUMNS[] = {
	{ "rule" }, { "measures" }, { "value" }, { "threshold" }, { "unit" }, { "source" }, { NULL },
};

static const struct view RULES = { "rules", NULL, &table_advice_rules, RULE_COLUMNS, .optional = true };

static const struct view ADVICE = { "advice", NULL, &table_advice, COLUMNS, .inside = { &RULES } };

static const struct view_column TOLD_COLUMNS[] = {
	{ "topic" },
	{ "part" },
	{ "advice", "do", VIEW_EMPTY },
	{ "about" },
	{ "count" },
	{ "device.id", "device" },
	{ "file.path", "file" },
	{ NULL },
};

static const struct view TOLD = { "told_advice", NULL, &table_told_advice, TOLD_COLUMNS,
				  .optional = true };

static void print_told(const struct report *report)
{
	const struct report_options *options = report->options;
	const struct model *model = report->model;
	FILE *out = report->out;
	uint32_t shown = rows_shown(options, model->told_advice.count);
	char text[512], subjects[256], topic[128];

	if (!shown)
		return;
	print_heading(out, options, "Advice of msprof");
	for (uint32_t i = 0; i < shown; i++) {
		const struct told_advice *row = &model->told_advice.row[i];

		fprintf(out, "%s: %s",
			printable(model_text(model, row->topic), topic, sizeof(topic)),
			printable(model_text(model, row->text), text, sizeof(text)));
		if (row->count)
			fprintf(out, "\n  %u: %s", row->count,
				printable(model_text(model, row->subjects), subjects,
					  sizeof(subjects)));
		fputc('\n', out);
	}
	text_more(out, "suggestions", model->told_advice.count, shown);
}

/* "  so says MindInsight, minddata_analyser.py: steps that ..., 64.0 % (more than 30)" */
static void print_rule(FILE *out, const struct peer_rule_hit *hit)
{
	const struct peer_rule *rule = hit->rule;

	fprintf(out, "  so says %s: %s, %.*f%s%s (%s than %g)\n", rule->source, rule->measures,
		*rule->unit || rule->threshold < 1 ? 1 : 0, hit->value, *rule->unit ? " " : "",
		rule->unit, rule->below ? "less" : "more", rule->threshold);
}

static int print_own(const struct report *report, const struct advice_results *advice)
{
	struct alike alike = { 0 };
	int err = alike_advice(advice, &alike);
	uint32_t shown = err ? 0 : rows_shown(report->options, alike.groups), seen = 0;
	char others[64];

	if (!err)
		print_heading(report->out, report->options, "Advice");
	for (uint32_t i = 0; i < advice->advice_count && seen < shown; i++) {
		const struct advice *row = &advice->list[i];

		if (alike.of[i] != i)
			continue;
		alike_words(&alike, i, others, sizeof(others));
		fprintf(report->out, "%s: %s\n  because %s%s\n  do: %s\n", row->severity,
			row->title, row->evidence, others, row->remedy);
		for (uint32_t k = 0; k < row->rule_count; k++)
			print_rule(report->out, &row->rules[k]);
		seen++;
	}
	if (!err)
		text_more(report->out, "pieces", alike.groups, shown);
	alike_free(&alike);
	return err;
}

static int advice_text(const struct report *report)
{
	const struct advice_results *advice = report->results->advice;
	int err = 0;

	if (advice && advice->advice_count)
		err = print_own(report, advice);
	if (!err)
		print_told(report);
	return err;
}

const struct section section_advice = { advice_text, NULL, VIEWS(&ADVICE, &TOLD) };
