/* SPDX-License-Identifier: Apache-2.0 */
/* Names of roots of idle time: their places, the purpose of their code, their kinds, and the resulting advice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/device/device_advice.h"
#include "analyzer/analyse/idle/idle_roots.h"
#include "analyzer/analyse/idle/idle_verdict.h"
#include "analyzer/analyse/idle/root_places.h"
#include "analyzer/analyse/idle/root_text.h"
#include "tests/unit/idle_scene.h"

/* Samples give the function: a Python function also for a sleeping thread; a sample on a CPU only for a running one. */
static void test_places(void **state)
{
	struct scene scene = scene_make();
	struct model *model = scene.model;
	const struct code_frame frames[] = {
		{ .name = model_string(model, "ep_poll"),
		  .file = INDEX_NONE,
		  .kind = PROFBPF__STACKS__KIND__KERNEL },
		{ .name = model_string(model, "decode"),
		  .file = INDEX_NONE,
		  .kind = PROFBPF__STACKS__KIND__USER },
		{ .name = model_string(model, "noise"),
		  .source = model_string(model, "/j/train.py"),
		  .line = 19,
		  .file = INDEX_NONE,
		  .kind = PROFBPF__STACKS__KIND__PYTHON },
	};
	const struct code_stack stacks[] = { { 0, 2 }, { 2, 1 } };
	struct stack_sample sample = { .thread = scene.worker };
	const struct idle_root *root;

	for (uint32_t i = 0; i < 3; i++) {
		assert_true(MODEL_PUSH(&model->code_frames, frames[i]));
		assert_true(MODEL_PUSH(&model->stack_frames, i));
	}
	assert_true(MODEL_PUSH(&model->code_stacks, stacks[0]));
	assert_true(MODEL_PUSH(&model->code_stacks, stacks[1]));
	for (sample.ts_ns = 105 * US; sample.ts_ns < 165 * US; sample.ts_ns += 10 * US)
		assert_true(MODEL_PUSH(&model->stack_samples, sample));
	sample = (struct stack_sample){
		.ts_ns = 155 * US, .thread = scene.worker, .stack = 1, .flags = MODEL_SAMPLE_PYTHON
	};
	assert_true(MODEL_PUSH(&model->stack_samples, sample));
	scene_main_waits(&scene, scene.worker);
	small_span(model, scene.worker, 0, 130 * US, STATE_RUNNING);
	small_sleep(model, scene.worker, 130 * US, 160 * US, NANOSLEEP, INDEX_NONE,
		    SPAN_WOKEN_TIMER);
	small_span(model, scene.worker, 160 * US, 1000 * US, STATE_RUNNING);
	scene_compute_roots(&scene);
	root = scene_root(&scene, IDLE_USER_CODE, scene.worker);
	assert_int_equal(root->root.place_kind, PLACE_FRAME);
	assert_int_equal(root->root.place, 1);
	assert_int_equal(root->samples, 3);
	root = scene_root(&scene, IDLE_SLEEP, scene.worker);
	assert_int_equal(root->root.place, 2);
	assert_int_equal(root->samples, 1);
	scene_end(&scene);
}

/*
 * If samples on a CPU contain Python functions, the innermost one is the place; samples of all threads then count for
 * sleeps only.
 */
