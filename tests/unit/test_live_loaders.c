/* SPDX-License-Identifier: Apache-2.0 */
/* The live view of data loaders: from calls to operators and the contents of their queues. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/live/live_loaders.h"

#define MS 1000000ull
#define TENSOR 1
#define SEAL 2
#define CONTAINS 3
#define NEXT 4
#define FETCH 5
#define FILL 6
#define TRAINER 7
#define SERVER 8
#define WORKER 9

static struct live_loaders *described(void)
{
	static const char *const symbols[] = {
		[TENSOR] = "_ZN2at12MapAllocatorC1ENS_6WithFdENS_18basic_string_viewIcEEiim",
		[SEAL] = "_ZN6plasma12PlasmaClient4SealERKNS_8UniqueIDE",
		[CONTAINS] = "_ZN6plasma12PlasmaClient8ContainsERKNS_8UniqueIDEPb",
		[NEXT] = "_ZN10tensorflow4data19DatasetBaseIterator7GetNextEPNS0_15IteratorContextE",
		[FETCH] = "_ZN10tensorflow4data16IteratorResource7GetNextEPNS_15OpKernelContextE",
		[FILL] = "_ZN10tensorflow4data16IteratorResource22SetIteratorFromDatasetEP",
	};
	Profbpf__Function__Role roles[] = { PROFBPF__FUNCTION__ROLE__HANDLE,
					    PROFBPF__FUNCTION__ROLE__CORRELATION };
	struct live_loaders *l = live_loaders_new();

	assert_non_null(l);
	for (uint32_t id = TENSOR; id <= FILL; id++) {
		Profbpf__Function function = PROFBPF__FUNCTION__INIT;

		function.id = id;
		function.name = (char *)symbols[id];
		function.n_roles = id >= NEXT ? 2 : 0;
		function.roles = roles;
		roles[1] = id == FILL ? PROFBPF__FUNCTION__ROLE__VALUE
				      : PROFBPF__FUNCTION__ROLE__CORRELATION;
		live_loaders_function(l, &function);
	}
	live_loaders_process(l, TRAINER, 1, "python");
	live_loaders_process(l, SERVER, TRAINER, "python");
	live_loaders_process(l, WORKER, SERVER, "pt_data_worker");
	return l;
}

static void call(struct live_loaders *l, uint32_t function, uint32_t pid, uint64_t end_ns)
{
	const struct live_called row = {
		.function = function, .pid = pid, .tid = pid, .end_ns = end_ns
	};

	live_loaders_call(l, &row, "");
}

/* A worker started by a fork server; the trainer waits for each tensor but the first two. */
static void tensors(void **state)
{
	struct live_loaders *l = described();
	struct live_operator *rows = NULL;

	call(l, TENSOR, WORKER, 1 * MS); /* its loader is not known yet, only at the end of the frame */
	call(l, TENSOR, TRAINER, 50 * MS);
	call(l, TENSOR, WORKER, 100 * MS);
	call(l, TENSOR, WORKER, 200 * MS);
	call(l, TENSOR, TRAINER, 300 * MS);
	call(l, TENSOR, TRAINER, 400 * MS);
	for (uint64_t ms = 500; ms < 1000; ms += 100) {
		call(l, TENSOR, WORKER, ms * MS);
		call(l, TENSOR, TRAINER, ms * MS + 1);
	}
	live_loaders_ran(l, WORKER, 99, 40, 2);
	live_loaders_ran(l, TRAINER, TRAINER, 1000, 0);
	assert_int_equal(live_loaders_frame(l, 0, 1000 * MS, &rows, 0), 1);
	assert_string_equal(rows[0].name, "torch workers, tensors");
	assert_int_equal(rows[0].pid, TRAINER);
	assert_int_equal(rows[0].run_ns, 40);
	assert_int_equal(rows[0].runnable_ns, 2);
	assert_true(rows[0].has_queue);
	assert_int_equal(rows[0].pushes, 8);
	assert_int_equal(rows[0].pops, 8);
	/* Tensors are opened after the wait: its duration is unknown, not 0. */
	assert_false(rows[0].has_pop_wait || rows[0].has_push_wait);
	/* 1 from 1, 0 from 50, 1 from 100, 2 from 200, 1 from 300, 0 from 400 on. */
	assert_true(rows[0].has_size);
	assert_int_equal(rows[0].capacity, 2);
	assert_true(rows[0].mean_size > 0.44 && rows[0].mean_size < 0.46);
	free(rows);
	live_loaders_free(l);
}

