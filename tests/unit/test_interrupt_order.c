/* SPDX-License-Identifier: Apache-2.0 */
/* The programs at the exits of interrupts are attached before those at their entries: no CPU stays marked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <bpf/libbpf.h>

#include "bpf/events.h"
#include "bpf/session_maps.h"

#include "bpf/gate_programs.skel.h"
#include "bpf/profbpf.skel.h"

/* Returns the program's place in the order in which libbpf attaches them; fails the test if there is none. */
static int place_of(const struct bpf_object *object, const char *section)
{
	struct bpf_program *program;
	int place = 0;

	bpf_object__for_each_program(program, object)
	{
		if (strcmp(bpf_program__section_name(program), section) == 0)
			return place;
		place++;
	}
	fail_msg("no program of %s", section);
	return -1;
}

static void expect_exits_first(const struct bpf_object *object)
{
	static const char *const PAIRS[][2] = {
		{ "tp_btf/irq_handler_exit", "tp_btf/irq_handler_entry" },
		{ "tp_btf/softirq_exit", "tp_btf/softirq_entry" },
		{ "tp_btf/hrtimer_expire_exit", "tp_btf/hrtimer_expire_entry" },
	};

	for (size_t i = 0; i < sizeof(PAIRS) / sizeof(PAIRS[0]); i++)
		assert_true(place_of(object, PAIRS[i][0]) < place_of(object, PAIRS[i][1]));
}

static void of_the_gate(void **state)
{
	struct gate_programs *programs = gate_programs__open();

	assert_non_null(programs);
	expect_exits_first(programs->obj);
	gate_programs__destroy(programs);
}

static void of_a_session(void **state)
{
	struct profbpf *programs = profbpf__open();

	assert_non_null(programs);
	expect_exits_first(programs->obj);
	profbpf__destroy(programs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_the_gate),
		cmocka_unit_test(of_a_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
