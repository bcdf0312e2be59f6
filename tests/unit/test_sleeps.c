/* SPDX-License-Identifier: Apache-2.0 */
/* The reason of a thread's sleep, and sums of its sleeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/analyse/host/sleep_reason.h"
#include "analyzer/analyse/host/sleeps.h"
#include "tests/unit/small_model.h"

/* System calls of x86-64. */
#define SYS_READ 0
#define SYS_POLL 7
#define SYS_IOCTL 16
#define SYS_NANOSLEEP 35
#define SYS_RECVFROM 45
#define SYS_WAIT4 61
#define SYS_FLOCK 73
#define SYS_FSYNC 74
#define SYS_FUTEX 202
#define SYS_MUNMAP 11

static void reasons(void **state)
{
	static const struct {
		struct span span;
		enum sleep_reason reason;
	} cases[] = {
		{ { .syscall = SYS_FUTEX }, REASON_FUTEX },
		{ { .syscall = SYS_FLOCK }, REASON_LOCK },
		{ { .syscall = SYS_NANOSLEEP }, REASON_SLEEP },
		{ { .syscall = SYS_POLL }, REASON_POLL },
		{ { .syscall = SYS_READ }, REASON_OTHER },
		{ { .syscall = SYS_READ, .flags = SPAN_IOWAIT }, REASON_FILE },
		{ { .syscall = SYS_RECVFROM }, REASON_SOCKET },
		{ { .syscall = SYS_FSYNC }, REASON_FILE },
		{ { .syscall = SYS_WAIT4 }, REASON_CHILD },
		{ { .syscall = SYS_MUNMAP }, REASON_MEMORY },
		{ { .syscall = SYS_IOCTL }, REASON_IOCTL },
		{ { .syscall = -1 }, REASON_OTHER },
		{ { .syscall = -1, .flags = SPAN_IOWAIT }, REASON_FILE },
		{ { .syscall = SYS_FUTEX, .state = STATE_STOPPED }, REASON_STOPPED },
		{ { .syscall = SYS_READ, .flags = SPAN_FAULT }, REASON_PAGE_FAULT },
		{ { .syscall = SYS_READ, .flags = SPAN_FAULT | SPAN_MAJOR_FAULT },
		  REASON_MAJOR_FAULT },
	};
	struct syscall_table *syscalls = syscall_table_new("x86_64");
	struct model *model = small_model(0, 1000);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct span span = cases[i].span;

		span.object = INDEX_NONE;
		if (!span.state)
			span.state = STATE_SLEEP;
		assert_string_equal(sleep_reason_name(sleep_reason(model, syscalls, &span)),
				    sleep_reason_name(cases[i].reason));
	}
	syscall_table_free(syscalls);
	model_free(model);
}

/* A number behind the last one has no name of its own. */
static void kinds_without_name(void **state)
{
	assert_string_equal(sleep_reason_name(REASONS - 1), "other");
	assert_string_equal(sleep_reason_name(REASONS), "other");
	assert_string_equal(sleep_kind_name(SLEEP_OBJECT_KINDS - 1), "child");
	assert_string_equal(sleep_kind_name(SLEEP_OBJECT_KINDS), "unknown");
}

/* A thread that sleeps six times: only equal sleeps are summed up, and only those in the window. */
static void sums_of_what_is_alike(void **state)
{
	const struct analysis_window window = { .from_ns = 1000, .to_ns = 9000 };
	struct model *model = small_model(0, 10000);
	uint32_t process = small_process(model, 1, "job", true);
	uint32_t thread = small_thread(model, process, 1, "job");
	uint32_t waker = small_thread(model, process, 2, "waker");
	struct sleep_sums sums = { 0 };

	small_sleep(model, thread, 100, 1000, SYS_FUTEX, waker, 0); /* ends where the window begins */
	small_sleep(model, thread, 1000, 1200, SYS_FUTEX, waker, 0);
	small_span(model, thread, 1200, 2000, STATE_RUNNING);
	small_sleep(model, thread, 2000, 2500, SYS_FUTEX, waker, 0);
	small_sleep(model, thread, 2500, 2600, SYS_FUTEX, INDEX_NONE, SPAN_WOKEN_TIMER);
	small_sleep(model, thread, 2600, 3600, SYS_READ, waker, 0);
	small_sleep(model, thread, 8500, 9500, SYS_FUTEX, waker, 0); /* not ended within the window */
	small_sleep(model, thread, 9500, 9900, SYS_FUTEX, waker, 0);
	small_index(model);
	assert_true(sleeps_sum(model, &window, thread, &sums));
	assert_int_equal(sums.count, 4);
	assert_int_equal(sums.row[0].syscall, SYS_READ);
	assert_int_equal(sums.row[0].ns, 1000);
	assert_int_equal(sums.row[1].syscall, SYS_FUTEX);
	assert_int_equal(sums.row[1].waker, waker);
	assert_int_equal(sums.row[1].count, 2);
	assert_int_equal(sums.row[1].ns, 700);
	assert_int_equal(sums.row[1].max_ns, 500);
	assert_int_equal(sums.row[2].ns, 500);
	assert_int_equal(sums.row[2].count, 0);
	assert_int_equal(sums.row[2].waker, INDEX_NONE);
	assert_true(sums.row[2].flags & SPAN_NO_WAKE);
	assert_int_equal(sums.row[3].ns, 100);
	assert_int_equal(sums.row[3].waker, INDEX_NONE);
	free(sums.row);
	model_free(model);
}

/* A waker is a name if it was an interrupt, and a thread if it was one. */
static void wakers_and_interrupts(void **state)
{
	const struct analysis_window window = { .from_ns = 0, .to_ns = 10000 };
	struct model *model = small_model(0, 10000);
	uint32_t process = small_process(model, 1, "job", true);
	uint32_t thread = small_thread(model, process, 1, "job");
	uint32_t name = model_string(model, "NET_RX");
	static const uint8_t flags[] = { SPAN_WOKEN_SOFTIRQ, SPAN_WOKEN_HARDIRQ, 0 };
	struct sleep_sums sums = { 0 };

	for (uint64_t i = 0; i < 3; i++)
		small_sleep(model, thread, 1000 * i, 1000 * i + 900 - i, SYS_POLL,
			    flags[i] ? name : thread, flags[i]);
	small_index(model);
	assert_true(sleeps_sum(model, &window, thread, &sums));
	assert_int_equal(sums.count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(sums.row[i].ns, 900 - i);
		assert_int_equal(sums.row[i].interrupt, flags[i] ? name : 0);
		assert_int_equal(sums.row[i].waker, flags[i] ? INDEX_NONE : thread);
	}
	free(sums.row);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons),
		cmocka_unit_test(kinds_without_name),
		cmocka_unit_test(sums_of_what_is_alike),
		cmocka_unit_test(wakers_and_interrupts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