/* A trainer that never waits does not show the queue's size. */
static void never_empty(void **state)
{
	struct live_loaders *l = described();
	struct live_operator *rows = calloc(1, sizeof(*rows));

	rows[0].pid = 1;
	for (uint64_t ms = 100; ms < 1000; ms += 100) {
		call(l, CONTAINS, TRAINER, ms * MS);
		call(l, SEAL, WORKER, (ms + 50) * MS);
	}
	/* Calls of one CPU have arrived, those of the other CPU for the same time have not. */
	call(l, SEAL, WORKER, 1050 * MS);
	assert_int_equal(live_loaders_frame(l, 0, 1000 * MS, &rows, 1), 2);
	assert_int_equal(rows[0].pid, 1);
	assert_string_equal(rows[1].name, "MegEngine workers");
	assert_int_equal(rows[1].pops, 9);
	assert_int_equal(rows[1].pushes, 9);
	assert_false(rows[1].has_size);
	assert_false(rows[1].never_empty); /* nor do calls that do not wait prove that no fetch waited */
	call(l, CONTAINS, TRAINER, 1040 * MS);
	assert_int_equal(live_loaders_frame(l, 1000 * MS, 2000 * MS, &rows, 1), 2);
	assert_int_equal(rows[1].pops, 1);
	assert_int_equal(rows[1].pushes, 1);
	free(rows);
	live_loaders_free(l);
}

static void next(struct live_loaders *l, uint32_t tid, const char *path, uint32_t depth,
		 uint64_t end_ns, uint64_t dur_ns)
{
	const struct live_called row = { .function = NEXT,
					.pid = TRAINER,
					.tid = tid,
					.depth = depth,
					.end_ns = end_ns,
					.dur_ns = dur_ns };

	live_loaders_call(l, &row, path);
}

/* A buffer with a thread that fills it; the trainer waits each time. */
static void iterators(void **state)
{
	struct live_loaders *l = described();
	struct live_operator *rows = NULL;

	for (uint64_t ms = 100; ms < 500; ms += 100) {
		next(l, 20, "Iterator::Root::Prefetch::Range", 0, ms * MS, 10);
		next(l, TRAINER, "Iterator::Root::Prefetch", 2, ms * MS + 5, 50 * MS);
	}
	next(l, 21, "no path", 0, 600 * MS, 10);
	live_loaders_ran(l, TRAINER, 20, 30, 0);
	assert_int_equal(live_loaders_frame(l, 0, 1000 * MS, &rows, 0), 2);
	assert_string_equal(rows[0].name, "Range");
	assert_int_equal(rows[0].elements, 4);
	assert_false(rows[0].has_queue);
	assert_string_equal(rows[1].name, "Prefetch");
	assert_int_equal(rows[1].pushes, 4);
	assert_int_equal(rows[1].pops, 4);
	assert_true(rows[1].has_pop_wait && !rows[1].has_push_wait);
	assert_int_equal(rows[1].pop_wait_ns, 200 * MS);
	assert_int_equal(rows[1].run_ns, 30);
	assert_true(rows[1].has_size);
	assert_int_equal(rows[1].capacity, 1);
	free(rows);
	/* The next frame starts at zero. */
	rows = NULL;
	assert_int_equal(live_loaders_frame(l, 1000 * MS, 2000 * MS, &rows, 0), 2);
	assert_int_equal(rows[1].pops, 0);
	assert_true(rows[1].mean_size == 0);
	free(rows);
	live_loaders_free(l);
}

/* A trainer that gets each element at once found the buffer never empty. */
static void never_waits(void **state)
{
	struct live_loaders *l = described();
	struct live_operator *rows = NULL;

	for (uint64_t ms = 100; ms < 500; ms += 100) {
		next(l, 20, "Iterator::Root::Prefetch::Range", 0, ms * MS, 10);
		next(l, TRAINER, "Iterator::Root::Prefetch", 2, (ms + 50) * MS, 10);
	}
	assert_int_equal(live_loaders_frame(l, 0, 1000 * MS, &rows, 0), 2);
	assert_false(rows[1].has_size);
	assert_true(rows[1].never_empty);
	free(rows);
	/* A single wait is enough that this is not reported. */
	rows = NULL;
	for (uint64_t ms = 1100; ms < 1500; ms += 100) {
		next(l, 20, "Iterator::Root::Prefetch::Range", 0, ms * MS, 10);
		next(l, TRAINER, "Iterator::Root::Prefetch", 2, (ms + 50) * MS,
		     ms == 1200 ? 50 * MS : 10);
	}
	assert_int_equal(live_loaders_frame(l, 1000 * MS, 2000 * MS, &rows, 0), 2);
	assert_false(rows[1].never_empty);
	free(rows);
	live_loaders_free(l);
}

