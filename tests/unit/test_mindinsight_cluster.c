/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of steps, links and memory of a device as MindInsight's files: every file is compared whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/device/devices.h"
#include "analyzer/analyse/memory/memory.h"
#include "analyzer/export/layouts/mindinsight/mindinsight_device.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull
#define GIBI (1ull << 30)
#define TASKS 5

struct fixture {
	struct model *model;
	struct device_step_row rows[3];
	struct device_step_trace trace;
	struct link_usage links[5];
	struct communication_usage operations[2];
	struct device_results devices;
	struct memory_point points[2];
	struct memory_series series[2];
	struct memory_results memory;
	struct results results;
	uint32_t order[TASKS];
	struct mindinsight_device of;
};

static void add(struct fixture *f, uint32_t device, const char *name, uint64_t start_ms,
		uint64_t end_ms, uint8_t kind)
{
	struct device_task *task = small_task(f->model, device, start_ms * MS, end_ms * MS);

	task->name = model_string(f->model, name);
	task->kind = kind;
}

/*
 * Steps of 10, 20 and 30 ms from 10 ms on. In the first a kernel for 5 ms; a collective from 25 to 45 ms, in the
 * second and the third step, 2 ms of it beside a kernel; in the third it waits to receive for 4 ms.
 */
static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	uint8_t kernel = PROFBPF__DEVICE_TASKS__KIND__KERNEL;
	uint8_t communication = PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION;

	assert_non_null(f);
	f->model = small_model(0, 100 * MS);
	small_device(f->model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	add(f, 0, "net/fc/MatMul-op1", 11, 16, kernel);
	add(f, 0, "hcom_allReduce__1", 25, 45, communication);
	add(f, 0, "net/\"x\"", 43, 45, kernel);
	add(f, 0, "hcom_receive__2", 50, 54, communication);
	add(f, 0, "net/fc/MatMul-op1", 60, 62, kernel);
	small_index(f->model);
	for (uint32_t i = 0; i < TASKS; i++)
		f->order[i] = i;
	f->rows[0] = (struct device_step_row){ .start_ns = 10 * MS, .end_ns = 20 * MS, .first = true };
	f->rows[1] = (struct device_step_row){ .start_ns = 20 * MS, .end_ns = 40 * MS };
	f->rows[2] = (struct device_step_row){ .start_ns = 40 * MS, .end_ns = 70 * MS };
	f->trace = (struct device_step_trace){ .rows = f->rows, .count = 3 };
	f->results.devices = &f->devices;
	f->results.memory = &f->memory;
	f->of = (struct mindinsight_device){ .model = f->model,
					     .results = &f->results,
					     .order = f->order,
					     .count = TASKS,
					     .steps = &f->trace,
					     .ranks = 2,
					     .stages = 2 };
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	model_free(f->model);
	free(f);
	return 0;
}

static void expect(const struct fixture *f,
		   int (*write)(FILE *out, const struct mindinsight_device *of), const char *wanted)
{
	char text[4096] = "";
	FILE *out = fmemopen(text, sizeof(text) - 1, "w");

	assert_non_null(out);
	assert_int_equal(write(out, &f->of), 0);
	fclose(out);
	assert_string_equal(text, wanted);
}

static void parts_of_steps(void **state)
{
	struct fixture *f = *state;

	expect(f, mindinsight_cluster,
	       "computation_time,communication_alone_time,stage_time,receive_alone_time,"
	       "collective_communication_alone_time\n"
	       "10.000000,0.000000,10.000000,0.000000,0.000000\n"
	       "5.000000,15.000000,20.000000,0.000000,15.000000\n"
	       "23.000000,7.000000,26.000000,4.000000,3.000000\n"
	       "14.000000,11.000000,23.000000,2.000000,9.000000\n");
	f->of.stages = 0;
	f->trace.count = 1;
	expect(f, mindinsight_cluster,
	       "computation_time,communication_alone_time\n10.000000,0.000000\n10.000000,0.000000\n");
}

