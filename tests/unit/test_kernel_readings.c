/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's counters as lines of a timeline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/export/kernel_readings.h"
#include "proto/trace.pb-c.h"
#include "tests/unit/small_model.h"

static void add(struct model *model, const char *name, uint32_t cpu, uint8_t unit, uint64_t ts_ns, uint64_t value)
{
	struct counter row = { .ts_ns = ts_ns, .value = value, .name = model_string(model, name), .cpu = cpu, .unit = unit };

	assert_true(MODEL_PUSH(&model->counters, row));
}

static void write_one(void *context, const struct kernel_reading *reading)
{
	char *text = context;

	sprintf(text + strlen(text), "%s%s:%.6g%s@%lu ", reading->is_first ? "|" : "", reading->name, reading->value, reading->unit,
		(unsigned long)reading->start_ns);
}

static void expect(struct model *model, uint64_t from_ns, uint64_t to_ns, const char *wanted)
{
	const struct export_window window = { from_ns, to_ns };
	char text[1024] = "";

	kernel_readings(model, &window, write_one, text);
	assert_string_equal(text, wanted);
}

static void sums_are_shares_of_the_time(void **state)
{
	struct model *model = small_model(1000, 9000);

	add(model, "pressure_cpu_some", INDEX_NONE, PROFBPF__COUNTERS__UNIT__NS_TOTAL, 1000, 500);
	add(model, "pressure_cpu_some", INDEX_NONE, PROFBPF__COUNTERS__UNIT__NS_TOTAL, 3000, 1500);
	add(model, "pressure_cpu_some", INDEX_NONE, PROFBPF__COUNTERS__UNIT__NS_TOTAL, 5000, 2000);
	add(model, "pressure_cpu_some", INDEX_NONE, PROFBPF__COUNTERS__UNIT__NS_TOTAL, 6000, 0);
	add(model, "pressure_cpu_some", INDEX_NONE, PROFBPF__COUNTERS__UNIT__NS_TOTAL, 6000, 0);
	add(model, "pressure_cpu_some", INDEX_NONE, PROFBPF__COUNTERS__UNIT__NS_TOTAL, 7000, 1000);
	expect(model, 0, 9000, "|pressure_cpu_some:50%@1000 pressure_cpu_some:25%@3000 pressure_cpu_some:100%@6000 ");
	/* The value from before the wanted part still applies. */
	expect(model, 4000, 4500, "|pressure_cpu_some:25%@4000 ");
	expect(model, 7500, 9000, "");
	model_free(model);
}

static void each_cpu_has_its_line(void **state)
{
	struct model *model = small_model(1000, 9000);

	add(model, "frequency", 0, PROFBPF__COUNTERS__UNIT__HZ, 1000, 2000000000);
	add(model, "frequency", 0, PROFBPF__COUNTERS__UNIT__HZ, 2000, 3000000000);
	add(model, "frequency", 1, PROFBPF__COUNTERS__UNIT__HZ, 1000, 0);
	add(model, "frequency", 1, PROFBPF__COUNTERS__UNIT__HZ, 2000, 1000);
	add(model, "handles", INDEX_NONE, PROFBPF__COUNTERS__UNIT__NUMBER, 1000, 7);
	expect(model, 0, 9000, "|frequency of CPU 0:2e+09Hz@1000 frequency of CPU 0:3e+09Hz@2000 "
			       "|frequency of CPU 1:0Hz@1000 frequency of CPU 1:1000Hz@2000 |handles:7@1000 ");
	model_free(model);
}

static void what_says_nothing_is_left_out(void **state)
{
	struct model *model = small_model(1000, 9000);

	expect(model, 0, 9000, "");
	add(model, "idle_C1", 0, PROFBPF__COUNTERS__UNIT__NS_TOTAL, 1000, 1);
	add(model, "idle_C1", 0, PROFBPF__COUNTERS__UNIT__NS_TOTAL, 2000, 900);
	add(model, "pressure_io_full", INDEX_NONE, PROFBPF__COUNTERS__UNIT__NS_TOTAL, 1000, 77);
	add(model, "pressure_io_full", INDEX_NONE, PROFBPF__COUNTERS__UNIT__NS_TOTAL, 2000, 77);
	add(model, "zero", INDEX_NONE, PROFBPF__COUNTERS__UNIT__NUMBER, 1000, 0);
	expect(model, 0, 9000, "");
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_shares_of_the_time),
		cmocka_unit_test(each_cpu_has_its_line),
		cmocka_unit_test(what_says_nothing_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
