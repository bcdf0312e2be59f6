/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of other profilers, each at its threshold; urgency and order of advice. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/pipeline/bottleneck.h"
#include "analyzer/analyse/pipeline/peer_rules.h"

/* No rule applies to a value exactly at its threshold, or to NAN. */
static void thresholds(void **state)
{
	for (int i = 0; i < PEER_RULES; i++) {
		const struct peer_rule *rule = peer_rule((enum peer_rule_id)i);
		double way = rule->below ? -INFINITY : INFINITY;

		assert_non_null(rule->id);
		assert_true(*rule->source && *rule->measures);
		assert_false(peer_rule_says((enum peer_rule_id)i, rule->threshold));
		assert_false(peer_rule_says((enum peer_rule_id)i, NAN));
		assert_true(peer_rule_says((enum peer_rule_id)i, nextafter(rule->threshold, way)));
		assert_false(peer_rule_says((enum peer_rule_id)i, nextafter(rule->threshold, -way)));
	}
}

static void urgency(void **state)
{
	static const struct {
		const char *id;
		double percent;
		const char *severity;
	} ADVICE[] = {
		{ "e", 9.99, "low" }, { "d", 10, "medium" }, { "a", BOTTLENECK_HIGH_PERCENT - 0.01, "medium" },
		{ "b", BOTTLENECK_HIGH_PERCENT, "high" }, { "c", 250, "high" }, { "a", 0, "low" },
	};
	/* The most urgent first, equal ones by name. */
	static const uint32_t ORDER[] = { 3, 4, 2, 1, 5, 0 };
	struct advice_results results = { 0 };

	for (size_t i = 0; i < sizeof(ADVICE) / sizeof(ADVICE[0]); i++) {
		struct advice *advice = advice_new(&results, ADVICE[i].id, ADVICE[i].percent, "a title", "a remedy");

		assert_non_null(advice);
		assert_string_equal(advice->severity, ADVICE[i].severity);
		assert_true(advice->gain_percent == (ADVICE[i].percent < 100 ? ADVICE[i].percent : 100));
	}
	advice_sort(&results);
	for (size_t i = 0; i < sizeof(ORDER) / sizeof(ORDER[0]); i++) {
		assert_string_equal(results.list[i].id, ADVICE[ORDER[i]].id);
		assert_string_equal(results.list[i].severity, ADVICE[ORDER[i]].severity);
	}
	advice_free(&results);
}

/* Each rule once, with the first value; no more than there is room for. */
static void cited(void **state)
{
	struct advice advice = { 0 };

	advice_cite(&advice, RULE_HOST_CPU, 90);
	advice_cite(&advice, RULE_HOST_CPU, 95);
	assert_int_equal(advice.rule_count, 1);
	assert_true(advice.rules[0].value == 90);
	for (int i = 0; i < PEER_RULES; i++)
		advice_cite(&advice, (enum peer_rule_id)i, i);
	assert_int_equal(advice.rule_count, ADVICE_RULES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thresholds),
		cmocka_unit_test(urgency),
		cmocka_unit_test(cited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