static void links(void **state)
{
	struct fixture *f = *state;
	uint32_t sdma = model_string(f->model, "SDMA"), rdma = model_string(f->model, "RDMA");

	f->links[0] = (struct link_usage){ .source = 0, .destination = 1, .transport = sdma,
					   .transfers = 6, .bytes = 3000000, .transit_ns = 6 * MS };
	f->links[1] = (struct link_usage){ .source = 0, .destination = 2, .transport = sdma,
					   .transfers = 1, .bytes = 3000, .transit_ns = 0 };
	f->links[2] = (struct link_usage){ .source = 0, .destination = 1, .transport = rdma,
					   .transfers = 3, .bytes = 300, .transit_ns = 3 * MS,
					   .wait_ns = 12 * MS };
	f->links[3] = (struct link_usage){ .device = 1, .source = 1, .destination = 0,
					   .transport = sdma, .transfers = 1 };
	f->links[4] = (struct link_usage){ .source = INDEX_NONE, .destination = 0,
					   .transport = sdma, .transfers = 1 };
	f->operations[0] = (struct communication_usage){
		.name = model_string(f->model, "hcom_allReduce__971_4_1"), .count = 3, .timed = 3,
		.transit_ns = 9 * MS, .wait_ns = 3 * MS };
	f->operations[1] = (struct communication_usage){ .name = 1, .count = 1 };
	assert_false(mindinsight_has_communication(&f->of));
	f->devices.communication = (struct communication_results){ .links = f->links,
								   .link_count = 5,
								   .operations = f->operations,
								   .operation_count = 2 };
	assert_true(mindinsight_has_communication(&f->of));
	expect(f, mindinsight_hccl,
	       "step_num,communication_cost,wait_cost,link_info,communication_operator_cost\n"
	       "-,3.000000,4.000000,\"{\"\"0-1\"\": {\"\"SDMA\"\": [2.000000, 1000.000, 500000.000], "
	       "\"\"RDMA\"\": [1.000000, 0.100, 100.000]}, \"\"0-2\"\": {\"\"SDMA\"\": [0.000000, "
	       "1.000, 0.000]}}\",\"{\"\"hcom_allReduce\"\": [\"\"-\"\", 3.000000, 1.000000, {}]}\"\n");
	/* In databases operations may be known without links. */
	f->devices.communication.link_count = 0;
	assert_true(mindinsight_has_communication(&f->of));
	expect(f, mindinsight_hccl,
	       "step_num,communication_cost,wait_cost,link_info,communication_operator_cost\n"
	       "-,3.000000,1.000000,\"{}\",\"{\"\"hcom_allReduce\"\": [\"\"-\"\", 3.000000, 1.000000, {}]}\"\n");
}

static void memory(void **state)
{
	struct fixture *f = *state;

	f->points[0] = (struct memory_point){ 12 * MS, GIBI };
	f->points[1] = (struct memory_point){ 43 * MS, GIBI / 2 };
	f->series[0] = (struct memory_series){ .device = 0, .host = true };
	f->series[1] = (struct memory_series){
		.device = 0, .curve = { .points = f->points, .count = 2, .peak_bytes = GIBI } };
	f->memory = (struct memory_results){ .series = f->series, .series_count = 1 };
	/* Only the host's memory. */
	assert_false(mindinsight_has_memory(&f->of));
	f->memory.series_count = 2;
	assert_true(mindinsight_has_memory(&f->of));
	expect(f, mindinsight_memory_summary, "{\"peak_mem\":1.000000000}");
	f->series[1].allocations = 7;
	expect(f, mindinsight_memory_summary,
	       "{\"allocations\":7,\"deallocations\":0,\"peak_mem\":1.000000000}");
	expect(f, mindinsight_memory_details,
	       "{\"0\": {\"graph_id\": 0, \"fp_start\": null, \"bp_end\": null, \"nodes\": "
	       "[{\"name\":\"MatMul-op1\",\"fullname\":\"net/fc/MatMul-op1\",\"node_id\":0,"
	       "\"allocated\":0.000000000},{\"name\":\"\\\"x\\\"\",\"fullname\":\"net/\\\"x\\\"\","
	       "\"node_id\":1,\"allocated\":0.500000000},{\"name\":\"MatMul-op1\",\"fullname\":"
	       "\"net/fc/MatMul-op1\",\"node_id\":2,\"allocated\":0.000000000}], \"lines\": "
	       "[0.000000000,0.500000000,0.500000000], \"breakdowns\": []}}");
	/* Two devices with the same number: the owner is unknown. */
	small_device(f->model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	f->model->devices.row[1].id = 0;
	assert_false(mindinsight_has_memory(&f->of));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(parts_of_steps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(links, set_up, tear_down),
		cmocka_unit_test_setup_teardown(memory, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
