/* SPDX-License-Identifier: Apache-2.0 */
/* Reasons for which a rank comes last: each answer of straggler.h, at its limit and just before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/cluster/straggler.h"
#include "analyzer/analyse/idle/idle_roots.h"
#include "tests/unit/small_model.h"

#define RANKS 4
#define LAST 3 /* the rank in question */
#define KERNELS 4
#define ROWS (RANKS * KERNELS)
#define MOST 64 /* kernels that are compared */

/* Ranks with windows of 1000 ns; the other ranks compute for 400, 410 and 420 and are idle for 100, 110 and 120. */
struct scene {
	struct model *model;
	struct device_usage usages[RANKS];
	struct rank_usage ranks[RANKS + 1]; /* with one behind the last */
	struct operator_usage rows[ROWS + 1];
	struct device_results devices;
	struct straggler straggler;
};

static void begin(struct scene *scene)
{
	*scene = (struct scene){ .model = small_model(0, 10000) };
	for (uint32_t i = 0; i < RANKS; i++) {
		small_device(scene->model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
		scene->usages[i] = (struct device_usage){
			.device = i, .window_ns = 1000, .compute_ns = 400 + 10 * i, .idle_ns = 100 + 10 * i
		};
		scene->ranks[i] = (struct rank_usage){ .device = i, .late_ns = 50 * i };
	}
	scene->usages[LAST].compute_ns = 410;
	scene->usages[LAST].idle_ns = 110;
	scene->ranks[RANKS] = (struct rank_usage){ .device = LAST, .late_ns = 999, .job = 1 };
	scene->devices = (struct device_results){
		.devices = scene->usages,
		.device_count = RANKS,
		.operators = { .rows = scene->rows, .by = OPERATOR_BY_NAME },
		.communication = { .ranks = scene->ranks, .rank_count = RANKS },
	};
}

static void end(struct scene *scene)
{
	model_free(scene->model);
}

/*
 * Adds a kernel with these times and runs on the other ranks, and on the last one; 0 runs: the rank does not have it.
 */
static void add_kernel(struct scene *scene, const char *name, uint64_t ns, uint64_t runs, uint64_t last_ns,
		       uint64_t last_runs)
{
	for (uint32_t i = 0; i < RANKS; i++) {
		uint64_t each = i == LAST ? last_ns : ns, count = i == LAST ? last_runs : runs;

		if (count)
			scene->rows[scene->devices.operators.count++] =
				(struct operator_usage){ .name = model_string(scene->model, name),
							 .device = i,
							 .kind = PROFBPF__DEVICE_TASKS__KIND__KERNEL,
							 .count = count,
							 .total_ns = count * each };
	}
}

static void expect(struct scene *scene, enum straggler_why why, const char *name, double own, double others)
{
	assert_int_equal(straggler_explain(scene->model, &scene->devices, LAST, &scene->straggler), 0);
	assert_int_equal(scene->straggler.why, why);
	assert_string_equal(model_text(scene->model, scene->straggler.name), name);
	assert_true(scene->straggler.own > own - 0.001 && scene->straggler.own < own + 0.001);
	assert_true(scene->straggler.others > others - 0.001 && scene->straggler.others < others + 0.001);
}

/* A hundredth of its window is no excess. */
static void idle(void **state)
{
	struct scene scene;

	begin(&scene);
	expect(&scene, STRAGGLER_UNKNOWN, "", 0, 0);
	assert_int_equal(scene.straggler.late_ns, 150);
	assert_true(scene.straggler.percent == 15);
	scene.usages[LAST].idle_ns = 120;
	expect(&scene, STRAGGLER_UNKNOWN, "", 0, 0);
	scene.usages[LAST].idle_ns = 121;
	expect(&scene, STRAGGLER_HOST, "", 121, 110);
	scene.ranks[RANKS].device = 0;
	expect(&scene, STRAGGLER_HOST, "", 121, 110);
	scene.ranks[RANKS].job = 0; /* it is behind the last rank */
	expect(&scene, STRAGGLER_HOST, "", 121, 110);
	/* With one rank fewer the median is that of two. */
	scene.devices.communication.rank_count = 3;
	scene.ranks[0].device = LAST;
	expect(&scene, STRAGGLER_UNKNOWN, "", 0, 0);
	scene.usages[LAST].idle_ns = 126;
	expect(&scene, STRAGGLER_HOST, "", 126, 115);
	/* The same if the third one is another job's. */
	scene.devices.communication.rank_count = RANKS;
	scene.ranks[0].device = 0;
	scene.ranks[2].job = 1;
	scene.usages[LAST].idle_ns = 116;
	expect(&scene, STRAGGLER_HOST, "", 116, 105);
	scene.usages[LAST].idle_ns = 115;
	expect(&scene, STRAGGLER_UNKNOWN, "", 0, 0);
	/* Without ranks or devices, and for a device that does not exist, there is no answer. */
	scene.usages[LAST].idle_ns = 900;
	expect(&scene, STRAGGLER_HOST, "", 900, 105);
	scene.devices.communication.rank_count = 0;
	expect(&scene, STRAGGLER_UNKNOWN, "", 0, 0);
	scene.devices.communication.rank_count = RANKS;
	scene.devices.device_count = LAST;
	expect(&scene, STRAGGLER_UNKNOWN, "", 0, 0);
	scene.devices.device_count = RANKS;
	scene.devices.devices = NULL;
	expect(&scene, STRAGGLER_UNKNOWN, "", 0, 0);
	end(&scene);
}

/* Roots of its own process give more information on idle time; the heaviest one counts. */
static void roots(void **state)
{
	struct scene scene;
	struct idle_hop hops[2];
	struct idle_root rows[4]; /* with one behind the last */
	struct idle_roots all = { .row = rows, .count = 3 };
	uint32_t read, wait;

	begin(&scene);
	read = small_function(scene.model, "x", "read", PROFBPF__FUNCTION__KIND__OTHER);
	wait = small_function(scene.model, "x", "wait", PROFBPF__FUNCTION__KIND__OTHER);
	for (uint32_t i = 0; i < 2; i++)
		hops[i].thread = small_thread(scene.model,
					      small_process(scene.model, 100 + i, "rank", true), 100 + i,
					      "main");
	for (uint32_t i = 0; i < 4; i++) {
		rows[i] = (struct idle_root){ .ns = 100, .hops = &hops[i == 2], .hop_count = 1 };
		rows[i].root.place_kind = PLACE_FUNCTION;
		rows[i].root.place = i ? wait : read;
	}
	rows[0].root.cause = IDLE_IO;
	rows[1].root.cause = rows[2].root.cause = IDLE_PIPELINE;
	rows[2].ns = 1000;
	rows[3].ns = 2000;
	scene.model->devices.row[LAST].process = 0;
	scene.usages[LAST].idle_ns = 300;
	expect(&scene, STRAGGLER_HOST, "", 300, 110); /* none are known */
	scene.devices.idle.roots = &all;
	expect(&scene, STRAGGLER_HOST, "read", 300, 110); /* of two equal ones the first */
	rows[1].ns = 101;
	expect(&scene, STRAGGLER_DATA, "wait", 300, 110);
	rows[1].root.place_kind = PLACE_NONE;
	expect(&scene, STRAGGLER_DATA, "", 300, 110);
	/* A process that has another rank, too: the root's rank is unknown. */
	scene.model->devices.row[1].process = 0;
	expect(&scene, STRAGGLER_HOST, "", 300, 110);
	end(&scene);
}

static void kernels(void **state)
{
	struct scene scene;

	begin(&scene);
	/* An excess of computing as large as that of idle time takes precedence. */
	scene.usages[LAST].compute_ns = 421;
	scene.usages[LAST].idle_ns = 121;
	add_kernel(&scene, "other", 10, 10, 10, 10);
	add_kernel(&scene, "gemm", 20, 10, 21, 10);
	expect(&scene, STRAGGLER_WORK, "gemm", 10, 10); /* 1.05 times as long does not count as slower */
	scene.rows[7].total_ns = 211;
	expect(&scene, STRAGGLER_KERNEL, "gemm", 21.1, 20);
	scene.usages[LAST].idle_ns = 122;
	expect(&scene, STRAGGLER_HOST, "", 122, 110);
	/* A hundredth is no excess here either. */
	scene.usages[LAST].idle_ns = 110;
	scene.usages[LAST].compute_ns = 420;
	expect(&scene, STRAGGLER_UNKNOWN, "", 0, 0);
	scene.usages[LAST].compute_ns = 500;
	/* The largest excess belongs to another kernel, which runs more often. */
	scene.rows[3].count = 12;
	scene.rows[3].total_ns = 120;
	expect(&scene, STRAGGLER_WORK, "other", 12, 10);
	/* Or to a kernel that no other rank runs. */
	add_kernel(&scene, "alone", 0, 0, 30, 2);
	expect(&scene, STRAGGLER_KERNEL, "alone", 30, 0);
	/* Operators that are not summed up by name give no answer; nor do kernels without any excess. */
	scene.devices.operators.by = OPERATOR_BY_TYPE;
	expect(&scene, STRAGGLER_UNKNOWN, "", 0, 0);
	scene.devices.operators.by = OPERATOR_BY_NAME;
	scene.devices.operators.count = 4;
	scene.rows[3].count = 10;
	scene.rows[3].total_ns = 100;
	expect(&scene, STRAGGLER_UNKNOWN, "", 0, 0);
	end(&scene);
}

/* Rows of one name are one kernel, if they are kernels; those of other kinds and of other ranks alone do not count. */
static void rows(void **state)
{
	struct scene scene;
	struct operator_usage *row;

	begin(&scene);
	scene.usages[LAST].compute_ns = 500;
	add_kernel(&scene, "gemm", 20, 10, 20, 10);
	add_kernel(&scene, "gemm", 10, 5, 10, 5); /* on another core */
	expect(&scene, STRAGGLER_UNKNOWN, "", 0, 0);
	scene.rows[7].total_ns = 95;
	expect(&scene, STRAGGLER_KERNEL, "gemm", 295.0 / 15, 250.0 / 15);
	/* A copy of that name, a kernel that it does not have, another copy, and rows without runs. */
	row = &scene.rows[scene.devices.operators.count];
	add_kernel(&scene, "gemm", 1000, 10, 9000, 10);
	for (int i = 0; i < RANKS; i++)
		row[i].kind = PROFBPF__DEVICE_TASKS__KIND__COPY;
	add_kernel(&scene, "other", 1000, 10, 0, 0);
	expect(&scene, STRAGGLER_KERNEL, "gemm", 295.0 / 15, 250.0 / 15);
	scene.devices.operators.count = 8;
	add_kernel(&scene, "copy", 1000, 10, 9000, 10);
	for (int i = 0; i < RANKS; i++)
		row[i].kind = PROFBPF__DEVICE_TASKS__KIND__COPY;
	expect(&scene, STRAGGLER_KERNEL, "gemm", 295.0 / 15, 250.0 / 15);
	for (int i = 0; i < RANKS; i++) {
		row[i].kind = PROFBPF__DEVICE_TASKS__KIND__KERNEL;
		row[i].count = 0;
	}
	expect(&scene, STRAGGLER_KERNEL, "gemm", 295.0 / 15, 250.0 / 15);
	/* A row behind the last one, of the straggler or of another rank, and one of a device that does not exist. */
	scene.devices.operators.count = 8;
	row[0] = (struct operator_usage){ .name = model_string(scene.model, "behind"), .device = LAST,
					  .kind = PROFBPF__DEVICE_TASKS__KIND__KERNEL, .count = 1, .total_ns = 9000 };
	expect(&scene, STRAGGLER_KERNEL, "gemm", 295.0 / 15, 250.0 / 15);
	row[0] = scene.rows[LAST];
	expect(&scene, STRAGGLER_KERNEL, "gemm", 295.0 / 15, 250.0 / 15);
	add_kernel(&scene, "next", 10, 10, 20, 10);
	row[1] = row[2] = (struct operator_usage){ 0 };
	row[4] = scene.rows[0];
	row[4].device = RANKS;
	row[4].total_ns = 9000;
	scene.devices.operators.count++;
	expect(&scene, STRAGGLER_KERNEL, "next", 20, 10);
	/* The ranks of another job run it as they like. */
	scene.devices.operators.count = 8;
	for (int i = 0; i < 2; i++) {
		scene.ranks[i].job = 1;
		scene.rows[i].total_ns = 9000;
	}
	expect(&scene, STRAGGLER_KERNEL, "gemm", 295.0 / 15, 250.0 / 15);
	/* One of the two other ranks is faster: they are a mean of two, without the one behind the last. */
	scene.rows[2].total_ns = 100;
	scene.ranks[2].job = scene.ranks[RANKS].job = 0;
	scene.ranks[RANKS].device = 2;
	scene.ranks[1].job = 0;
	scene.rows[1].total_ns = 200;
	expect(&scene, STRAGGLER_KERNEL, "gemm", 295.0 / 15, 200.0 / 15);
	end(&scene);
}

/* Of 65 kernels that no other rank has, the last one has no time that counts, even if it had most. */
static void many_kernels(void **state)
{
	static struct operator_usage many[MOST + 1];
	struct scene scene;

	begin(&scene);
	scene.usages[LAST].compute_ns = 500;
	for (uint32_t i = 0; i <= MOST; i++) {
		char name[] = { 'k', (char)('0' + i / 10), (char)('0' + i % 10), '\0' };

		many[i] = (struct operator_usage){ .name = model_string(scene.model, name), .device = LAST,
						   .kind = PROFBPF__DEVICE_TASKS__KIND__KERNEL, .count = 1,
						   .total_ns = 100 + i };
	}
	scene.devices.operators.rows = many;
	scene.devices.operators.count = MOST + 1;
	expect(&scene, STRAGGLER_KERNEL, "k63", 163, 0);
	/* Those of other ranks are not counted. */
	for (uint32_t i = 0; i < MOST; i++)
		many[i].device = 0;
	expect(&scene, STRAGGLER_KERNEL, "k64", 164, 0);
	end(&scene);
}

/*
 * All kernels are slower by about the factor of computing: at least three names, with more than nine tenths of the
 * time.
 */
static void by_clock(void **state)
{
	struct scene scene;

	begin(&scene);
	scene.usages[LAST].compute_ns = 615; /* 1.5 times */
	add_kernel(&scene, "a", 100, 1, 150, 1);
	add_kernel(&scene, "b", 100, 1, 150, 1);
	expect(&scene, STRAGGLER_KERNEL, "a", 150, 100); /* only two names */
	add_kernel(&scene, "c", 100, 1, 150, 1);
	expect(&scene, STRAGGLER_CLOCK, "", 1.5, 1);
	scene.rows[11].total_ns = 164; /* 1.65 is a tenth more */
	expect(&scene, STRAGGLER_CLOCK, "", 1.5, 1);
	scene.rows[11].total_ns = 166;
	expect(&scene, STRAGGLER_KERNEL, "c", 166, 100);
	scene.rows[11].total_ns = 136; /* 1.35 is a tenth less */
	expect(&scene, STRAGGLER_CLOCK, "", 1.5, 1);
	scene.rows[11].total_ns = 134;
	expect(&scene, STRAGGLER_KERNEL, "a", 150, 100);
	scene.rows[11].total_ns = 150;
	/* Another kernel has a tenth of the time: 450 of 500 remain. */
	add_kernel(&scene, "d", 50, 1, 50, 1);
	expect(&scene, STRAGGLER_KERNEL, "a", 150, 100);
	scene.rows[15].total_ns = 49;
	expect(&scene, STRAGGLER_CLOCK, "", 1.5, 1);
	end(&scene);
}

/* Twice as slow, and a tenth more or less exactly, is as slow; kernels without time, and 1.05 times, prove nothing. */
static void borders_of_clocks(void **state)
{
	struct scene scene;

	begin(&scene);
	scene.usages[LAST].compute_ns = 820;
	add_kernel(&scene, "a", 100, 1, 200, 1);
	add_kernel(&scene, "b", 100, 1, 180, 1);
	add_kernel(&scene, "c", 100, 1, 220, 1);
	expect(&scene, STRAGGLER_CLOCK, "", 2, 1);
	scene.devices.operators.count = 8;
	scene.rows[8].device = LAST; /* behind the last one */
	expect(&scene, STRAGGLER_KERNEL, "a", 200, 100);
	add_kernel(&scene, "c", 0, 1, 0, 1);
	expect(&scene, STRAGGLER_KERNEL, "a", 200, 100);
	scene.devices.operators.count = 0;
	for (int i = 0; i < LAST; i++)
		scene.usages[i].compute_ns = 400;
	scene.usages[LAST].compute_ns = 420;
	add_kernel(&scene, "a", 100, 1, 105, 1);
	add_kernel(&scene, "b", 100, 1, 105, 1);
	add_kernel(&scene, "c", 100, 1, 105, 1);
	expect(&scene, STRAGGLER_WORK, "a", 1, 1);
	end(&scene);
}

static void names(void **state)
{
	assert_null(straggler_why_name(STRAGGLER_UNKNOWN));
	assert_string_equal(straggler_why_name(STRAGGLER_CLOCK), "clock");
	assert_string_equal(straggler_why_name(STRAGGLER_HOST), "host");
	assert_null(straggler_why_name(STRAGGLER_HOST + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle),	    cmocka_unit_test(roots), cmocka_unit_test(kernels),
		cmocka_unit_test(rows),	    cmocka_unit_test(many_kernels),
		cmocka_unit_test(by_clock), cmocka_unit_test(borders_of_clocks), cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
