/* SPDX-License-Identifier: Apache-2.0 */
/* The list of advice: bottleneck.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/pipeline/bottleneck.h"

#define MEDIUM_PERCENT 10
#define GROWTH 8 /* entries added at a time */

/* The severity of a cost, in percent of the time. */
static const char *severity_of(double percent)
{
	if (percent >= BOTTLENECK_HIGH_PERCENT)
		return "high";
	return percent >= MEDIUM_PERCENT ? "medium" : "low";
}

struct advice *advice_new(struct advice_results *results, const char *id, double percent,
			  const char *title, const char *remedy)
{
	struct advice *advice, *grown;

	/* The capacity of the list that advice_analyse() allocated is not known: it grows on each call. */
	grown = reallocarray(results->list, (size_t)results->advice_count + GROWTH, sizeof(*grown));
	if (!grown)
		return NULL;
	results->list = grown;
	advice = &grown[results->advice_count++];
	*advice = (struct advice){ .id = id,
				   .pipeline = INDEX_NONE,
				   .severity = severity_of(percent),
				   .gain_percent = percent < 100 ? percent : 100 };
	snprintf(advice->title, sizeof(advice->title), "%s", title);
	snprintf(advice->remedy, sizeof(advice->remedy), "%s", remedy);
	return advice;
}

void advice_cite(struct advice *advice, enum peer_rule_id rule, double value)
{
	for (uint32_t i = 0; i < advice->rule_count; i++)
		if (advice->rules[i].rule == peer_rule(rule))
			return;
	if (advice->rule_count < ADVICE_RULES_MAX)
		advice->rules[advice->rule_count++] =
			(struct peer_rule_hit){ .rule = peer_rule(rule), .value = value };
}

static int by_urgency(const void *a, const void *b)
{
	/* Not the alphabetical order. */
	static const char order[] = "hml";
	const struct advice *x = a, *y = b;
	const char *first = strchr(order, x->severity[0]), *second = strchr(order, y->severity[0]);

	if (first != second)
		return first < second ? -1 : 1;
	return strcmp(x->id, y->id);
}

void advice_sort(struct advice_results *results)
{
	if (results->advice_count)
		qsort(results->list, results->advice_count, sizeof(*results->list), by_urgency);
}