/* An iterator returns an element to its thread. */
static void given(struct live_loaders *l, uint32_t tid, uint64_t handle, uint64_t parent,
		  const char *path, uint32_t depth, uint64_t end_ns)
{
	const struct live_called row = { .function = NEXT,
					.pid = TRAINER,
					.tid = tid,
					.depth = depth,
					.end_ns = end_ns,
					.dur_ns = 10,
					.args = { handle, parent } };

	live_loaders_call(l, &row, path);
}

static void of_resource(struct live_loaders *l, uint32_t function, uint64_t resource, uint64_t data)
{
	const struct live_called row = { .function = function,
					.pid = TRAINER,
					.tid = TRAINER,
					.args = { resource, data } };

	live_loaders_call(l, &row, "");
}

/*
 * A batch of a data set: its own thread fills the buffer, the trainer fetches from it. Addresses of iterators begin
 * at @at.
 */
static void batch(struct live_loaders *l, uint64_t resource, uint64_t at, uint32_t tid, uint64_t ns)
{
	given(l, tid, at + 2, at + 1, "Iterator::Root::Prefetch::Map", 0, ns);
	given(l, TRAINER, at + 1, at, "Iterator::Root::Prefetch", 2, ns + 5);
	given(l, TRAINER, at, 0, "Iterator::Root", 1, ns + 6);
	of_resource(l, FETCH, resource, 0);
}

static uint32_t instance_with(const struct live_operator *rows, size_t count, const char *name,
			      uint64_t elements)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].name, name) == 0 && rows[i].elements == elements)
			return rows[i].instance;
	return 0;
}

/* Two data sets with equal pipelines, over several epochs, each with new iterators. */
static void made_alike(void **state)
{
	struct live_loaders *l = described();
	struct live_operator *rows = NULL;
	size_t count;
	uint32_t first, second;

	/* They were filled before recording began. */
	for (uint64_t ms = 100; ms < 500; ms += 100) {
		batch(l, 0x10, 0x100, 20, ms * MS);
		if (ms < 300)
			batch(l, 0x20, 0x200, 21, (ms + 50) * MS);
	}
	live_loaders_ran(l, TRAINER, 20, 30, 0);
	count = live_loaders_frame(l, 0, 1000 * MS, &rows, 0);
	assert_int_equal(count, 6);
	first = instance_with(rows, count, "Map", 4);
	second = instance_with(rows, count, "Map", 2);
	assert_true(first && second && first != second);
	assert_int_equal(instance_with(rows, count, "Prefetch", 4), first);
	assert_int_equal(instance_with(rows, count, "Root", 2), second);
	free(rows);
	rows = NULL;
	/* One epoch after the other. */
	for (uint64_t epoch = 1; epoch < 200; epoch++) {
		uint64_t ms = 1000 * epoch;

		of_resource(l, FILL, 0x10 + epoch, 0xd1);
		of_resource(l, FILL, 0x10000 + epoch, 0xd2);
		for (uint64_t i = 0; i < 4; i++) {
			batch(l, 0x10 + epoch, 0x1000 * epoch, 20, (ms + 100 * i) * MS);
			if (i < 2)
				batch(l, 0x10000 + epoch, 0x1000 * epoch + 0x800, 21,
				      (ms + 100 * i + 50) * MS);
		}
		count = live_loaders_frame(l, ms * MS, (ms + 1000) * MS, &rows, 0);
		assert_int_equal(count, 6);
		assert_int_equal(instance_with(rows, count, "Map", 4), first);
		assert_int_equal(instance_with(rows, count, "Map", 2), second);
		free(rows);
		rows = NULL;
	}
	live_loaders_free(l);
}

/* The turns of a loop belong to one operator. */
static void turns(void **state)
{
	struct live_loaders *l = described();
	struct live_operator *rows = NULL;

	next(l, 20, "Iterator::Root::FiniteRepeat[0]::Range", 1, 1 * MS, 10);
	next(l, 20, "Iterator::Root::FiniteRepeat[1]::Range", 1, 2 * MS, 10);
	assert_int_equal(live_loaders_frame(l, 0, 1000 * MS, &rows, 0), 1);
	assert_int_equal(rows[0].elements, 2);
	free(rows);
	live_loaders_free(l);
}

