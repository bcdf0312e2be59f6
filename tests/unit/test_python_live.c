/* SPDX-License-Identifier: Apache-2.0 */
/* What BPF programs are told of a process's Python threads. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/profbpfd/interpreters/python/python_live.h"

#define TIDS 2048

static struct {
	uint64_t state[TIDS]; /* by tid; 0 = none */
	size_t told;
	struct python_layout layout;
	bool has_layout;
} programs;

void interpreted_layout(struct interpreted *process, const struct python_layout *layout)
{
	(void)process;
	programs.has_layout = layout != NULL;
	if (layout)
		programs.layout = *layout;
}

void interpreted_state(struct interpreted *process, uint32_t tid, uint64_t state)
{
	(void)process;
	assert_in_range(tid, 1, TIDS - 1);
	programs.state[tid] = state;
	programs.told++;
}

static size_t published(void)
{
	size_t count = 0;

	for (size_t i = 0; i < TIDS; i++)
		count += programs.state[i] != 0;
	return count;
}

static struct python_live *begin(void)
{
	static struct interpreted process;
	struct python_live *live;

	memset(&programs, 0, sizeof(programs));
	live = python_live_new(&process, python_offsets_at(0), 0x1000);
	assert_non_null(live);
	return live;
}

static void layout_is_published(void **unused)
{
	const struct python_offsets *offsets = python_offsets_at(0);
	struct python_live *live = begin();

	(void)unused;
	assert_true(programs.has_layout);
	assert_int_equal(programs.layout.state_id, offsets->thread_id);
	assert_int_equal(programs.layout.frame_code, offsets->frame_code);
	assert_int_equal(programs.layout.lock, 0x1000);
	python_live_forget(live);
	assert_false(programs.has_layout);
	python_live_free(live);
}

static void threads_come_and_go(void **unused)
{
	struct python_live *live = begin();

	(void)unused;
	python_live_thread(live, 7, 0x700);
	python_live_thread(live, 8, 0x800);
	python_live_thread(live, 9, 0x900);
	python_live_looked(live);
	assert_int_equal(programs.told, 3);
	/* Nothing has changed but that 8 has ended, and 9 has another state. */
	python_live_thread(live, 7, 0x700);
	python_live_thread(live, 9, 0x990);
	python_live_looked(live);
	assert_int_equal(programs.told, 5);
	assert_int_equal(programs.state[7], 0x700);
	assert_int_equal(programs.state[8], 0);
	assert_int_equal(programs.state[9], 0x990);
	/* A new thread has the number of an old one. */
	python_live_thread(live, 7, 0x700);
	python_live_thread(live, 8, 0x880);
	python_live_looked(live);
	assert_int_equal(programs.state[8], 0x880);
	assert_int_equal(programs.state[9], 0);
	python_live_forget(live);
	assert_int_equal(published(), 0);
	python_live_free(live);
}

static void too_many_threads_are_left_out(void **unused)
{
	struct python_live *live = begin();

	(void)unused;
	for (uint32_t tid = 1; tid <= PYTHON_THREADS_MAX + 10; tid++)
		python_live_thread(live, tid, tid * 16);
	assert_int_equal(published(), PYTHON_THREADS_MAX);
	python_live_looked(live);
	assert_int_equal(published(), PYTHON_THREADS_MAX);
	python_live_looked(live);
	assert_int_equal(published(), 0);
	python_live_free(live);
}

/* For the versions that do not store the number of the thread themselves. */
static void c_library_has_the_tid(void **unused)
{
	pid_t tid;

	(void)unused;
	memcpy(&tid, (const char *)pthread_self() + PYTHON_TID_IN_PTHREAD, sizeof(tid));
	assert_int_equal(tid, gettid());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout_is_published),
		cmocka_unit_test(threads_come_and_go),
		cmocka_unit_test(too_many_threads_are_left_out),
		cmocka_unit_test(c_library_has_the_tid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
