/* SPDX-License-Identifier: Apache-2.0 */
/* PyTorch's and MegEngine's DataLoader, tf.data and unknown feeders, from synthetic calls with known answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "analyzer/frameworks/framework.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull
#define TENSOR "_ZN2at12MapAllocatorC1ENS_6WithFdEx"
#define ENTER "_ZN5torch8autograd8profiler25record_function_enter_newEx"
#define EXIT "_ZN5torch8autograd8profilerL24record_function_exit_newEx"
#define LOADER "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"

static uint32_t function(struct model *model, const char *runtime, const char *symbol)
{
	uint32_t row = small_function(model, runtime, symbol, PROFBPF__FUNCTION__KIND__STAGE);

	model->functions.row[row].runtime = model_string(model, runtime);
	model->functions.row[row].symbol = model_string(model, symbol);
	return row;
}

static void call(struct model *model, uint32_t thread, uint32_t of, uint64_t ms, const char *text)
{
	uint32_t row = small_call(model, thread, of, ms * MS, ms * MS + 1000);

	model->calls.row[row].text = model_string(model, text);
}

static struct pipeline *build(struct model *model, struct pipelines *pipelines)
{
	small_index(model);
	model->timelines.count = 0;
	assert_int_equal(frameworks_build(model, pipelines), 0);
	assert_int_equal(pipelines->list.count, 1);
	return &pipelines->list.row[0];
}

/*
 * Three batches of two tensors by two workers. The second fetch also opens the third batch, which arrived first; the
 * third fetch opens nothing but has its batch all the same; the fourth is the end.
 */
static void torch_counts_batches(void **state)
{
	struct model *model = small_model(0, 1000 * MS);
	uint32_t job = small_process(model, 10, "python", true);
	uint32_t main = small_thread(model, job, 10, "python");
	uint32_t enter = function(model, "torch", ENTER), leave = function(model, "torch", EXIT);
	uint32_t tensor = function(model, "torch", TENSOR);
	struct pipelines pipelines;
	struct pipeline *pipeline;
	static const uint32_t opened[] = { 2, 4, 0, 0 };

	for (uint32_t i = 0; i < 4; i++) {
		call(model, main, enter, 100 + 50 * i, LOADER);
		for (uint32_t t = 0; t < opened[i]; t++)
			call(model, main, tensor, 102 + 50 * i + t, "");
		call(model, main, leave, 120 + 50 * i, "");
		call(model, main, enter, 125 + 50 * i, "Optimizer.step#SGD.step");
		call(model, main, leave, 130 + 50 * i, "");
	}
	for (uint32_t w = 0; w < 2; w++) {
		uint32_t worker = small_process(model, 11 + w, "pt_data_worker", true);
		uint32_t thread = small_thread(model, worker, 11 + w, "pt_data_worker");
		uint32_t feeder = small_thread(model, worker, 21 + w, "pt_data_worker");

		model->processes.row[worker].parent_pid = 10;
		/* Each of two threads opens one tensor of a batch. */
		for (uint32_t b = 0; b < 2 - w; b++)
			call(model, thread, tensor, 50 + 10 * b, "");
		for (uint32_t b = 0; b < 2 - w; b++)
			call(model, feeder, tensor, 51 + 10 * b, "");
	}
	pipeline = build(model, &pipelines);
	assert_string_equal(pipeline->framework, "torch");
	assert_int_equal(pipeline->fetches.count, 4);
	assert_int_equal(pipeline->fetches.row[0].end_ns, 120 * MS);
	assert_false(pipeline->fetches.row[2].end_of_data);
	assert_true(pipeline->fetches.row[3].end_of_data);
	assert_int_equal(pipeline->outputs.count, 3);
	assert_int_equal(pipeline->operators.row[0].workers, 2);
	assert_int_equal(pipeline->threads.count, 4);
	/* Three pushes and three pops. */
	assert_int_equal(pipeline->queue_events.count, 6);
	pipelines_free(&pipelines);
	model_free(model);
}

