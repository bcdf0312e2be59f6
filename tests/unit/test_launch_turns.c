/* SPDX-License-Identifier: Apache-2.0 */
/* How long a device works at most, by the launches that calls had to wait for: on both sides of each limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/launch_turns.h"
#include "tests/unit/idle_scene.h"

#define MOMENTS 256

struct turns_scene {
	struct model *model;
	uint32_t main, helper, stranger;
	uint32_t launch, wait, other_wait;
	struct host_moment moments[MOMENTS];
	uint32_t count;
	uint64_t now_us;
};

static void begin(struct turns_scene *s)
{
	uint32_t process, other;

	*s = (struct turns_scene){ .model = small_model(0, 1000000 * US) };
	process = small_process(s->model, 10, "job", true);
	other = small_process(s->model, 20, "other", true);
	s->main = small_thread(s->model, process, 10, "main");
	s->helper = small_thread(s->model, process, 11, "helper");
	s->stranger = small_thread(s->model, other, 20, "stranger");
	s->launch = small_function(s->model, "cuda", "cuLaunchKernel", PROFBPF__FUNCTION__KIND__LAUNCH);
	s->wait = small_function(s->model, "cuda", "cuEventSynchronize", PROFBPF__FUNCTION__KIND__SYNC);
	s->other_wait = small_function(s->model, "cuda", "cuCtxSynchronize", PROFBPF__FUNCTION__KIND__SYNC);
}

static void add(struct turns_scene *s, uint32_t thread, uint32_t function, bool waits, bool waited)
{
	uint32_t call = small_call(s->model, thread, function, s->now_us * US, s->now_us * US + 1);

	s->moments[s->count++] = (struct host_moment){
		.ts_ns = s->now_us * US, .call = call, .waits = waits, .waited_ns = waited ? US : 0
	};
}

/* @count turns that take @us each, with one launch at their beginning. */
static void turns(struct turns_scene *s, uint32_t count, uint64_t us, bool waited)
{
	while (count-- > 0) {
		add(s, s->main, s->launch, false, false);
		s->now_us += us;
		add(s, s->main, s->wait, true, waited);
	}
}

static void expect(struct turns_scene *s, uint64_t busy_us)
{
	uint64_t end_ns = s->now_us * US, busy_ns;

	/* What is behind the last moment is not one of them. */
	s->now_us += 1000;
	add(s, s->stranger, s->wait, true, true);
	busy_ns = launch_turns_busy(s->model, s->moments, s->count - 1, 0, end_ns);
	assert_int_equal(busy_ns / US, busy_us);
	model_free(s->model);
}

/* A launch of which the host did not hear for 5,000 us takes 100 us, as the others; without enough others it may take 5,000. */
static void alike(void **state)
{
	static const struct {
		uint32_t measured, unheard;
		uint64_t busy_us;
	} CASES[] = {
		/* The first turn ends the unknown beginning; then two turns of at most 100 us each in 5,100 us. */
		{ TURNS_MIN, 1, 100 + TURNS_MIN * 100 + 200 },
		{ TURNS_MIN - 1, 1, 100 + (TURNS_MIN - 1) * 100 + 5100 },
		/* As many as were measured, in stretches of two turns. */
		{ TURNS_MIN, 15, 100 + TURNS_MIN * 100 + 1600 },
		{ TURNS_MIN, 16, 100 + TURNS_MIN * 100 + 16 * 5000 + 100 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct turns_scene s;

		begin(&s);
		turns(&s, 1 + CASES[i].measured, 100, true);
		turns(&s, CASES[i].unheard, 5000, false);
		turns(&s, 1, 100, true);
		expect(&s, CASES[i].busy_us);
	}
}

/* The work never takes longer than the time, and the longest measured turn is what others may take. */
static void longest(void **state)
{
	struct turns_scene s;

	(void)state;
	begin(&s);
	turns(&s, TURNS_MIN, 100, true);
	turns(&s, 1, 400, true);
	turns(&s, 1, 300, false);
	turns(&s, 1, 100, true);
	turns(&s, 1, 5000, false);
	turns(&s, 1, 100, true);
	expect(&s, TURNS_MIN * 100 + 400 + 400 + 800);
}

/* The host did not hear of one launch for 5,000 us, then waited: for longer than two turns take, that launch was unlike. */
static void waited_long(void **state)
{
	static const struct {
		uint64_t waited_us, busy_us;
	} CASES[] = { { 200, 200 }, { 201, 5300 } };

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct turns_scene s;

		begin(&s);
		turns(&s, 1 + TURNS_MIN, 100, true);
		turns(&s, 1, 5000, false);
		turns(&s, 1, 300, true);
		s.moments[s.count - 1].waited_ns = CASES[i].waited_us * US;
		expect(&s, (1 + TURNS_MIN) * 100 + CASES[i].busy_us);
	}
}

/* After the last call that waited the device may be busy to the end. */
static void tail(void **state)
{
	struct turns_scene s;

	(void)state;
	begin(&s);
	turns(&s, 1 + TURNS_MIN, 100, true);
	turns(&s, 2, 5000, false);
	expect(&s, (1 + TURNS_MIN) * 100 + 10000);
}

/* What makes a turn, or the whole job, unlike the measured ones. */
static void unlike(void **state)
{
	enum { NOTHING, MORE_LAUNCHES, NO_LAUNCH, OTHER_PROCESS, OTHER_THREAD, FEW_OTHER_WAITS, LESS_THAN_HALF,
	       HALF };
	static const struct {
		int what;
		uint64_t unheard_us; /* of the last 5,100 us */
	} CASES[] = { { NOTHING, 200 },	       { MORE_LAUNCHES, 5100 }, { NO_LAUNCH, 200 },	   { OTHER_PROCESS, 5100 },
		      { OTHER_THREAD, 5100 }, { FEW_OTHER_WAITS, 200 }, { LESS_THAN_HALF, 200 },
		      { HALF, 5100 } };
	static const int OTHER_WAITS[] = {
		[FEW_OTHER_WAITS] = 3, [LESS_THAN_HALF] = TURNS_MIN + 1, [HALF] = TURNS_MIN + 2,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct turns_scene s;
		int what = CASES[i].what;

		begin(&s);
		turns(&s, 1 + TURNS_MIN, 100, true);
		if (what == MORE_LAUNCHES)
			add(&s, s.main, s.launch, false, false);
		if (what == NO_LAUNCH)
			add(&s, s.main, s.wait, true, false);
		if (what == OTHER_PROCESS)
			add(&s, s.stranger, s.launch, false, false);
		if (what == OTHER_THREAD)
			add(&s, s.helper, s.wait, true, false);
		turns(&s, 1, 5000, false);
		turns(&s, 1, 100, true);
		for (int k = 0; k < OTHER_WAITS[what]; k++)
			add(&s, s.main, s.other_wait, true, true);
		expect(&s, (1 + TURNS_MIN) * 100 + CASES[i].unheard_us);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alike),
		cmocka_unit_test(longest),
		cmocka_unit_test(waited_long),
		cmocka_unit_test(tail),
		cmocka_unit_test(unlike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
