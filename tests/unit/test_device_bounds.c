/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of a device's busy time from the host's calls alone: on both sides of each limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/device_bounds.h"
#include "tests/unit/idle_scene.h"

struct fixture {
	struct model *model;
	struct analysis_options options;
	uint32_t main, helper, worker, stranger;
	uint32_t launch, sync, sync_all, copy;
	uint64_t from_ns, to_ns;
};

static void begin(struct fixture *f)
{
	uint32_t process, other;

	*f = (struct fixture){ .model = small_model(0, 1000 * US), .to_ns = 1000 * US };
	process = small_process(f->model, 10, "job", true);
	other = small_process(f->model, 20, "other", false);
	f->main = small_thread(f->model, process, 10, "main");
	f->helper = small_thread(f->model, process, 11, "helper");
	f->worker = small_thread(f->model, process, 12, "worker");
	f->stranger = small_thread(f->model, other, 20, "stranger");
	f->launch = small_function(f->model, "cuda", "cuLaunchKernel", PROFBPF__FUNCTION__KIND__LAUNCH);
	f->sync = small_function(f->model, "cuda", "cuStreamSynchronize", PROFBPF__FUNCTION__KIND__SYNC);
	f->sync_all = small_function(f->model, "cuda", "cuCtxSynchronize", PROFBPF__FUNCTION__KIND__SYNC);
	f->copy = small_function(f->model, "cuda", "cuMemcpyDtoH", PROFBPF__FUNCTION__KIND__COPY);
	f->model->functions.row[f->launch].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
	f->model->functions.row[f->sync].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
}

static struct call *call(struct fixture *f, uint32_t thread, uint32_t function, uint64_t start_us, uint64_t end_us,
			 uint64_t stream)
{
	uint32_t i = small_call(f->model, thread, function, start_us * US, end_us * US);

	f->model->calls.row[i].args[0] = stream;
	return &f->model->calls.row[i];
}

/*
 * Work from 10 us on, a wait for it from 100 to 400 us, asleep, of which the first 50 us are the call's and the last
 * 100 us the notice's; more work from 700 us on: 15 to 70 % busy.
 */
static void work_and_wait(struct fixture *f)
{
	call(f, f->main, f->launch, 10, 11, 0);
	call(f, f->main, f->sync, 100, 400, 0);
	call(f, f->main, f->launch, 700, 701, 0);
}

/* Expects that the device may have been busy for @least_us to @most_us of the 1,000 us. */
static void expect(struct fixture *f, uint32_t least_us, uint32_t most_us)
{
	struct walker *walker;
	struct device_bounds bounds;

	small_index(f->model);
	walker = walker_new(f->model);
	assert_int_equal(device_bounds_find(f->model, walker, f->options.pid_count ? &f->options : NULL, f->from_ns,
					    f->to_ns, &bounds), 0);
	assert_true(bounds.known);
	assert_int_equal((int)(bounds.at_least_percent * 10 + 0.5), least_us);
	assert_int_equal((int)(bounds.at_most_percent * 10 + 0.5), most_us);
	walker_free(walker);
}

static bool known(struct fixture *f)
{
	struct walker *walker;
	struct device_bounds bounds;

	small_index(f->model);
	walker = walker_new(f->model);
	assert_int_equal(device_bounds_find(f->model, walker, NULL, f->from_ns, f->to_ns, &bounds), 0);
	walker_free(walker);
	return bounds.known;
}

static void end(struct fixture *f)
{
	model_free(f->model);
}

/*
 * If the thread whose wake-up ended main's sleep at 400 us belongs to the job, the work was done when that thread was
 * woken at 300 us.
 */