static void nested(struct model *model, uint32_t thread, uint32_t of, const uint64_t us[2],
		   uint8_t depth, const char *path, uint64_t ended)
{
	uint32_t row = small_call(model, thread, of, us[0] * 1000, us[1] * 1000);

	model->calls.row[row].depth = depth;
	model->calls.row[row].text = model_string(model, path);
	model->calls.row[row].args[0] = ended;
}

/* The trainer fetches from a Prefetch, whose own thread calls a Map, which calls a Range. */
static void tf_data_operators(void **state)
{
	struct model *model = small_model(0, 1000 * MS);
	uint32_t job = small_process(model, 10, "python", true);
	uint32_t main = small_thread(model, job, 10, "python");
	uint32_t runner = small_thread(model, job, 11, "tf_data_prefetch");
	uint32_t next = function(model, "tensorflow",
				 "_ZN10tensorflow4data19DatasetBaseIterator7GetNextEx");
	uint32_t fetch =
		function(model, "tensorflow", "_ZN10tensorflow4data16IteratorResource7GetNextEx");
	struct pipelines pipelines;
	struct pipeline *pipeline;

	model->functions.row[next].roles[0] = PROFBPF__FUNCTION__ROLE__VALUE;
	for (uint64_t i = 0; i < 3; i++) {
		const uint64_t outer[2] = { 1000 + 100 * i, 1050 + 100 * i };
		const uint64_t inner[2] = { 1001 + 100 * i, 1049 + 100 * i };

		nested(model, main, fetch, outer, 0, "", 0);
		nested(model, main, next, inner, 1, "Iterator::Root::Prefetch", i == 2);
	}
	for (uint64_t i = 0; i < 3; i++) {
		const uint64_t outer[2] = { 500 + 100 * i, 560 + 100 * i };
		const uint64_t inner[2] = { 510 + 100 * i, 530 + 100 * i };

		nested(model, runner, next, outer, 0, "Iterator::Root::Prefetch::Map", i == 2);
		nested(model, runner, next, inner, 1, "Iterator::Root::Prefetch::Map::Range",
		       i == 2);
	}
	pipeline = build(model, &pipelines);
	assert_string_equal(pipeline->framework, "tf.data");
	assert_int_equal(pipeline->fetches.count, 3);
	assert_false(pipeline->fetches.row[1].end_of_data);
	assert_true(pipeline->fetches.row[2].end_of_data);
	/* Iterator::Root, Prefetch, Map, Range; "Iterator" itself is no operator. */
	assert_int_equal(pipeline->operators.count, 4);
	/* Two elements each of Prefetch, Map and Range. */
	assert_int_equal(pipeline->outputs.count, 6);
	/* The runner works for the Prefetch; its elements are pushed, the trainer pops them. */
	assert_int_equal(pipeline->threads.count, 1);
	assert_string_equal(model_text(model,
				       pipeline->operators.row[pipeline->threads.row[0].op].type),
			    "Prefetch");
	assert_int_equal(pipeline->queue_events.count, 4);
	pipelines_free(&pipelines);
	model_free(model);
}

/*
 * Two workers make three batches. The trainer sleeps for its pipe twice before the second, and not at all before the
 * third; the sleep of another kind before the first is not a wait for data.
 */