/* On a machine with many short-lived processes a loader that starts late is found, too. */
static void many_processes(void **state)
{
	struct live_loaders *l = described();
	struct live_operator *rows = NULL;

	for (uint32_t pid = 100; pid < 10100; pid++) {
		live_loaders_process(l, pid, 1, "true");
		live_loaders_gone(l, pid);
		if (pid % 100 == 99) {
			assert_int_equal(live_loaders_frame(l, 0, MS, &rows, 0), 0);
			free(rows);
			rows = NULL;
		}
	}
	live_loaders_process(l, 20001, 20000, "pt_data_worker");
	live_loaders_process(l, 20000, 1, "python");
	call(l, TENSOR, 20000, MS);
	call(l, TENSOR, 20001, 2 * MS);
	assert_int_equal(live_loaders_frame(l, 0, 1000 * MS, &rows, 0), 1);
	assert_int_equal(rows[0].pid, 20000);
	assert_int_equal(rows[0].pushes, 1);
	free(rows);
	live_loaders_free(l);
}

/* Its last figures are reported; those of other processes keep their places. */
static void ended(void **state)
{
	struct live_loaders *l = described();
	struct live_operator *rows = NULL;

	live_loaders_process(l, 20, 1, "python");
	live_loaders_process(l, 21, 20, "pt_data_worker");
	call(l, TENSOR, TRAINER, MS);
	call(l, TENSOR, 20, 2 * MS);
	assert_int_equal(live_loaders_frame(l, 0, 1000 * MS, &rows, 0), 2);
	call(l, TENSOR, WORKER, 1100 * MS);
	call(l, TENSOR, 21, 2100 * MS); /* belongs to the next frame, but has arrived already */
	live_loaders_gone(l, TRAINER);
	assert_int_equal(live_loaders_frame(l, 1000 * MS, 2000 * MS, &rows, 0), 2);
	assert_int_equal(rows[0].pid, TRAINER);
	assert_int_equal(rows[0].pushes, 1);
	live_loaders_ran(l, 21, 21, 30, 0);
	assert_int_equal(live_loaders_frame(l, 2000 * MS, 3000 * MS, &rows, 0), 1);
	assert_int_equal(rows[0].pid, 20);
	assert_int_equal(rows[0].pushes, 1);
	assert_int_equal(rows[0].run_ns, 30);
	free(rows);
	live_loaders_free(l);
}

/* Trainers of tf.data that have ended take no room from later ones. */
static void trainers_come_and_go(void **state)
{
	struct live_loaders *l = described();
	struct live_operator *rows = NULL;
	struct live_called outer = { .function = NEXT, .end_ns = MS, .dur_ns = 10, .args = { 0x100, 0 } };
	struct live_called inner = { .function = NEXT, .tid = 20, .end_ns = MS, .dur_ns = 10, .args = { 0x200, 0x100 } };
	size_t count, found = 0;

	for (uint32_t pid = 100; pid < 1300; pid++) {
		outer.pid = outer.tid = pid;
		live_loaders_process(l, pid, 1, "python");
		live_loaders_call(l, &outer, "Iterator::Root");
		live_loaders_frame(l, 0, 1000 * MS, &rows, 0);
		live_loaders_gone(l, pid);
	}
	outer.pid = outer.tid = inner.pid = 2000;
	live_loaders_call(l, &inner, "Iterator::Root::Range");
	live_loaders_call(l, &outer, "Iterator::Root");
	live_loaders_ran(l, 2000, 20, 30, 0);
	count = live_loaders_frame(l, 0, 1000 * MS, &rows, 0);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].pid != 2000)
			continue;
		found++;
		assert_int_equal(rows[i].instance, 1);
		assert_int_equal(rows[i].run_ns, strcmp(rows[i].name, "Root") ? 0 : 30);
	}
	assert_int_equal(found, 2);
	free(rows);
	live_loaders_free(l);
}

/* Tables have a fixed size: entries without room are counted. */
static void what_finds_no_room_is_counted(void **state)
{
	struct live_loaders *l = described();
	char path[64];

	for (unsigned int i = 0; i < 256; i++) {
		snprintf(path, sizeof(path), "Iterator::Root::Map%u", i);
		next(l, 20, path, 0, (i + 1) * MS, 10);
	}
	assert_int_equal(live_loaders_left_out(l), 0);
	next(l, 20, "Iterator::Root::Batch", 0, 300 * MS, 10);
	assert_int_equal(live_loaders_left_out(l), 1);
	next(l, 20, "Iterator::Root::Map7", 0, 301 * MS, 10);
	assert_int_equal(live_loaders_left_out(l), 1);
	live_loaders_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tensors),
		cmocka_unit_test(never_empty),
		cmocka_unit_test(never_waits),
		cmocka_unit_test(iterators),
		cmocka_unit_test(made_alike),
		cmocka_unit_test(turns),
		cmocka_unit_test(many_processes),
		cmocka_unit_test(ended),
		cmocka_unit_test(trainers_come_and_go),
		cmocka_unit_test(what_finds_no_room_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
