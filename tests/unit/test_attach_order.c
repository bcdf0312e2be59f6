/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs that see the end of something are attached before those that see its begin: no CPU stays marked as
 * in an interrupt, and no ioctl counts as lost because its return came too early.
 */
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

/* Returns the program's place in the order in which they are attached; fails the test if there is none. */
static int place_of(const struct bpf_object *object, const char *name)
{
	struct bpf_program *program;
	int place = 0;

	bpf_object__for_each_program(program, object)
	{
		if (strcmp(bpf_program__name(program), name) == 0)
			return place;
		place++;
	}
	fail_msg("no program %s", name);
	return -1;
}

static void expect_order(const struct bpf_object *object, const char *const pairs[][2], size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_true(place_of(object, pairs[i][0]) < place_of(object, pairs[i][1]));
}

static void of_the_gate(void **state)
{
	static const char *const PAIRS[][2] = {
		{ "gate_irq_exit", "gate_irq_entry" },
		{ "gate_softirq_exit", "gate_softirq_entry" },
		{ "gate_timer_exit", "gate_timer_entry" },
	};
	struct gate_programs *programs = gate_programs__open();

	assert_non_null(programs);
	expect_order(programs->obj, PAIRS, sizeof(PAIRS) / sizeof(PAIRS[0]));
	gate_programs__destroy(programs);
}

static void of_a_session(void **state)
{
	static const char *const PAIRS[][2] = {
		{ "on_irq_exit", "on_irq_entry" },
		{ "on_softirq_exit", "on_softirq_entry" },
		{ "on_timer_exit", "on_timer_entry" },
		{ "ioctl_leave_function", "ioctl_enter_function" },
		{ "ioctl_leave_compat", "ioctl_enter_compat" },
		{ "ioctl_leave_kprobe", "ioctl_enter_kprobe" },
		{ "ioctl_leave_kprobe_compat", "ioctl_enter_kprobe_compat" },
		{ "ioctl_leave_tracepoint", "ioctl_enter_tracepoint" },
	};
	struct profbpf *programs = profbpf__open();

	assert_non_null(programs);
	expect_order(programs->obj, PAIRS, sizeof(PAIRS) / sizeof(PAIRS[0]));
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
