/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict on programs whose main thread is not what they are about, or that wait without sleeping. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/lock_turns.h"
#include "tests/unit/verdict_scene.h"

/* main waits in vain while two threads of a pool compute; the functions of a virtual machine have no names. */
static void pool_computes(void **state)
{
	static const struct {
		const char *exe, *thread, *but;
	} programs[] = {
		{ "/opt/jdk/bin/java", "pool", "but      Java's functions have no names here: run jcmd 100 Compiler.perfmap" },
		{ "/opt/server", "VM Periodic Tas", "but      Java's functions have no names here" },
		{ "/usr/bin/node", "pool", "but      JavaScript's functions have no names here: start node with" },
		{ "/usr/bin/nodes", "pool", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		struct verdict_scene f;
		struct model *model;
		uint32_t first, second;

		verdict_begin(&f);
		model = f.scene.model;
		model->processes.row[f.scene.process].exe = model_string(model, programs[i].exe);
		small_thread(model, f.scene.process, 400, programs[i].thread);
		first = small_thread(model, f.scene.process, 401, "pool-1");
		second = small_thread(model, f.scene.process, 402, "pool-2");
		small_sleep(model, f.scene.main, 0, 1000 * US, FUTEX, INDEX_NONE, SPAN_NO_WAKE);
		small_span(model, first, 0, 1000 * US, STATE_RUNNING);
		small_span(model, second, 0, 800 * US, STATE_RUNNING);
		small_sleep(model, second, 800 * US, 1000 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
		assert_true(MODEL_PUSH(&model->code_frames, ((struct code_frame){ .file = INDEX_NONE,
				.kind = PROFBPF__STACKS__KIND__USER })));
		assert_true(MODEL_PUSH(&model->stack_frames, 0));
		assert_true(MODEL_PUSH(&model->code_stacks, ((struct code_stack){ 0, 1 })));
		assert_true(MODEL_PUSH(&model->stack_samples, ((struct stack_sample){ .thread = first, .ts_ns = US })));
		verdict_judge_waits(&f);
		verdict_expect(&f, VERDICT_HEALTHY, 100);
		verdict_says(&f, "Healthy: the busiest thread pool-1 401 is at work for 100.0 % of the time");
		verdict_says(&f, "The main thread only waits; 2 threads like this one compute, on average for 90.0 % of the "
				 "time: pool-1 401, pool-2 402.");
		verdict_says(&f, "root     pool-1 401: code without a name;");
		if (programs[i].but)
			verdict_says(&f, programs[i].but);
		else
			verdict_says_not(&f, "but");
		verdict_end(&f);
	}
}

/* main runs in an OpenMP region until @until_us: @in_library of its 10 samples are in the library, others in a function. */
static void run_region(struct verdict_scene *f, uint64_t in_library, uint64_t until_us)
{
	enum { LIBRARY, PART, REGION, FRAMES };
	static const char *const names[FRAMES] = { NULL, "part", "GOMP_parallel" };
	/* In the library itself, in a function called by it. */
	static const uint32_t stacks[2][2] = { { LIBRARY, REGION }, { PART, LIBRARY } };
	struct model *model = f->scene.model;

	assert_true(MODEL_PUSH(&model->code_files,
			       ((struct code_file){ .path = model_string(model, "/usr/lib/libgomp.so.1.0.0") })));
	for (uint32_t i = 0; i < FRAMES; i++)
		assert_true(MODEL_PUSH(&model->code_frames, ((struct code_frame){
			.name = names[i] ? model_string(model, names[i]) : 0,
			.file = i == PART ? INDEX_NONE : 0, .kind = PROFBPF__STACKS__KIND__USER })));
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(MODEL_PUSH(&model->stack_frames, stacks[i][0]));
		assert_true(MODEL_PUSH(&model->stack_frames, stacks[i][1]));
		assert_true(MODEL_PUSH(&model->code_stacks, ((struct code_stack){ 2 * i, 2 })));
	}
	for (uint64_t i = 0; i < 10; i++)
		assert_true(MODEL_PUSH(&model->stack_samples, ((struct stack_sample){
			.thread = f->scene.main, .ts_ns = (1 + i) * US, .stack = i >= in_library })));
	small_span(model, f->scene.main, 0, until_us * US, STATE_RUNNING);
}

static void spins(void **state)
{
	(void)state;
	for (uint64_t in_library = 4; in_library <= 6; in_library += 2) {
		struct verdict_scene f;

		verdict_begin(&f);
		run_region(&f, in_library, 1000);
		verdict_judge_waits(&f);
		verdict_expect(&f, in_library >= 5 ? VERDICT_HOST_CODE : VERDICT_HEALTHY, in_library >= 5 ? 60 : 100);
		if (in_library >= 5) {
			verdict_says(&f, "main thread main 100 waits for 60.0 % of the time for it, most of all on CPU outside of "
					 "runtime calls: waiting for other threads by spinning.");
			verdict_says(&f, "root     main 100: waiting for other threads by spinning in libgomp.so.1.0.0, called by "
					 "GOMP_parallel; user_code, 60.0 % of the time");
			verdict_says(&f, "OMP_NUM_THREADS");
		} else {
			verdict_says_not(&f, "spinning");
		}
		verdict_end(&f);
	}
}

/* A second job in the recording works for longer than main spins: its work is not what main waits for. */
static void spins_beside_a_job(void **state)
{
	struct verdict_scene f;
	struct model *model;

	(void)state;
	verdict_begin(&f);
	model = f.scene.model;
	run_region(&f, 6, 900);
	small_sleep(model, f.scene.main, 900 * US, 1000 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
	small_span(model, small_thread(model, small_process(model, 300, "other", true), 300, "other"), 0, 1000 * US,
		   STATE_RUNNING);
	verdict_judge_waits(&f);
	verdict_expect(&f, VERDICT_HOST_CODE, 32);
	assert_int_equal(f.verdict.idle.most->root.thread, f.scene.main);
	verdict_says(&f, "root     main 100: waiting for other threads by spinning in libgomp.so.1.0.0");
	verdict_end(&f);
}

/* Of @thread's 10 samples @in_call are in a call of MPI, below a function that gives up the CPU. */
static void sample_rank(struct verdict_scene *f, uint32_t thread, uint64_t in_call)
{
	struct model *model = f->scene.model;

	for (uint64_t i = 0; i < 10; i++)
		assert_true(MODEL_PUSH(&model->stack_samples, ((struct stack_sample){
			.thread = thread, .ts_ns = (1 + i) * US, .stack = i >= in_call })));
}

/* Adds three ranks of MPI, the first of which started the others, and the two stacks of their samples. */
static void add_ranks(struct verdict_scene *f, uint32_t *ranks)
{
	static const char *const names[] = { "do_sched_yield", "MPI_Allreduce_c", "part" };
	struct model *model = f->scene.model;

	for (uint32_t i = 0; i < 3; i++) {
		assert_true(MODEL_PUSH(&model->code_frames, ((struct code_frame){
			.name = model_string(model, names[i]), .file = INDEX_NONE,
			.kind = i ? PROFBPF__STACKS__KIND__USER : PROFBPF__STACKS__KIND__KERNEL })));
		assert_true(MODEL_PUSH(&model->stack_frames, i));
	}
	assert_true(MODEL_PUSH(&model->code_stacks, ((struct code_stack){ 0, 2 })));
	assert_true(MODEL_PUSH(&model->code_stacks, ((struct code_stack){ 2, 1 })));
	model->processes.row[f->scene.process].name = model_string(model, "rank");
	ranks[0] = f->scene.main;
	for (uint32_t i = 1; i < 3; i++) {
		uint32_t process = small_process(model, 300 + i, "rank", true);

		ranks[i] = small_thread(model, process, 300 + i, "rank");
		model->processes.row[process].parent_pid = 100;
	}
}

/*
 * Three ranks of MPI, the first of which started the others and spins like the second, while the third sleeps or
 * works. Does the verdict say what that one does?
 */
static void last_of_ranks(void **state)
{
	enum { SLEEPS, WORKS, ALL_SPIN, OTHER_PROGRAM, CASES };

	(void)state;
	for (int what = 0; what < CASES; what++) {
		struct verdict_scene f;
		struct model *model;
		uint32_t ranks[3];

		verdict_begin(&f);
		model = f.scene.model;
		add_ranks(&f, ranks);
		if (what == OTHER_PROGRAM)
			model->processes.row[model->threads.row[ranks[2]].process].name = model_string(model, "helper");
		for (uint32_t i = 0; i < 2; i++)
			small_span(model, ranks[i], 0, 1000 * US, STATE_RUNNING);
		small_span(model, ranks[2], 0, (what == SLEEPS ? 200 : 1000) * US, STATE_RUNNING);
		if (what == SLEEPS)
			small_sleep(model, ranks[2], 200 * US, 1000 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
		sample_rank(&f, ranks[0], 8);
		sample_rank(&f, ranks[1], 7);
		sample_rank(&f, ranks[2], what == ALL_SPIN ? 6 : 0);
		verdict_judge_waits(&f);
		verdict_expect(&f, VERDICT_HOST_CODE, 80);
		if (what >= ALL_SPIN) {
			verdict_says(&f, "main thread main 100 waits for 80.0 % of the time for it");
			verdict_says(&f, "root     main 100: waiting for other ranks in MPI");
			verdict_says(&f, "do       All ranks wait for the one that comes last to the call");
		} else {
			assert_string_equal(waits_why_name(f.waits.why), "last");
			verdict_says(&f, "code: the others wait for rank 302, where it takes 80.0 % of the time, most of all ");
			verdict_says(&f, what == SLEEPS ? "root     rank 302: nanosleep; sleep, 80.0 %"
							: "root     rank 302: part; user_code");
		}
		verdict_end(&f);
	}
}

/* Three ranks that work all the time: @last waits in MPI for that many of 10 samples, the others for @others. */
static void judge_ranks(struct verdict_scene *f, uint64_t others, uint64_t last)
{
	uint32_t ranks[3];

	verdict_begin(f);
	add_ranks(f, ranks);
	for (uint32_t i = 0; i < 3; i++) {
		small_span(f->scene.model, ranks[i], 0, 1000 * US, STATE_RUNNING);
		sample_rank(f, ranks[i], i < 2 ? others : last);
	}
	verdict_judge_waits(f);
}

/* A rank with less than half of its samples in MPI waits, too: nobody is last if the others hardly wait more. */
static void no_last_rank(void **state)
{
	struct verdict_scene f;

	(void)state;
	for (uint64_t others = 5; others <= 6; others++) {
		judge_ranks(&f, others, 4);
		assert_string_equal(waits_why_name(f.waits.why), "main");
		verdict_expect(&f, VERDICT_HOST_CODE, 10 * (double)others);
		verdict_says(&f, "root     main 100: waiting for other ranks in MPI");
		verdict_end(&f);
	}
}

/* Three ranks: the third waits for a CPU while the others wait for it in MPI. */
static void last_rank_without_cpu(void **state)
{
	struct verdict_scene f;
	uint32_t ranks[3];

	(void)state;
	verdict_begin(&f);
	add_ranks(&f, ranks);
	for (uint32_t i = 0; i < 3; i++) {
		small_span(f.scene.model, ranks[i], 0, (i < 2 ? 1000 : 200) * US, STATE_RUNNING);
		sample_rank(&f, ranks[i], i < 2 ? 8 : 0);
	}
	small_span(f.scene.model, ranks[2], 200 * US, 1000 * US, STATE_RUNNABLE)->other = f.scene.outsider;
	verdict_judge_waits(&f);
	verdict_expect(&f, VERDICT_CPU, 80);
	verdict_says(&f, "CPUs: the rank that the others wait for (rank 302) is held up for 80.0 % of the time");
	verdict_end(&f);
}

/* What the last rank waits in MPI itself is no time that it costs the others, and these waits are not its root. */
static void last_rank_waits_too(void **state)
{
	struct verdict_scene f;

	(void)state;
	judge_ranks(&f, 9, 4);
	assert_string_equal(waits_why_name(f.waits.why), "last");
	verdict_expect(&f, VERDICT_HOST_CODE, 50);
	verdict_says(&f, "root     rank 302: part; user_code");
	verdict_end(&f);
	judge_ranks(&f, 10, 5);
	assert_string_equal(waits_why_name(f.waits.why), "last");
	verdict_expect(&f, VERDICT_HOST_CODE, 50);
	assert_null(f.verdict.idle.most);
	verdict_says_not(&f, "waiting for other ranks");
	verdict_says(&f, "Give the other ranks a part of the work");
	verdict_end(&f);
}

/* A server waits for clients while a child works for one, or nobody does. */
static void fork_server(void **state)
{
	(void)state;
	for (int works = 0; works < 2; works++) {
		struct verdict_scene f;
		struct model *model;
		uint32_t child;

		verdict_begin(&f);
		model = f.scene.model;
		child = small_process(model, 300, "backend", true);
		model->processes.row[child].parent_pid = 100;
		small_sleep(model, f.scene.main, 0, 1000 * US, ACCEPT, INDEX_NONE, SPAN_NO_WAKE);
		if (works)
			small_span(model, small_thread(model, child, 300, "backend"), 0, 1000 * US, STATE_RUNNING);
		verdict_judge_waits(&f);
		if (works)
			verdict_says(&f, "Healthy: the busiest thread backend 300 is at work for 100.0 % of the time");
		else
			verdict_says(&f, "main thread main 100 waits for 100.0 % of the time, and no event arrived");
		verdict_end(&f);
	}
}

/* main waits for a thread of its process that collects garbage: that is no help with its work. */
static void garbage(void **state)
{
	struct verdict_scene f;
	struct model *model;

	(void)state;
	verdict_begin(&f);
	model = f.scene.model;
	small_span(model, f.scene.main, 0, 700 * US, STATE_RUNNING);
	small_sleep(model, f.scene.main, 700 * US, 1000 * US, FUTEX, f.scene.worker, 0);
	small_span(model, f.scene.worker, 0, 1000 * US, STATE_RUNNING);
	assert_true(MODEL_PUSH(&model->code_frames, ((struct code_frame){
		.name = model_string(model, "runtime.gcDrain"), .file = INDEX_NONE, .kind = PROFBPF__STACKS__KIND__USER })));
	assert_true(MODEL_PUSH(&model->stack_frames, 0));
	assert_true(MODEL_PUSH(&model->code_stacks, ((struct code_stack){ 0, 1 })));
	for (uint64_t i = 0; i < 8; i++)
		assert_true(MODEL_PUSH(&model->stack_samples,
				       ((struct stack_sample){ .thread = f.scene.worker, .ts_ns = (800 + i) * US })));
	verdict_judge_waits(&f);
	verdict_expect(&f, VERDICT_HOST_CODE, 30);
	verdict_says(&f, "root     worker 101: Go's garbage collection in runtime.gcDrain <- main 100");
	verdict_says(&f, "do       Make fewer objects in the loop (sync.Pool");
	verdict_end(&f);
}

/*
 * The rounds of 100 us in which @thread works, every other one, and those in which it waits for a futex until @other ends.
 * @early_us: it waits that much less, and works on.
 */
static void take_turns(struct model *model, uint32_t thread, uint32_t other, uint64_t rounds, uint64_t first, uint32_t object,
		       uint64_t early_us)
{
	for (uint64_t i = 0; i < 2 * rounds; i++) {
		if (i % 2 == first) {
			small_span(model, thread, i * 100 * US, (i + 1) * 100 * US, STATE_RUNNING);
			continue;
		}
		small_sleep(model, thread, i * 100 * US, ((i + 1) * 100 - early_us) * US, FUTEX, other, 0);
		model->spans.row[model->spans.count - 1].object = object;
		if (early_us)
			small_span(model, thread, ((i + 1) * 100 - early_us) * US, (i + 1) * 100 * US, STATE_RUNNING);
	}
}

/* Under a lock more threads do not help. Stages that wait for different things are no lock, nor are threads that run at once. */
static void locks(void **state)
{
	static const struct {
		const char *names[2];
		uint64_t rounds;
		bool same, lock;
		uint64_t early_us;
	} tries[] = {
		{ { "pool-1", "pool-2" }, 4, false, true }, /* a futex for each thread */
		{ { "job", "job" }, 4, true, true },	    { { "job", "job" }, 4, false, false },
		{ { "reader", "writer" }, 4, true, false }, { { "pool-1", "pool-2" }, 2, true, false },
		{ { "pool-1", "pool-2" }, 4, false, true, 20 },
		{ { "pool-1", "pool-2" }, 4, false, false, 40 }, /* they mostly work at once */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
		struct verdict_scene f;
		struct model *model;
		uint32_t first, second;

		verdict_begin(&f);
		model = f.scene.model;
		for (uint64_t k = 0; k < 2; k++)
			assert_true(MODEL_PUSH(&model->sleep_objects, ((struct sleep_object){
				.kind = PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, .object = 0x1000 * (k + 1) })));
		assert_true(MODEL_PUSH(&model->code_frames, ((struct code_frame){
			.name = model_string(model, "insert"), .file = INDEX_NONE, .kind = PROFBPF__STACKS__KIND__USER })));
		assert_true(MODEL_PUSH(&model->stack_frames, 0));
		assert_true(MODEL_PUSH(&model->code_stacks, ((struct code_stack){ 0, 1 })));
		first = small_thread(model, f.scene.process, 401, tries[i].names[0]);
		second = small_thread(model, f.scene.process, 402, tries[i].names[1]);
		small_sleep(model, f.scene.main, 0, 1000 * US, FUTEX, INDEX_NONE, SPAN_NO_WAKE);
		take_turns(model, first, second, tries[i].rounds, 0, 0, tries[i].early_us);
		take_turns(model, second, first, tries[i].rounds, 1, !tries[i].same, tries[i].early_us);
		for (uint64_t k = 0; k < 10; k++)
			assert_true(MODEL_PUSH(&model->stack_samples, ((struct stack_sample){
				.thread = k % 2 ? second : first, .ts_ns = (100 * k + 50) * US })));
		verdict_judge_waits(&f);
		if (tries[i].lock)
			verdict_says(&f, "on CPU outside of runtime calls, in threads that take turns, as under a lock. ");
		if (tries[i].lock)
			verdict_says(&f, "do       Threads take turns in insert, as under a lock");
		else
			verdict_says_not(&f, "lock");
		verdict_end(&f);
	}
}

/* A few short waits for each other in a long time are no taking of turns. */
static void few_turns(void **state)
{
	(void)state;
	for (int rest_ms = 39; rest_ms <= 40; rest_ms++) {
		struct verdict_scene f;
		struct model *model;
		uint32_t threads[2];

		verdict_begin(&f);
		model = f.scene.model;
		assert_true(MODEL_PUSH(&model->sleep_objects,
				       ((struct sleep_object){ .kind = PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, .object = 0x1000 })));
		threads[0] = small_thread(model, f.scene.process, 401, "job");
		threads[1] = small_thread(model, f.scene.process, 402, "job");
		for (int i = 0; i < 2; i++) {
			take_turns(model, threads[i], threads[!i], 4, (uint64_t)i, 0, 0);
			small_sleep(model, threads[i], 800 * US, (800 + 1000 * (uint64_t)rest_ms) * US, FUTEX, INDEX_NONE,
				    SPAN_NO_WAKE);
		}
		verdict_judge_waits(&f);
		assert_int_equal(lock_turns_between(model, threads[0], threads[1]), rest_ms == 39);
		verdict_end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pool_computes),
		cmocka_unit_test(garbage),
		cmocka_unit_test(spins),
		cmocka_unit_test(spins_beside_a_job),
		cmocka_unit_test(last_of_ranks),
		cmocka_unit_test(no_last_rank),
		cmocka_unit_test(last_rank_without_cpu),
		cmocka_unit_test(last_rank_waits_too),
		cmocka_unit_test(fork_server),
		cmocka_unit_test(locks),
		cmocka_unit_test(few_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