static void megengine_counts_batches(void **state)
{
	struct model *model = small_model(0, 1000 * MS);
	uint32_t job = small_process(model, 10, "interpreter", true);
	uint32_t main = small_thread(model, job, 10, "interpreter");
	uint32_t seal =
		function(model, "megengine", "_ZN6plasma12PlasmaClient4SealERKNS_8UniqueIDE");
	uint32_t contains =
		function(model, "megengine", "_ZN6plasma12PlasmaClient8ContainsERKNS_8UniqueIDEPb");
	uint32_t get = function(model, "megengine", "_ZN6plasma12PlasmaClient3GetERKSt6vectorIx");
	struct pipelines pipelines;
	struct pipeline *pipeline;

	small_sleep(model, main, 50 * MS, 60 * MS, SYS_futex, INDEX_NONE, 0);
	small_sleep(model, main, 70 * MS, 99 * MS, SYS_ppoll, INDEX_NONE, 0);
	small_sleep(model, main, 150 * MS, 160 * MS, SYS_ppoll, INDEX_NONE, 0);
	small_sleep(model, main, 170 * MS, 190 * MS, SYS_ppoll, INDEX_NONE, 0);
	for (uint64_t i = 0; i < 3; i++) {
		call(model, main, contains, 100 + 100 * i, "");
		call(model, main, get, 101 + 100 * i, "");
	}
	for (uint32_t w = 0; w < 2; w++) {
		uint32_t worker = small_process(model, 11 + w, "interpreter", true);
		uint32_t thread = small_thread(model, worker, 11 + w, "interpreter");

		model->processes.row[worker].parent_pid = 10;
		for (uint32_t b = 0; b < 2 - w; b++)
			call(model, thread, seal, 90 + 50 * b, "");
	}
	small_index(model);
	assert_int_equal(frameworks_build(model, &pipelines), 0);
	assert_int_equal(pipelines.list.count, 1);
	pipeline = &pipelines.list.row[0];
	assert_string_equal(pipeline->framework, "MegEngine");
	assert_int_equal(pipeline->operators.row[0].workers, 2);
	assert_int_equal(pipeline->outputs.count, 3);
	assert_int_equal(pipeline->queue_events.count, 6);
	assert_int_equal(pipeline->fetches.count, 3);
	assert_int_equal(pipeline->fetches.row[0].start_ns, 70 * MS);
	assert_int_equal(pipeline->fetches.row[1].start_ns, 150 * MS);
	assert_int_equal(pipeline->fetches.row[2].start_ns, 300 * MS);
	pipelines_free(&pipelines);
	model_free(model);
}

/* Adds a batch that a worker makes, or that the trainer requests from a client and gets. */
static void batch(struct model *model, uint32_t thread, uint32_t function, uint64_t us, uint64_t id,
		  uint64_t client)
{
	uint32_t row = small_call(model, thread, function, us * 1000, us * 1000 + 500);

	model->calls.row[row].args[0] = id;
	model->calls.row[row].args[1] = client;
}

/* A job with MegEngine's loaders. */
struct megengine_scene {
	struct model *model;
	uint32_t main, seal, contains, get, workers;
	uint64_t id;
};

static struct megengine_scene megengine_scene(void)
{
	struct model *model = small_model(0, 1000 * MS);
	struct megengine_scene s = { .model = model };

	s.main = small_thread(model, small_process(model, 10, "interpreter", true), 10, "interpreter");
	s.seal = function(model, "megengine", "_ZN6plasma12PlasmaClient4SealERKNS_8UniqueIDE");
	s.contains =
		function(model, "megengine", "_ZN6plasma12PlasmaClient8ContainsERKNS_8UniqueIDEPb");
	s.get = function(model, "megengine", "_ZN6plasma12PlasmaClient3GetERKSt6vectorIx");
	model->functions.row[s.seal].roles[0] = PROFBPF__FUNCTION__ROLE__HANDLE;
	model->functions.row[s.contains].roles[0] = PROFBPF__FUNCTION__ROLE__HANDLE;
	model->functions.row[s.contains].roles[1] = PROFBPF__FUNCTION__ROLE__CORRELATION;
	return s;
}

/* A worker that starts at @from_us (0 = before recording) and ends at @to_us (0 = after it). */
static uint32_t megengine_worker(struct megengine_scene *s, uint64_t from_us, uint64_t to_us)
{
	uint32_t pid = 11 + s->workers++;
	uint32_t process = small_process(s->model, pid, "interpreter", true);
	uint32_t thread = small_thread(s->model, process, pid, "interpreter");

	s->model->processes.row[process].parent_pid = 10;
	s->model->threads.row[thread].first_ns = from_us * 1000;
	s->model->threads.row[thread].exit_ns = to_us * 1000;
	return thread;
}

/* The trainer gets batches from a worker, by a client. */
static void megengine_get(struct megengine_scene *s, uint32_t worker, uint64_t client, uint64_t us,
			  uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		s->id++;
		batch(s->model, worker, s->seal, us + 10 * i, s->id, 0);
		batch(s->model, s->main, s->contains, us + 10 * i + 2, s->id, client);
		batch(s->model, s->main, s->get, us + 10 * i + 4, 0, 0);
	}
}