static void news(void **state)
{
	enum { WORKER, STRANGER, TIMER, LOST, ALWAYS_AWAKE, SLEEPS_AGAIN, BEFORE };
	static const struct {
		int who;
		uint32_t least_us;
	} CASES[] = { { WORKER, 50 },	    { STRANGER, 150 },	  { TIMER, 150 }, { LOST, 150 },
		      { ALWAYS_AWAKE, 150 }, { SLEEPS_AGAIN, 50 }, { BEFORE, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		int who = CASES[i].who;
		struct fixture f;

		begin(&f);
		work_and_wait(&f);
		small_span(f.model, f.main, 0, 100 * US, STATE_RUNNING);
		small_sleep(f.model, f.main, 100 * US, 400 * US, FUTEX, who == STRANGER ? f.stranger : f.worker,
			    who == TIMER ? SPAN_WOKEN_TIMER : who == LOST ? SPAN_NO_WAKE : 0);
		small_span(f.model, f.main, 400 * US, 1000 * US, STATE_RUNNING);
		small_sleep(f.model, f.helper, 0, 300 * US, FUTEX, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
		small_span(f.model, f.helper, 300 * US, 1000 * US, STATE_RUNNING);
		if (who == BEFORE)
			small_sleep(f.model, f.worker, 0, 120 * US, FUTEX, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
		else if (who != ALWAYS_AWAKE)
			small_sleep(f.model, f.worker, 0, 300 * US, FUTEX, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
		small_span(f.model, f.worker, who == BEFORE ? 120 * US : who == ALWAYS_AWAKE ? 0 : 300 * US, 400 * US,
			   STATE_RUNNING);
		if (who == SLEEPS_AGAIN)
			small_sleep(f.model, f.worker, 400 * US, 500 * US, FUTEX, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
		if (who == STRANGER)
			small_sleep(f.model, f.stranger, 0, 300 * US, FUTEX, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
		expect(&f, CASES[i].least_us, 700);
		end(&f);
	}
}

/* The shortest call of a function gives the cost of the wait itself: only complete calls of a known function count. */
static void shortest(void **state)
{
	static const struct {
		uint32_t flags;
		uint64_t ns;
		bool unknown;
		uint32_t least_us;
	} CASES[] = {
		{ 0, 10 * US, false, 190 },
		{ 0, 50 * US, false, 150 },
		{ 0, 60 * US, false, 150 },
		{ 0, 10 * US, true, 150 },
		{ MODEL_CALL_INNER, 10 * US, false, 150 },
		{ MODEL_CALL_PART, 10 * US, false, 150 },
		{ MODEL_CALL_NOT_RETURNED, 10 * US, false, 150 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct fixture f;
		uint32_t short_one;

		begin(&f);
		work_and_wait(&f);
		small_sleep(f.model, f.main, 100 * US, 400 * US, FUTEX, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
		/*
		 * A call of a process outside of the job: it gives the cost of a call, and no information about the
		 * job's streams.
		 */
		short_one = small_call(f.model, f.stranger, CASES[i].unknown ? INDEX_NONE : f.sync, 20 * US,
				       20 * US + CASES[i].ns);
		f.model->calls.row[short_one].flags = (uint8_t)CASES[i].flags;
		expect(&f, CASES[i].least_us, 700);
		end(&f);
	}
}

/* The time on a CPU in a synchronous copy counts from the end of its wait for the device on. */
static void copied(void **state)
{
	static const struct {
		const char *function;
		bool waits;
		uint32_t copied_us;
	} CASES[] = { { "cuMemcpyDtoH", true, 150 },
		      { "cuMemcpyDtoH", false, 0 },
		      { "cuMemcpyHtoD", true, 0 },
		      { "cuMemcpyDtoHAsync", true, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct device_bounds bounds;
		struct walker *walker;
		struct fixture f;

		begin(&f);
		f.model->functions.row[f.copy].name = model_string(f.model, CASES[i].function);
		call(&f, f.main, f.launch, 10, 11, 0);
		call(&f, f.main, f.copy, 100, 600, 0);
		small_span(f.model, f.main, 0, 200 * US, STATE_RUNNING);
		if (CASES[i].waits)
			small_sleep(f.model, f.main, 200 * US, 400 * US, FUTEX, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
		else
			small_span(f.model, f.main, 200 * US, 400 * US, STATE_RUNNING);
		small_span(f.model, f.main, 400 * US, 450 * US, STATE_RUNNABLE)->other = f.stranger;
		small_span(f.model, f.main, 450 * US, 1000 * US, STATE_RUNNING);
		small_index(f.model);
		walker = walker_new(f.model);
		assert_int_equal(device_bounds_find(f.model, walker, NULL, 0, 1000 * US, &bounds), 0);
		assert_int_equal(bounds.copied_ns, CASES[i].copied_us * US);
		walker_free(walker);
		end(&f);
	}
}

/* Only the requested part of the time and the requested processes' calls count. */
static void asked_for(void **state)
{
	const uint32_t pids[] = { 10 };
	struct fixture f;
	uint32_t process, other;

	(void)state;
	begin(&f);
	work_and_wait(&f);
	small_sleep(f.model, f.main, 100 * US, 400 * US, FUTEX, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
	/* Calls of a thread that is not traced, and of an unknown thread. */
	call(&f, f.stranger, f.launch, 12, 13, 7);
	f.model->calls.row[f.model->calls.count - 1].flags = 0;
	expect(&f, 150, 700);
	/* A stream of another traced process, unless that process is not requested. */
	process = small_process(f.model, 30, "second", true);
	other = small_thread(f.model, process, 30, "second");
	call(&f, other, f.launch, 12, 13, 7);
	expect(&f, 150, 1000);
	f.options.pids = pids;
	f.options.pid_count = 1;
	expect(&f, 150, 700);
	/* From 200 to 1,200 us: 200 us of the wait less the notice's 100, and the 300 us without work. */
	f.from_ns = 200 * US;
	f.to_ns = 1200 * US;
	expect(&f, 100, 700);
	/* From 500 to 600 us there is no work at all. */
	f.from_ns = 500 * US;
	f.to_ns = 600 * US;
	expect(&f, 0, 0);
	f.to_ns = f.from_ns;
	assert_false(known(&f));
	end(&f);
}

/* Calls that are too short to be recorded: any number of calls that do not submit may be among them. */
static void short_calls(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_false(known(&f));
	work_and_wait(&f);
	assert_true(MODEL_PUSH(&f.model->short_calls, ((struct short_calls){ .function = f.sync, .count = 1 })));
	assert_true(MODEL_PUSH(&f.model->short_calls, ((struct short_calls){ .function = INDEX_NONE, .count = 1 })));
	assert_true(known(&f));
	assert_true(MODEL_PUSH(&f.model->short_calls, ((struct short_calls){ .function = f.launch, .count = 1 })));
	assert_false(known(&f));
	/* Outside of the array's count. */
	f.model->short_calls.count--;
	assert_true(known(&f));
	end(&f);
}

/* 64 streams are distinguished; with one more, no work is known to be done. */
static void many_streams(void **state)
{
	(void)state;
	for (uint64_t count = 64; count <= 65; count++) {
		struct fixture f;

		begin(&f);
		for (uint64_t i = 0; i < count; i++)
			call(&f, f.main, f.launch, 10, 11, i + 1);
		call(&f, f.main, f.sync_all, 100, 400, 0);
		call(&f, f.main, f.launch, 700, 701, 1);
		expect(&f, 0, count == 64 ? 700 : 1000);
		end(&f);
	}
}

/* Work submitted as a wait begins is done when the wait ends; work submitted as it ends is not. */
static void at_one_instant(void **state)
{
	static const struct {
		uint64_t launch_us, wait_from_us, wait_to_us;
		uint32_t most_us;
	} CASES[] = {
		{ 100, 100, 400, 700 },
		{ 101, 100, 400, 1000 },
		{ 400, 100, 400, 1000 },
		/* A wait without duration that begins as work is submitted. */
		{ 400, 400, 400, 1000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct fixture f;

		begin(&f);
		call(&f, f.main, f.launch, 10, 11, 0);
		call(&f, f.main, f.launch, CASES[i].launch_us, CASES[i].launch_us + 1, 0);
		call(&f, f.main, f.launch, 700, 701, 0);
		call(&f, f.worker, f.sync, CASES[i].wait_from_us, CASES[i].wait_to_us, 0);
		expect(&f, 0, CASES[i].most_us);
		end(&f);
	}
}

static void counted(struct fixture *f, uint32_t thread, uint32_t function, uint64_t start_us, uint64_t stream,
		    uint8_t unsure, uint64_t shortest_us)
{
	struct counted_call row = { .call = { .thread = thread, .function = function, .start_ns = start_us * US },
				    .unsure = unsure,
				    .count = 1,
				    .shortest_ns = shortest_us * US };

	row.call.args[0] = stream;
	assert_true(MODEL_PUSH(&f->model->counted_calls, row));
}

/* Adds one more counted call, outside of the array's count. */
static void none_behind(struct fixture *f, uint32_t function, uint64_t start_us, uint64_t stream, uint8_t unsure)
{
	counted(f, f->main, function, start_us, stream, unsure, 1);
	f->model->counted_calls.count--;
}

/* The device has streams if any counted call of the job submits, and this is certain. */
static void counted_streams(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	none_behind(&f, f.launch, 1, 0, 0);
	assert_false(known(&f));
	counted(&f, f.stranger, f.launch, 1, 0, 0, 100);
	none_behind(&f, f.launch, 1, 0, 0);
	assert_false(known(&f));
	counted(&f, f.main, f.launch, 1, 0, COUNTED_THREAD, 100);
	counted(&f, f.main, f.sync, 1, 0, 0, 100);
	assert_false(known(&f));
	counted(&f, f.main, f.launch, 0, 0, 0, 100);
	assert_true(known(&f));
	end(&f);
}

/*
 * A part from 500 us on: counted calls, and calls that reach into the part, show whether earlier work was done by
 * then.
 */
static void begins_idle(void **state)
{
	enum { NOTHING, LAUNCHED_LATER, WAIT_TOO_EARLY, UNSURE_WAIT, OTHER_STREAM, REACHES_IN, AT_ONCE, DONE_AT_ONCE, BEHIND };
	static const struct {
		int what;
		uint32_t most_us; /* of 500 */
	} CASES[] = {
		{ NOTHING, 300 },      { LAUNCHED_LATER, 500 }, { WAIT_TOO_EARLY, 500 }, { UNSURE_WAIT, 500 },
		{ OTHER_STREAM, 500 }, { REACHES_IN, 500 },	{ AT_ONCE, 500 },	 { DONE_AT_ONCE, 300 },
		{ BEHIND, 300 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		int what = CASES[i].what;
		struct fixture f;

		begin(&f);
		f.from_ns = f.model->survey.from_ns = 500 * US;
		f.model->survey.to_ns = 1000 * US;
		counted(&f, f.main, f.launch, 100, 0, 0, 1);
		counted(&f, f.main, f.sync, what == WAIT_TOO_EARLY ? 99 : 100, 0, what == UNSURE_WAIT ? COUNTED_THREAD : 0, 100);
		if (what == LAUNCHED_LATER)
			counted(&f, f.worker, f.launch, 101, 0, 0, 1);
		if (what == OTHER_STREAM)
			counted(&f, f.worker, f.launch, 50, 7, 0, 1);
		if (what == REACHES_IN)
			call(&f, f.main, f.launch, 499, 501, 0);
		if (what == DONE_AT_ONCE) {
			counted(&f, f.worker, f.launch, 150, 0, 0, 1);
			call(&f, f.main, f.sync, 200, 500, 0);
		}
		if (what == AT_ONCE)
			call(&f, f.main, f.launch, 500, 501, 0);
		if (what == BEHIND)
			none_behind(&f, f.launch, 200, 0, 0);
		call(&f, f.main, f.launch, 700, 701, 0);
		/* The same time is twice the share of 500 us. */
		expect(&f, 0, 2 * CASES[i].most_us);
		end(&f);
	}
}

/* A wait outside of the count does not prove that all work is done; nor does a wait of another process. */
static void waits_behind(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	f.from_ns = f.model->survey.from_ns = 500 * US;
	f.model->survey.to_ns = 1000 * US;
	counted(&f, f.main, f.launch, 100, 0, 0, 1);
	none_behind(&f, f.sync, 200, 0, 0);
	call(&f, f.main, f.launch, 700, 701, 0);
	expect(&f, 0, 1000);
	counted(&f, f.main, f.launch, 100, 0, 0, 1);
	counted(&f, f.stranger, f.sync, 200, 0, 0, 100);
	expect(&f, 0, 1000);
	/* There was a wait at an unknown time: it does not count as before the part. */
	counted(&f, f.main, f.sync, 0, 0, 0, 100);
	expect(&f, 0, 1000);
	counted(&f, f.main, f.sync, 200, 0, 0, 100);
	expect(&f, 0, 600);
	end(&f);
}

/* The shortest duration of counted calls is used if they are certainly not nested in others, and complete. */
static void counted_shortest(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	work_and_wait(&f);
	small_sleep(f.model, f.main, 100 * US, 400 * US, FUTEX, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
	counted(&f, f.stranger, f.sync, 1, 0, COUNTED_INSIDE, 10);
	none_behind(&f, f.sync, 1, 0, 0);
	expect(&f, 150, 700);
	counted(&f, f.stranger, f.sync, 1, 0, 0, 10);
	f.model->counted_calls.row[1].call.flags = MODEL_CALL_INNER;
	expect(&f, 150, 700);
	counted(&f, f.stranger, f.sync, 1, 0, COUNTED_THREAD, 20);
	expect(&f, 180, 700);
	end(&f);
}

static bool settled(struct fixture *f)
{
	small_index(f->model);
	return device_bounds_settled(f->model);
}

/*
 * A counted wait that may be nested in another call changes nothing if a certain one was as short, or if it took
 * 50 us.
 */
static void settled_shortest(void **state)
{
	static const struct {
		uint32_t unsure_us;
		uint8_t unsure;
		bool other_function, inner;
		uint8_t sure_unsure;
		uint32_t sure_us; /* 0: none */
		bool settled;
	} CASES[] = {
		{ 49, COUNTED_INSIDE, false, false, 0, 0, false },
		{ 50, COUNTED_INSIDE, false, false, 0, 0, true },
		{ 20, COUNTED_THREAD, false, false, 0, 0, true },
		{ 20, COUNTED_INSIDE, false, false, 0, 20, true },
		{ 20, COUNTED_INSIDE, false, false, 0, 21, false },
		{ 20, COUNTED_INSIDE, true, false, 0, 20, false },
		{ 20, COUNTED_INSIDE, false, true, 0, 20, false },
		{ 20, COUNTED_INSIDE, false, false, COUNTED_INSIDE, 20, false },
		{ 20, COUNTED_INSIDE, false, false, COUNTED_THREAD, 20, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct fixture f;

		begin(&f);
		counted(&f, f.main, f.sync, 0, 0, CASES[i].unsure, CASES[i].unsure_us);
		if (CASES[i].sure_us)
			counted(&f, f.main, CASES[i].other_function ? f.sync_all : f.sync, 0, 0, CASES[i].sure_unsure,
				CASES[i].sure_us);
		if (CASES[i].inner)
			f.model->counted_calls.row[1].call.flags = MODEL_CALL_INNER;
		/* The call outside of the count would change the result if it were read. */
		none_behind(&f, f.sync, 0, 0, CASES[i].settled ? COUNTED_INSIDE : 0);
		if (settled(&f) != CASES[i].settled)
			fail_msg("case %zu", i);
		end(&f);
	}
	for (int launch = 0; launch < 2; launch++) {
		struct fixture f;

		/* The duration of a call that does not wait does not matter. */
		begin(&f);
		counted(&f, f.main, f.launch, 0, 0, 0, 1);
		counted(&f, f.main, launch ? f.launch : f.copy, 0, 0, COUNTED_INSIDE, 10);
		f.model->functions.row[f.copy].roles[1] = PROFBPF__FUNCTION__ROLE__BLOCKING;
		assert_true(settled(&f));
		end(&f);
	}
}

/* A stream for which there are only uncertain counted calls. */
static void settled_streams(void **state)
{
	enum { NONE, SURE, OTHER_STREAM, NO_LAUNCH, UNSURE, UNSURE_TIMED };
	static const struct {
		int what;
		bool settled;
	} CASES[] = {
		{ NONE, false },      { SURE, true },	{ OTHER_STREAM, false },
		{ NO_LAUNCH, false }, { UNSURE, false }, { UNSURE_TIMED, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		int what = CASES[i].what;
		struct fixture f;

		begin(&f);
		counted(&f, f.main, f.launch, what == UNSURE_TIMED ? 100 : 0, 7, COUNTED_THREAD, 1);
		if (what == SURE || what == OTHER_STREAM || what == UNSURE)
			counted(&f, f.main, f.launch, 0, what == OTHER_STREAM ? 8 : 7,
				what == UNSURE ? COUNTED_THREAD : 0, 1);
		if (what == NO_LAUNCH)
			counted(&f, f.main, f.sync, 0, 7, 0, 100);
		none_behind(&f, f.launch, 0, CASES[i].settled ? 9 : 7, CASES[i].settled ? COUNTED_THREAD : 0);
		if (settled(&f) != CASES[i].settled)
			fail_msg("case %zu", i);
		end(&f);
	}
}

/* The last submission, and whether it is done, with and without the uncertain calls. */
static void settled_instants(void **state)
{
	static const struct {
		uint64_t unsure_launch_us, sure_wait_us, unsure_wait_us; /* the certain launch is at 200 us; 0: none */
		bool settled;
	} CASES[] = {
		{ 0, 0, 0, true },	{ 200, 0, 0, true },	{ 201, 0, 0, false },	{ 100, 0, 0, true },
		{ 300, 300, 0, true },	{ 301, 300, 0, false }, { 0, 0, 200, false },	{ 0, 0, 199, true },
		{ 0, 200, 400, true },	{ 300, 0, 400, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct fixture f;

		begin(&f);
		counted(&f, f.main, f.launch, 200, 7, 0, 1);
		if (CASES[i].unsure_launch_us)
			counted(&f, f.main, f.launch, CASES[i].unsure_launch_us, 7, COUNTED_THREAD, 1);
		if (CASES[i].sure_wait_us)
			counted(&f, f.main, f.sync, CASES[i].sure_wait_us, 7, 0, 100);
		if (CASES[i].unsure_wait_us)
			counted(&f, f.main, f.sync, CASES[i].unsure_wait_us, 7, COUNTED_THREAD, 100);
		none_behind(&f, CASES[i].settled ? f.launch : f.sync, 900, 7, CASES[i].settled ? COUNTED_THREAD : 0);
		if (settled(&f) != CASES[i].settled)
			fail_msg("case %zu", i);
		end(&f);
	}
}

/* More streams than can be distinguished: of certain calls, and of uncertain ones. */
static void settled_many(void **state)
{
	(void)state;
	for (uint64_t count = 64; count <= 65; count++) {
		struct fixture f;

		begin(&f);
		for (uint64_t i = 0; i < count; i++)
			counted(&f, f.main, f.launch, 200, i + 1, 0, 1);
		assert_int_equal(settled(&f), count == 64);
		end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(news),		    cmocka_unit_test(copied), cmocka_unit_test(shortest),
		cmocka_unit_test(asked_for),	    cmocka_unit_test(short_calls),
		cmocka_unit_test(many_streams),	    cmocka_unit_test(at_one_instant),
		cmocka_unit_test(counted_streams),  cmocka_unit_test(begins_idle),
		cmocka_unit_test(waits_behind),	    cmocka_unit_test(counted_shortest),
		cmocka_unit_test(settled_shortest), cmocka_unit_test(settled_streams),
		cmocka_unit_test(settled_instants), cmocka_unit_test(settled_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