static void test_python_places(void **state)
{
	struct scene scene = scene_make();
	struct model *model = scene.model;
	static const char *const names[] = { "memcpy", "compute", "waits" };
	/* Each stack is a single frame, except "memcpy" called by "compute". */
	static const struct code_stack stacks[] = { { 0, 2 }, { 2, 1 } };
	const struct idle_root *root;

	for (uint32_t i = 0; i < 3; i++) {
		struct code_frame frame = { .name = model_string(model, names[i]),
					    .file = INDEX_NONE,
					    .kind = i ? PROFBPF__STACKS__KIND__PYTHON :
							PROFBPF__STACKS__KIND__USER };

		assert_true(MODEL_PUSH(&model->code_frames, frame));
		assert_true(MODEL_PUSH(&model->stack_frames, i));
	}
	assert_true(MODEL_PUSH(&model->code_stacks, stacks[0]));
	assert_true(MODEL_PUSH(&model->code_stacks, stacks[1]));
	for (uint64_t i = 0; i < 6; i++) {
		struct stack_sample sample = { .thread = scene.worker,
					       .ts_ns = (105 + i * 5) * US,
					       .stack = i > 1,
					       .flags = i > 1 ? MODEL_SAMPLE_PYTHON : 0 };

		assert_true(MODEL_PUSH(&model->stack_samples, sample));
	}
	scene_main_waits(&scene, scene.worker);
	small_span(model, scene.worker, 0, 1000 * US, STATE_RUNNING);
	scene_compute_roots(&scene);
	root = scene_root(&scene, IDLE_USER_CODE, scene.worker);
	assert_int_equal(root->root.place, 1);
	assert_int_equal(root->samples, 2);
	scene_end(&scene);
}

/* Samples are taken in the interrupt that ends a stretch; half of them have to agree on the purpose. */
static void test_words(void **state)
{
	/* In a page fault of decode, in the kernel for another reason, in decode. */
	static const struct code_stack stacks[] = { { 0, 3 }, { 3, 2 }, { 2, 1 } };
	static const uint32_t order[] = { 0, 1, 2, 0, 2 };
	static const uint8_t kinds[] = { PROFBPF__STACKS__KIND__KERNEL,
					 PROFBPF__STACKS__KIND__KERNEL,
					 PROFBPF__STACKS__KIND__USER };
	/*
	 * The function of the first stack, the four samples, and the resulting word: half of them must agree, for a lack of
	 * memory a quarter if half of them are in the kernel.
	 */
	static const struct {
		const char *name;
		uint32_t stack[4];
		const char *word;
	} tries[] = {
		{ "clear_page", { 0, 0, 1, 2 }, "page faults" },
		{ "clear_page", { 0, 1, 1, 2 }, "the kernel's work" },
		{ "clear_page", { 0, 2, 2, 2 }, NULL },
		{ "shrink_node", { 0, 1, 2, 2 }, IDLE_WORD_RECLAIM },
		{ "shrink_node", { 0, 2, 2, 2 }, NULL },
	};

	for (size_t try = 0; try < sizeof(tries) / sizeof(tries[0]); try++) {
		const char *const names[] = { tries[try].name, "exc_page_fault", "decode" };
		struct scene scene = scene_make();
		struct model *model = scene.model;
		const struct idle_root *root;
		char text[256];

		for (uint32_t i = 0; i < 3; i++) {
			struct code_frame frame = { .name = model_string(model, names[i]),
						    .file = INDEX_NONE,
						    .kind = kinds[i] };

			assert_true(MODEL_PUSH(&model->code_frames, frame));
			assert_true(MODEL_PUSH(&model->code_stacks, stacks[i]));
		}
		for (uint32_t i = 0; i < 5; i++)
			assert_true(MODEL_PUSH(&model->stack_frames, order[i]));
		for (uint64_t i = 0; i < 4; i++) {
			struct interrupt row = { .thread = scene.worker,
						 .ts_ns = (110 + 10 * i) * US,
						 .dur_ns = US };
			struct stack_sample sample = { .thread = scene.worker,
						       .ts_ns = row.ts_ns + US / 2,
						       .stack = tries[try].stack[i] };

			assert_true(MODEL_PUSH(&model->interrupts, row));
			assert_true(MODEL_PUSH(&model->stack_samples, sample));
		}
		scene_main_waits(&scene, scene.worker);
		small_span(model, scene.worker, 0, 1000 * US, STATE_RUNNING);
		scene_compute_roots(&scene);
		root = scene_root(&scene, IDLE_USER_CODE, scene.worker);
		assert_int_equal(root->samples, 4);
		assert_int_equal(root->root.place, 2);
		if (tries[try].word)
			assert_string_equal(root->word, tries[try].word);
		else
			assert_null(root->word);
		/* If the running code is known, the advice is not to profile. */
		idle_remedy(model, &(struct idle_verdict){ .cause = IDLE_USER_CODE, .most = root }, text,
			    sizeof(text));
		assert_null(strstr(text, "Profile"));
		if (!tries[try].word)
			assert_string_equal(text, "Make decode cheaper, begin it earlier, or, if CPUs are idle, let more "
						  "threads do it at the same time (in Python: processes).");
		scene_end(&scene);
	}
}