static void megengine_are(struct megengine_scene *s, uint32_t count, const uint32_t *fetches,
			  const uint32_t *workers)
{
	struct pipelines pipelines;

	small_index(s->model);
	assert_int_equal(frameworks_build(s->model, &pipelines), 0);
	assert_int_equal(pipelines.list.count, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct pipeline *pipeline = &pipelines.list.row[i];

		assert_int_equal(pipeline->fetches.count, fetches[i]);
		assert_int_equal(pipeline->outputs.count, fetches[i]);
		assert_int_equal(pipeline->operators.row[0].workers, workers[i]);
	}
	pipelines_free(&pipelines);
	model_free(s->model);
}

/* Two loaders used in turn: a batch belongs to the loader whose client requests it. */
static void megengine_in_turn(void **state)
{
	struct megengine_scene s = megengine_scene();
	uint32_t one = megengine_worker(&s, 0, 0), two = megengine_worker(&s, 0, 0);
	uint32_t other = megengine_worker(&s, 0, 0);

	(void)state;
	megengine_get(&s, one, 0x100, 1000, 2);
	megengine_get(&s, other, 0x200, 2000, 3);
	megengine_get(&s, two, 0x100, 3000, 2);
	megengine_are(&s, 2, (uint32_t[]){ 4, 3 }, (uint32_t[]){ 2, 1 });
}

/*
 * Epochs with new workers and a client at the same address belong to one loader, unless their numbers of batches
 * differ.
 */
static void megengine_epochs(void **state)
{
	struct megengine_scene s = megengine_scene();

	(void)state;
	megengine_get(&s, megengine_worker(&s, 0, 900), 0x100, 500, 2); /* the end of an epoch */
	megengine_get(&s, megengine_worker(&s, 950, 1900), 0x100, 1000, 3);
	megengine_get(&s, megengine_worker(&s, 1950, 2900), 0x100, 2000, 5);
	megengine_get(&s, megengine_worker(&s, 2950, 3900), 0x100, 3000, 3);
	megengine_get(&s, megengine_worker(&s, 3950, 0), 0x100, 4000, 1); /* the beginning of an epoch */
	megengine_are(&s, 2, (uint32_t[]){ 8, 6 }, (uint32_t[]){ 1, 1 });
}

/* Both have workers from before recording, so they are two loaders, though one is used after the other. */
static void megengine_both_before(void **state)
{
	struct megengine_scene s = megengine_scene();
	uint32_t one = megengine_worker(&s, 0, 0), two = megengine_worker(&s, 0, 0);

	(void)state;
	megengine_get(&s, one, 0x100, 1000, 2);
	megengine_get(&s, two, 0x200, 2000, 3);
	megengine_are(&s, 2, (uint32_t[]){ 2, 3 }, (uint32_t[]){ 1, 1 });
}

/*
 * main launches; decode ends its sleeps, except those inside a runtime call, which the device ends; reader ends
 * decode's sleeps. idle ends too few to count.
 */
