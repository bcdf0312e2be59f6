/* SPDX-License-Identifier: Apache-2.0 */
/* Triggers on metrics: the values in the text of /metrics at which they fire. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/profbpfd/metrics/metric_watch.h"

#define SECOND 1000000000ull

struct hits {
	size_t count;
	struct metric_hit last;
};

static void note(void *context, const struct metric_hit *hit)
{
	struct hits *hits = context;

	hits->count++;
	hits->last = *hit;
}

static struct trigger parsed(const char *text)
{
	struct trigger trigger;
	char error[512];

	assert_int_equal(trigger_parse(text, &trigger, error, sizeof(error)), 0);
	trigger.id = 1;
	return trigger;
}

/* Returns the number of triggers that fire on "NAME{LABELS} VALUE" at second @at. */
static size_t look(struct metric_watch *watch, const struct trigger *trigger, const char *text, uint64_t at,
		   struct hits *hits)
{
	*hits = (struct hits){ 0 };
	metric_watch_look(watch, trigger, 1, text, at * SECOND, note, hits);
	return hits->count;
}

static void what_is(void **state)
{
	struct trigger trigger = parsed("metric=depth>2");
	struct metric_watch *watch = metric_watch_new();
	struct hits hits;

	(void)state;
	assert_int_equal(look(watch, &trigger, "# TYPE depth gauge\n# HELP depth 9\ndepth 2\n", 1, &hits), 0);
	assert_int_equal(look(watch, &trigger, "depths 7\nthe_depth 8\ndepth 2.5\n# EOF\n", 3, &hits), 1);
	assert_string_equal(hits.last.text, "depth is 2.5, above 2");
	assert_int_equal(hits.last.session, 0);
	assert_int_equal(hits.last.pid, 0);
	/* Once, until the condition has become false. */
	assert_int_equal(look(watch, &trigger, "depth 3\n", 5, &hits), 0);
	assert_int_equal(look(watch, &trigger, "depth 1\n", 7, &hits), 0);
	assert_int_equal(look(watch, &trigger, "depth 3\n", 9, &hits), 1);
	metric_watch_free(watch);
}

static void what_is_below(void **state)
{
	struct trigger trigger = parsed("metric=depth<2");
	struct metric_watch *watch = metric_watch_new();
	struct hits hits;

	(void)state;
	assert_int_equal(look(watch, &trigger, "depth 2\n", 1, &hits), 0);
	assert_int_equal(look(watch, &trigger, "depth 1\n", 3, &hits), 1);
	assert_string_equal(hits.last.text, "depth is 1, below 2");
	metric_watch_free(watch);
}

static void each_series_by_itself(void **state)
{
	struct trigger trigger = parsed("metric=depth>2");
	struct metric_watch *watch = metric_watch_new();
	struct hits hits;

	(void)state;
	assert_int_equal(look(watch, &trigger,
			      "depth{session=\"4\",pid=\"12\",process=\"a {b} c\"} 3\n"
			      "depth{session=\"4\",process=\"x,pid=\\\"9\\\"\",pid=\"13\"} 1\n",
			      1, &hits),
			 1);
	assert_int_equal(hits.last.session, 4);
	assert_int_equal(hits.last.pid, 12);
	assert_string_equal(hits.last.text, "process 12: depth is 3, above 2");
	assert_int_equal(look(watch, &trigger,
			      "depth{session=\"4\",pid=\"12\",process=\"a {b} c\"} 3\n"
			      "depth{session=\"4\",process=\"x,pid=\\\"9\\\"\",pid=\"13\"} 5\n",
			      3, &hits),
			 1);
	assert_int_equal(hits.last.pid, 13);
	metric_watch_free(watch);
}

/* Counters: by their growth per second. */
static void what_grows(void **state)
{
	struct trigger trigger = parsed("metric=faults_total>100");
	struct metric_watch *watch = metric_watch_new();
	struct hits hits;

	(void)state;
	assert_int_equal(look(watch, &trigger, "faults_total 1000000\n", 10, &hits), 0);
	assert_int_equal(look(watch, &trigger, "faults_total 1000200\n", 12, &hits), 0);
	assert_int_equal(look(watch, &trigger, "faults_total 1000403\n", 14, &hits), 1);
	assert_string_equal(hits.last.text, "faults_total grows by 101.5 a second, above 100");
	/* The counter restarts, is absent once, and returns: no growth is known for these intervals. */
	assert_int_equal(look(watch, &trigger, "faults_total 5\n", 16, &hits), 0);
	assert_int_equal(look(watch, &trigger, "", 18, &hits), 0);
	assert_int_equal(look(watch, &trigger, "faults_total 90000\n", 20, &hits), 0);
	assert_int_equal(look(watch, &trigger, "faults_total 91000\n", 22, &hits), 1);
	metric_watch_free(watch);
}

/* Triggers of other kinds are ignored. */
static void other_triggers(void **state)
{
	struct trigger trigger = parsed("signal");
	struct metric_watch *watch = metric_watch_new();
	struct hits hits;

	(void)state;
	assert_int_equal(look(watch, &trigger, "signal 3\n 4\nx\n\n", 1, &hits), 0);
	metric_watch_free(watch);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is),   cmocka_unit_test(what_is_below),  cmocka_unit_test(each_series_by_itself),
		cmocka_unit_test(what_grows), cmocka_unit_test(other_triggers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