/* What a garbage collection calls is its work, also copies; a copy in a user's function is a copy. */
static void test_words_over(void **state)
{
	(void)state;
	for (int collects = 0; collects < 2; collects++) {
		struct scene scene = scene_make();
		struct model *model = scene.model;
		uint32_t copy = scene_frame(model, "memcpy", "/lib/libc.so.6");
		uint32_t caller = scene_frame(model, collects ? "GangWorker::loop" : "run_batch", "/jdk/libjvm.so");
		const struct idle_root *root;

		assert_true(MODEL_PUSH(&model->stack_frames, copy));
		assert_true(MODEL_PUSH(&model->stack_frames, caller));
		assert_true(MODEL_PUSH(&model->code_stacks, ((struct code_stack){ 0, 2 })));
		for (uint64_t i = 0; i < ROOT_WORD_SAMPLES; i++)
			assert_true(MODEL_PUSH(&model->stack_samples, ((struct stack_sample){
				.thread = scene.worker, .ts_ns = (110 + i) * US })));
		scene_main_waits(&scene, scene.worker);
		small_span(model, scene.worker, 0, 1000 * US, STATE_RUNNING);
		scene_compute_roots(&scene);
		root = scene_root(&scene, IDLE_USER_CODE, scene.worker);
		assert_string_equal(root->word, collects ? "Java's garbage collection" : "copies in memory");
		assert_int_equal(idle_root_collects(root), collects);
		scene_end(&scene);
	}
}

/* A thread that sleeps in a page fault lacks memory if its process reclaims some, in a quarter of its samples at least. */
static void test_shortage(void **state)
{
	static const char *const names[] = { "shrink_node", "clear_page", "shrink_node", "shrink_node" };
	static const uint64_t of[] = { 4, 4, 4, 5 }; /* samples; of the last two tries only one reclaims */

	for (int try = 0; try < 4; try++) {
		struct scene scene = scene_make();
		struct model *model = scene.model;
		struct code_frame kernel = { .name = model_string(model, names[try]),
					     .file = INDEX_NONE,
					     .kind = PROFBPF__STACKS__KIND__KERNEL };
		struct code_frame user = { .name = model_string(model, "decode"),
					   .file = INDEX_NONE,
					   .kind = PROFBPF__STACKS__KIND__USER };
		struct code_frame fault = { .name = model_string(model, "handle_mm_fault"),
					    .file = INDEX_NONE,
					    .kind = PROFBPF__STACKS__KIND__KERNEL };
		const struct idle_root *root;
		char text[256];
		bool lacks = try % 2 == 0;

		assert_true(MODEL_PUSH(&model->code_frames, kernel));
		assert_true(MODEL_PUSH(&model->code_frames, user));
		assert_true(MODEL_PUSH(&model->code_stacks, ((struct code_stack){ 0, 2 })));
		assert_true(MODEL_PUSH(&model->stack_frames, 0));
		assert_true(MODEL_PUSH(&model->stack_frames, 1));
		assert_true(MODEL_PUSH(&model->code_frames, fault));
		assert_true(MODEL_PUSH(&model->code_stacks, ((struct code_stack){ 2, 2 })));
		assert_true(MODEL_PUSH(&model->stack_frames, 2));
		assert_true(MODEL_PUSH(&model->stack_frames, 1));
		for (uint64_t i = 0; i < of[try]; i++) {
			struct stack_sample sample = { .thread = scene.worker,
						       .stack = try >= 2 && i > 0,
						       .ts_ns = (110 + 4 * i) * US };

			assert_true(MODEL_PUSH(&model->stack_samples, sample));
		}
		scene_main_waits(&scene, scene.worker);
		small_span(model, scene.worker, 0, 130 * US, STATE_RUNNING);
		small_sleep(model, scene.worker, 130 * US, 165 * US, SYSCALL_NONE, INDEX_NONE,
			    SPAN_WOKEN_SOFTIRQ | SPAN_FAULT);
		small_span(model, scene.worker, 165 * US, 1000 * US, STATE_RUNNING);
		scene_compute_roots(&scene);
		root = scene_root(&scene, IDLE_PAGE_FAULT, scene.worker);
		assert_int_equal(root->ns, 35 * US);
		idle_remedy(model, &(struct idle_verdict){ .cause = IDLE_PAGE_FAULT, .most = root }, text,
			    sizeof(text));
		if (lacks)
			assert_string_equal(root->word, IDLE_WORD_RECLAIM);
		else
			assert_null(root->word);
		assert_non_null(strstr(text, lacks ? "memory.high" : "Touch or lock the memory"));
		scene_end(&scene);
	}
}