static void feeders_by_wakes(void **state)
{
	struct model *model = small_model(0, 1000 * MS);
	uint32_t job = small_process(model, 10, "job", true);
	uint32_t main = small_thread(model, job, 10, "job");
	uint32_t decode = small_thread(model, job, 11, "decode7");
	uint32_t device = small_thread(model, job, 12, "device");
	uint32_t idle = small_thread(model, job, 13, "idle");
	uint32_t other = small_process(model, 20, "reader", true);
	uint32_t reader = small_thread(model, other, 20, "reader");
	uint32_t launch =
		small_function(model, "opencl", "launch", PROFBPF__FUNCTION__KIND__LAUNCH);
	struct pipelines pipelines;
	struct pipeline *pipeline;

	for (uint64_t i = 0; i < 12; i++) {
		uint64_t at = 50 * i * MS;

		small_sleep(model, main, at, at + 10 * MS, SYS_futex, i < 2 ? idle : decode, 0);
		small_sleep(model, main, at + 20 * MS, at + 30 * MS, SYS_futex, device, 0);
		small_call(model, main, launch, at + 15 * MS, at + 40 * MS);
	}
	for (uint64_t i = 0; i < 12; i++)
		small_sleep(model, decode, 50 * i * MS, 50 * i * MS + 5 * MS, SYS_read, reader, 0);
	small_index(model);
	assert_int_equal(frameworks_build(model, &pipelines), 0);
	assert_int_equal(pipelines.list.count, 1);
	pipeline = &pipelines.list.row[0];
	assert_true(pipeline->by_wakes);
	assert_int_equal(pipeline->operators.count, 2);
	assert_string_equal(model_text(model, pipeline->operators.row[0].name), "decode");
	assert_string_equal(model_text(model, pipeline->operators.row[1].name), "process reader");
	assert_int_equal(pipeline->edges.count, 1);
	assert_int_equal(pipeline->edges.row[0].from, 1);
	assert_int_equal(pipeline->fetches.count, 10);
	assert_int_equal(pipeline->queue_events.count, 22);
	pipelines_free(&pipelines);
	/* A part of the time: only sleeps that lie completely within it count. */
	model->survey.from_ns = 100 * MS;
	model->survey.to_ns = 400 * MS;
	assert_int_equal(frameworks_build(model, &pipelines), 0);
	assert_int_equal(pipelines.list.count, 1);
	assert_int_equal(pipelines.list.row[0].fetches.count, 6);
	assert_int_equal(pipelines.list.row[0].queue_events.count, 12);
	pipelines_free(&pipelines);
	model_free(model);
}

/*
 * No thread launches: main's sleeps for data are ended by a worker process, whose threads all work for main, and that
 * process's sleeps by a reader of main's process. Waits for the child's end, and another child's main thread, are not
 * feeding.
 */
static void feeders_of_main(void **state)
{
	struct model *model = small_model(0, 1000 * MS);
	uint32_t job = small_process(model, 10, "job", true);
	uint32_t main = small_thread(model, job, 10, "job");
	uint32_t reader = small_thread(model, job, 11, "reader3");
	uint32_t worker = small_process(model, 20, "work", true);
	uint32_t work = small_thread(model, worker, 20, "work");
	uint32_t sender = small_thread(model, worker, 21, "sender");
	struct pipelines pipelines;
	struct pipeline *pipeline;

	model->processes.row[worker].parent_pid = 10;
	for (uint64_t i = 0; i < 12; i++) {
		small_sleep(model, main, 50 * i * MS, (50 * i + 10) * MS, SYS_read, sender, 0);
		small_sleep(model, main, (50 * i + 20) * MS, (50 * i + 30) * MS, SYS_wait4, reader, 0);
	}
	for (uint64_t i = 0; i < 12; i++)
		small_sleep(model, work, 50 * i * MS, (50 * i + 5) * MS, SYS_futex, reader, 0);
	small_index(model);
	assert_int_equal(frameworks_build(model, &pipelines), 0);
	assert_int_equal(pipelines.list.count, 1);
	pipeline = &pipelines.list.row[0];
	assert_true(pipeline->by_wakes && pipeline->of_main);
	assert_string_equal(pipeline->framework, "unknown");
	assert_int_equal(pipeline->operators.count, 2);
	assert_string_equal(model_text(model, pipeline->operators.row[0].name), "process work");
	assert_int_equal(pipeline->operators.row[0].workers, 1);
	assert_string_equal(model_text(model, pipeline->operators.row[1].name), "reader");
	assert_int_equal(pipeline->fetches.count, 12);
	assert_int_equal(pipeline->threads.count, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(pipeline->threads.row[i].op,
				 pipeline->threads.row[i].thread == reader);
	assert_int_not_equal(sender, work);
	pipelines_free(&pipelines);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(torch_counts_batches),
		cmocka_unit_test(tf_data_operators),
		cmocka_unit_test(megengine_counts_batches),
		cmocka_unit_test(megengine_in_turn),
		cmocka_unit_test(megengine_epochs),
		cmocka_unit_test(megengine_both_before),
		cmocka_unit_test(feeders_by_wakes),
		cmocka_unit_test(feeders_of_main),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
