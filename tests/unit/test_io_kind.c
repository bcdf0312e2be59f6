/* SPDX-License-Identifier: Apache-2.0 */
/* A wait for storage: whether it was for a read or for a write, and the advice that follows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/device/device_advice.h"
#include "analyzer/analyse/idle/io_kind.h"
#include "tests/unit/idle_scene.h"

#define WRITE 1
#define OPENAT 257
#define MSYNC 26
#define FALLOCATE 285
#define NONE (-1)
#define READ_REQUEST PROFBPF__BLOCK_REQUESTS__OPERATION__READ
#define WRITE_REQUEST PROFBPF__BLOCK_REQUESTS__OPERATION__WRITE
#define FLUSH_REQUEST PROFBPF__BLOCK_REQUESTS__OPERATION__FLUSH
#define DISCARD_REQUEST PROFBPF__BLOCK_REQUESTS__OPERATION__DISCARD

#define READS "Cache the data, read ahead"
#define WRITES "It waits for writes: write and sync less often"
#define EITHER "Use faster storage; cache or read ahead what is read"

/* main sleeps twice for storage, until 130 us and from there until 170 us; a request may have ended the second sleep. */
static void expect(int16_t first, int16_t second, int operation, enum io_kind kind, const char *words)
{
	struct scene scene = scene_make();
	struct model *model = scene.model;
	struct block_request request = { .end_ns = 170 * US, .dur_ns = 30 * US, .driver = INDEX_NONE };
	struct io_wait wait = { 0 };
	struct syscall_table *syscalls = syscall_table_new("x86_64");
	const struct idle_root *root;
	char text[256];

	small_sleep(model, scene.main, 0, 130 * US, first, INDEX_NONE, SPAN_IOWAIT);
	small_sleep(model, scene.main, 130 * US, 170 * US, second, INDEX_NONE, SPAN_IOWAIT);
	scene_main_launches(&scene, 170);
	scene_compute_roots(&scene);
	if (operation >= 0) {
		request.operation = (uint8_t)operation;
		request.thread = scene.main;
		wait.span = model->timelines.row[scene.main].first + 1;
		assert_true(MODEL_PUSH(&model->block_requests, request));
		assert_true(MODEL_PUSH(&model->io_waits, wait));
	}
	root = scene_root(&scene, IDLE_IO, INDEX_NONE);
	/* The gap begins at 100 us. */
	assert_int_equal(io_kind_of(model, syscalls, &(struct root){ .thread = scene.main, .start_ns = 0,
								     .end_ns = 170 * US }), kind);
	if (first == second) {
		idle_remedy(model, &(struct idle_verdict){ .cause = IDLE_IO, .most = root }, text, sizeof(text));
		assert_ptr_equal(strstr(text, words), text);
	}
	syscall_table_free(syscalls);
	scene_end(&scene);
}

static void kinds(void **state)
{
	(void)state;
	expect(READ, READ, NONE, IO_READ, READS);
	expect(WRITE, WRITE, NONE, IO_WRITE, WRITES);
	expect(FSYNC, FSYNC, NONE, IO_WRITE, WRITES);
	expect(MSYNC, MSYNC, NONE, IO_WRITE, WRITES);
	expect(FALLOCATE, FALLOCATE, NONE, IO_WRITE, WRITES);
	expect(OPENAT, OPENAT, NONE, IO_UNKNOWN, EITHER);
	/* The call tells more than the request: fsync() may have to read a block of the file system. */
	expect(FSYNC, FSYNC, READ_REQUEST, IO_WRITE, WRITES);
	expect(OPENAT, OPENAT, READ_REQUEST, IO_READ, READS);
	expect(OPENAT, OPENAT, WRITE_REQUEST, IO_WRITE, WRITES);
	expect(OPENAT, OPENAT, FLUSH_REQUEST, IO_WRITE, WRITES);
	expect(OPENAT, OPENAT, DISCARD_REQUEST, IO_UNKNOWN, EITHER);
}

static void longest_counts(void **state)
{
	(void)state;
	expect(READ, FSYNC, NONE, IO_READ, NULL);
	expect(FSYNC, READ, NONE, IO_WRITE, NULL);
	expect(OPENAT, FSYNC, NONE, IO_WRITE, NULL);
}

/* What counts is the part of a sleep that lies in the stretch: it may begin before it, or end after it. */
static void parts_of_sleeps(void **state)
{
	struct scene scene = scene_make();
	struct syscall_table *syscalls = syscall_table_new("x86_64");
	struct root root = { .thread = scene.main, .start_ns = 100 * US, .end_ns = 170 * US };

	(void)state;
	small_sleep(scene.model, scene.main, 0, 130 * US, READ, INDEX_NONE, SPAN_IOWAIT);
	small_sleep(scene.model, scene.main, 130 * US, 170 * US, FSYNC, INDEX_NONE, SPAN_IOWAIT);
	small_span(scene.model, scene.main, 170 * US, 180 * US, STATE_DISK)->syscall = READ;
	/* What another thread does is nothing to it. */
	small_sleep(scene.model, scene.worker, 0, 900 * US, READ, INDEX_NONE, SPAN_IOWAIT);
	small_index(scene.model);
	assert_int_equal(io_kind_of(scene.model, syscalls, &root), IO_WRITE);
	root.start_ns = 90 * US;
	assert_int_equal(io_kind_of(scene.model, syscalls, &root), IO_UNKNOWN); /* 40 of each */
	root.start_ns = 89 * US;
	assert_int_equal(io_kind_of(scene.model, syscalls, &root), IO_READ);
	/* A sleep that cannot be interrupted is one. */
	root.start_ns = 100 * US;
	root.end_ns = 181 * US;
	assert_int_equal(io_kind_of(scene.model, syscalls, &root), IO_UNKNOWN);
	root.end_ns = 150 * US;
	assert_int_equal(io_kind_of(scene.model, syscalls, &root), IO_READ);
	syscall_table_free(syscalls);
	scene_end(&scene);
}

/* Without a thread, or without sleeps in the stretch, nothing is known. */
static void nothing_known(void **state)
{
	struct scene scene = scene_make();
	struct syscall_table *syscalls = syscall_table_new("x86_64");
	struct root root = { .thread = INDEX_NONE, .end_ns = 100 * US };

	(void)state;
	small_span(scene.model, scene.main, 0, 100 * US, STATE_RUNNING);
	small_sleep(scene.model, scene.main, 100 * US, 170 * US, FSYNC, INDEX_NONE, SPAN_IOWAIT);
	scene_main_launches(&scene, 170);
	scene_compute(&scene);
	assert_int_equal(io_kind_of(scene.model, syscalls, &root), IO_UNKNOWN);
	root.thread = scene.main;
	assert_int_equal(io_kind_of(scene.model, syscalls, &root), IO_UNKNOWN);
	root.end_ns++;
	assert_int_equal(io_kind_of(scene.model, syscalls, &root), IO_WRITE);
	syscall_table_free(syscalls);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds),
		cmocka_unit_test(parts_of_sleeps), cmocka_unit_test(longest_counts),
		cmocka_unit_test(nothing_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