/* The worker waits in a call for the device: there the way ends. */
static void test_device_wait(void **state)
{
	struct scene scene = scene_make();
	const struct idle_root *root;

	scene_main_waits(&scene, scene.worker);
	small_sleep(scene.model, scene.worker, 0, 150 * US, IOCTL, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
	small_span(scene.model, scene.worker, 150 * US, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.worker, scene.sync, 10 * US, 155 * US);
	scene_compute_roots(&scene);
	root = scene_root(&scene, IDLE_DEVICE_WAIT, scene.worker);
	assert_int_equal(root->ns, 50 * US);
	root = scene_root(&scene, IDLE_RUNTIME, scene.worker);
	assert_int_equal(root->ns, 5 * US);
	assert_int_equal(root->root.place, scene.sync);
	scene_end(&scene);
}

/* Ready all the time, because of three processes with a part each; they are weighted as one. */
static void test_kinds(void **state)
{
	struct scene scene = scene_make();
	uint32_t strangers[3];
	struct idle_verdict verdict;

	for (uint32_t i = 0; i < 3; i++)
		strangers[i] = small_thread(scene.model,
					    small_process(scene.model, 500 + i, "thief", false),
					    500 + i, "thief");
	for (uint32_t i = 0; i < 3; i++)
		small_span(scene.model, scene.main, i ? (100 + i * 15) * US : 0,
			   (115 + i * 15) * US, STATE_RUNNABLE)
			->other = strangers[i];
	scene_main_launches(&scene, 145);
	scene_compute_roots(&scene);
	/* The main thread's own 35 us are the largest row. */
	assert_int_equal(scene.results.idle.roots->row[0].root.cause, IDLE_USER_CODE);
	verdict = idle_verdict(scene.model, scene.results.idle.roots);
	assert_int_equal(verdict.cause, IDLE_RUNNABLE);
	assert_int_equal(verdict.kind, IDLE_KIND_OTHER_CPU);
	assert_int_equal(verdict.ns, 45 * US);
	assert_int_equal(verdict.cause_ns, 45 * US);
	assert_int_equal(verdict.most->ns, 15 * US);
	scene_end(&scene);
}

/* Checks the advice if the main thread was ready like this until 170 us, or slept in an ioctl (@driver). */
static const struct analysis_options all; /* all of the time */

static void expect_advice(uint32_t other, uint8_t flags, const char *driver, uint32_t commands,
			  const char *with)
{
	struct scene scene = scene_make();
	struct advice_results advice = { 0 };
	struct driver row = { .device = driver ? model_string(scene.model, driver) : 0,
			      .command_count = commands };
	struct ioctl_call ioctl = { .thread = scene.main, .end_ns = 170 * US };
	struct driver_command command = { .mask = UINT32_MAX, .value = 1 };

	if (driver) {
		assert_true(MODEL_PUSH(&scene.model->drivers, row));
		assert_true(MODEL_PUSH(&scene.model->commands, command));
		assert_true(MODEL_PUSH(&scene.model->ioctls, ioctl));
		small_sleep(scene.model, scene.main, 0, 170 * US, IOCTL, INDEX_NONE,
			    SPAN_WOKEN_HARDIRQ);
	} else {
		struct span *span =
			small_span(scene.model, scene.main, 0, 170 * US, STATE_RUNNABLE);

		span->other = other;
		span->flags = flags;
	}
	scene_main_launches(&scene, 170);
	scene_compute_roots(&scene);
	assert_int_equal(device_advice_add(scene.model, &all, &scene.results, NULL, NULL,
					   &advice), 0);
	assert_int_equal(advice.advice_count, 1);
	assert_string_equal(advice.list[0].id, "device_idle");
	assert_non_null(strstr(advice.list[0].remedy, with));
	free(advice.list);
	scene_end(&scene);
}

static void test_advice(void **state)
{
	struct scene scene = scene_make();

	expect_advice(scene.outsider, 0, NULL, 0, "Other processes have the CPUs");
	expect_advice(scene.worker, 0, NULL, 0, "The job's own threads need more CPUs");
	expect_advice(INDEX_NONE, SPAN_CPU_IDLE, NULL, 0, "disable deep idle states");
	expect_advice(0, 0, "/dev/nvidia0", 1, "map, pin or allocate beforehand");
	expect_advice(0, 0, "/dev/urandom", 0, "the requests to this driver");
	scene_end(&scene);
}

/* Causes below the trace's error are no finding, however many there are. */
static void test_no_finding(void **state)
{
	struct scene scene = scene_make();
	struct model *model = scene.model;
	struct advice_results advice = { 0 };

	small_sleep(model, scene.main, 0, 120 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
	small_sleep(model, scene.main, 120 * US, 140 * US, FSYNC, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
	small_span(model, scene.main, 140 * US, 160 * US, STATE_RUNNABLE);
	scene_main_launches(&scene, 160);
	scene_compute_roots(&scene);
	scene.results.devices[0].window_ns = 800 * US;
	assert_int_equal(device_advice_add(model, &all, &scene.results, NULL, NULL, &advice), 0);
	assert_int_equal(advice.advice_count, 0);
	scene.results.devices[0].window_ns = 600 * US;
	assert_int_equal(device_advice_add(model, &all, &scene.results, NULL, NULL, &advice), 0);
	assert_int_equal(advice.advice_count, 1);
	free(advice.list);
	scene_end(&scene);
}

static void expect_place(const char *function, const char *text)
{
	struct model *model = small_model(0, 1000);
	struct code_frame frame = { .name = model_string(model, function), .file = INDEX_NONE };
	struct root root = { .place_kind = PLACE_FRAME, .entry = INDEX_NONE,
			     .caller = INDEX_NONE };
	char place[300];

	assert_true(MODEL_PUSH(&model->code_frames, frame));
	root_place_text(model, NULL, &root, place, sizeof(place));
	assert_string_equal(place, text);
	model_free(model);
}

#define TENSORS "Eigen::TensorMap<Eigen::Tensor<float, 1, 1, long>, 16, Eigen::MakePointer>, A<(B)1>"
#define LONG_ONE TENSORS TENSORS TENSORS TENSORS

/* The own name of a function is at the end of it. */
static void test_long_names(void **state)
{
	expect_place("ns::short_one<A, B>::run", "ns::short_one<A, B>::run");
	expect_place("Eigen::Range<" LONG_ONE ", true>::run(A<" TENSORS ">)", "Eigen::Range<...>::run(A<...>)");
	expect_place("bool ns::X<" LONG_ONE ">::operator<(C<" TENSORS "> const&)",
		     "bool ns::X<...>::operator<(C<...> const&)");
	expect_place("ns::f<" TENSORS ", decltype(a->b)>::operator->", "ns::f<...>::operator->");
}

/* main itself runs decode(): other threads could do it. */
static void test_own_code(void **state)
{
	struct scene scene = scene_make();
	struct model *model = scene.model;
	struct idle_hop hop = { .thread = scene.main, .cause = IDLE_USER_CODE };
	struct code_frame frame = { .name = model_string(model, "decode"), .file = INDEX_NONE };
	struct idle_root row = { .root = { .cause = IDLE_USER_CODE, .place_kind = PLACE_FRAME,
					   .entry = INDEX_NONE, .caller = INDEX_NONE },
				 .samples = 1, .hops = &hop, .hop_count = 1 };
	char text[256];

	(void)state;
	assert_true(MODEL_PUSH(&model->code_frames, frame));
	idle_remedy(model, &(struct idle_verdict){ .cause = IDLE_USER_CODE, .most = &row }, text, sizeof(text));
	assert_string_equal(text, "Make decode cheaper, move it off that thread, or submit further ahead.");
	scene_end(&scene);
}

/* Until 170 us main waits for one shell after the other, or for the first of shells that run at the same time. */
static void expect_shells(uint32_t count, bool one_after_the_other, uint8_t cause, uint64_t recorded_ns, bool told)
{
	struct scene scene = scene_make();
	struct model *model = scene.model;
	uint32_t shells[16], parts = one_after_the_other ? count : 1;
	uint64_t life_ns = 170 * US / parts;
	const struct idle_root *row;
	char text[512];

	for (uint32_t i = 0; i < count; i++) {
		uint32_t process = small_process(model, 1000 + i, "sh", true);
		uint64_t start_ns = one_after_the_other ? i * life_ns : 0;

		shells[i] = small_thread(model, process, 1000 + i, "sh");
		model->processes.row[process].parent_pid = 100;
		model->threads.row[shells[i]].start_ns = start_ns + 1;
		model->threads.row[shells[i]].exit_ns = start_ns + life_ns;
		if (cause == IDLE_SLEEP)
			small_sleep(model, shells[i], start_ns, start_ns + life_ns, NANOSLEEP, INDEX_NONE,
				    SPAN_WOKEN_TIMER);
		else
			small_span(model, shells[i], start_ns, start_ns + life_ns, STATE_RUNNING);
	}
	for (uint32_t i = 0; i < parts; i++)
		small_sleep(model, scene.main, i * life_ns, i + 1 < parts ? (i + 1) * life_ns : 170 * US, FUTEX,
			    shells[i], 0);
	scene_main_launches(&scene, 170);
	scene_compute_roots(&scene);
	row = scene_root(&scene, cause, shells[0]);
	assert_int_equal(row->processes, parts);
	model->info.end_ns = model->info.start_ns + recorded_ns;
	idle_remedy(model, &(struct idle_verdict){ .cause = cause, .most = row }, text, sizeof(text));
	if (!strstr(text, "starts a process for each piece of work") == told)
		fail_msg("%u shells: %s", count, text);
	scene_end(&scene);
}

static void test_one_for_each(void **state)
{
	const uint64_t second_ns = 1000000 * US;

	(void)state;
	expect_shells(8, true, IDLE_USER_CODE, 8 * second_ns, true);
	expect_shells(8, true, IDLE_SLEEP, 8 * second_ns, true);
	/* Too few, side by side, too long for their start to matter. */
	expect_shells(7, true, IDLE_USER_CODE, second_ns, false);
	expect_shells(8, false, IDLE_USER_CODE, second_ns, false);
	expect_shells(8, true, IDLE_USER_CODE, 8 * second_ns + 8, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_python_places),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_words_over),
		cmocka_unit_test(test_own_code),
		cmocka_unit_test(test_one_for_each),
		cmocka_unit_test(test_shortage),
		cmocka_unit_test(test_device_wait),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_advice),
		cmocka_unit_test(test_no_finding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
