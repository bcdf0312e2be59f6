/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline of two operators as MindInsight's files: every file is compared whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/analyse/host/process_series.h"
#include "analyzer/export/export.h"
#include "analyzer/export/layouts/mindinsight/mindinsight.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull
#define S 1000000000ull
#define CAPACITY 4

/* The parts of an analysis that the writers need. */
struct fixture {
	struct model *model;
	struct pipelines pipelines;
	struct pipeline_usage usage;
	struct pipeline_results pipeline_results;
	struct host_interval intervals[3];
	struct host_results host;
	struct process_results processes;
	struct thread_usage thread;
	struct process_interval process_rows[1];
	struct process_series process_series;
	struct series_results series;
	struct bottleneck bottleneck;
	struct advice_results advice;
	struct results results;
	char folder[32];
};

static void event(struct pipeline *pipeline, uint64_t end_ns, int32_t change, int32_t size)
{
	struct pipeline_queue_event row = {
		.start_ns = end_ns - MS, .end_ns = end_ns, .change = change, .size = size
	};

	assert_true(MODEL_PUSH(&pipeline->queue_events, row));
}

/* Map (1) passes four batches to EpochCtrl (0), which runs in the trainer: one every 250 ms. */
static struct pipeline *make_pipeline(struct fixture *f, uint32_t process, uint32_t worker)
{
	struct pipeline *pipeline = pipeline_add(&f->pipelines, "MindData", process);
	struct pipeline_thread thread = { .thread = worker, .op = 1, .role = PIPELINE_WORKER };
	struct pipeline_queue queue = { .from = 1, .to = 0, .capacity = CAPACITY };

	assert_non_null(pipeline);
	pipeline_operator_add(f->model, pipeline, 0, "EpochCtrl(ID:0)", "EpochCtrl");
	pipeline_operator_add(f->model, pipeline, 1, "Map(ID:1)", "Map");
	pipeline->operators.row[0].in_trainer = true;
	pipeline->operators.row[1].workers = 2;
	pipeline_edge_add(pipeline, 1, 0);
	assert_true(MODEL_PUSH(&pipeline->threads, thread));
	assert_true(MODEL_PUSH(&pipeline->queues, queue));
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t t = S + i * 250 * MS;
		struct pipeline_fetch fetch = { .start_ns = t, .end_ns = t + 10 * MS + 400000 };

		event(pipeline, t + 10 * MS, 1, 1);
		event(pipeline, t + 10 * MS + 400000, -1, 0);
		assert_true(MODEL_PUSH(&pipeline->fetches, fetch));
	}
	return pipeline;
}

static void make_usage(struct fixture *f)
{
	f->usage.pipeline = &f->pipelines.list.row[0];
	f->usage.operators = calloc(2, sizeof(*f->usage.operators));
	f->usage.queues = calloc(1, sizeof(*f->usage.queues));
	f->usage.order = calloc(2, sizeof(*f->usage.order));
	f->usage.order[1] = 1;
	f->usage.threads = calloc(1, sizeof(*f->usage.threads));
	f->usage.threads[0] = &f->thread;
	f->usage.operators[0] = (struct operator_pipeline_usage){ .queue = INDEX_NONE };
	f->usage.operators[1] = (struct operator_pipeline_usage){ .depth = 1,
								  .has_times = true,
								  .all_utilization = 90 };
	f->usage.queues[0] = (struct queue_usage){
		.known = true, .mean_size = 0.5, .observed_ns = 1000, .empty_ns = 250
	};
	f->pipeline_results = (struct pipeline_results){ .rows = &f->usage, .count = 1 };
}

static void make_host(struct fixture *f)
{
	for (int i = 0; i < 2; i++)
		f->intervals[i] = (struct host_interval){
			.start_ns = (i + 1) * S,
			.end_ns = (i + 2) * S,
			.all = { .user_ns = S,
				 .system_ns = S / 2,
				 .iowait_ns = S / 4,
				 .idle_ns = S / 4 },
			.context_switches = 100,
			.runnable = 3,
		};
	f->host = (struct host_results){
		.known = true, .cpu_count = 2, .intervals = f->intervals, .interval_count = 2
	};
	/* The process has no row for the first interval. */
	f->process_rows[0] =
		(struct process_interval){ .interval = 1, .user_ns = S / 2, .system_ns = S / 4 };
	f->process_series = (struct process_series){ .count = 1, .has_split = true };
	f->series = (struct series_results){ .rows = f->process_rows,
					     .row_count = 1,
					     .of = &f->process_series };
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	uint32_t process, worker;

	assert_non_null(f);
	f->model = small_model(S, 3 * S);
	process = small_process(f->model, 7, "python", true);
	worker = small_thread(f->model, process, 8, "python");
	/* 900 ms of the first interval, 250 of the second. */
	small_span(f->model, worker, S, S + 100 * MS, STATE_SLEEP);
	small_span(f->model, worker, S + 100 * MS, 2 * S + 250 * MS, STATE_RUNNING);
	small_index(f->model);
	make_pipeline(f, process, worker);
	make_usage(f);
	make_host(f);
	f->thread = (struct thread_usage){ .thread = worker,
					   .source = USAGE_TIMELINE,
					   .run_ns = 1150 * MS };
	f->processes = (struct process_results){ .window = { S, 3 * S },
						 .threads = &f->thread,
						 .thread_count = 1 };
	f->bottleneck = (struct bottleneck){ .kind = BOTTLENECK_BUSY, .op = 1, .percent = 40 };
	snprintf(f->bottleneck.reason, sizeof(f->bottleneck.reason), "it is \"slow\"");
	f->advice = (struct advice_results){ .bottlenecks = &f->bottleneck, .count = 1 };
	f->results = (struct results){ .pipelines = &f->pipeline_results,
				       .host = &f->host,
				       .processes = &f->processes,
				       .series = &f->series,
				       .advice = &f->advice };
	snprintf(f->folder, sizeof(f->folder), "/tmp/mindinsight.XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	*state = f;
	return 0;
}

static const char *const FILES[] = {
	"minddata_cpu_utilization_0.json",  "pipeline_profiling_0.json",
	"dataset_iterator_profiling_0.txt", "device_queue_profiling_0.txt",
	"minddata_pipeline_raw_0.csv",	    "minddata_pipeline_summary_0.json",
	"minddata_pipeline_summary_0.csv",  "profiler_info_0.json",
};

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char path[128];

	for (size_t i = 0; i < sizeof(FILES) / sizeof(FILES[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", f->folder, FILES[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(f->folder), 0);
	free(f->usage.operators);
	free(f->usage.queues);
	free(f->usage.order);
	free(f->usage.threads);
	pipelines_free(&f->pipelines);
	model_free(f->model);
	free(f);
	return 0;
}

static void write_all(struct fixture *f)
{
	char error[256] = "";
	int err = export_mindinsight.write(f->model, &f->results, f->folder, &(struct export_options){ 0 }, error, sizeof(error));

	assert_string_equal(error, "");
	assert_int_equal(err, 0);
}

static void expect(const struct fixture *f, const char *name, const char *expected)
{
	char path[128], text[8192];
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", f->folder, name);
	file = fopen(path, "r");
	assert_non_null(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	fclose(file);
	if (length && text[length - 1] == '\n' && strstr(name, ".json"))
		text[length - 1] = '\0';
	assert_string_equal(text, expected);
}

#define CPU_FILE                                                                            \
	"{\"cpu_processor_num\":2,\"device_info\":{\"context_switch_count\":[100,100],"     \
	"\"runnable_process\":[3,3],\"user_utilization\":[50.000,50.000],"                  \
	"\"sys_utilization\":[25.000,25.000],\"io_utilization\":[12.500,12.500],"           \
	"\"idle_utilization\":[12.500,12.500]},\"op_info\":["                               \
	"{\"metrics\":{\"sys_utilization\":[0.000,0.000],\"user_utilization\":[0.000,"      \
	"0.000]},\"op_id\":0},"                                                             \
	"{\"metrics\":{\"sys_utilization\":[0.000,0.000],\"user_utilization\":[90.000,"     \
	"25.000]},\"op_id\":1}],"                                                           \
	"\"process_info\":{\"sys_utilization\":[0.000,25.000],\"user_utilization\":[0.000," \
	"50.000]},\"sampling_interval\":1000,\"time_stamp\":[1000,2000,3000]}"

static void cpu_file(void **state)
{
	write_all(*state);
	expect(*state, FILES[0], CPU_FILE);
}

/* The rest of an interval at the end of the recording is left out: it would weigh as much as whole ones. */
static void cut_sample(void **state)
{
	struct fixture *f = *state;

	f->intervals[2] = (struct host_interval){ .start_ns = 3 * S,
						  .end_ns = 3 * S + MS,
						  .all = { .user_ns = MS } };
	f->host.interval_count = 3;
	write_all(f);
	expect(f, FILES[0], CPU_FILE);
}

/* 760 ms of queue: from 1010 to 1760.4 ms, each 10 ms; an element stays in it for 0.4 ms at a time. */
static void queue_sizes(void **state)
{
	struct fixture *f = *state;
	struct pipeline *pipeline = &f->pipelines.list.row[0];

	pipeline->queue_events.count = 2;
	pipeline->queue_events.row[1].end_ns += 20 * MS;
	write_all(f);
	expect(f, FILES[1],
	       "{\"op_info\":[{\"children\":[1],\"metrics\":null,\"num_workers\":1,\"op_id\":0,"
	       "\"op_type\":\"EpochCtrlOp\"},{\"metrics\":{\"output_queue\":{\"length\":4,"
	       "\"size\":[1,1,1]}},\"num_workers\":2,\"op_id\":1,\"op_type\":\"MapOp\"}],"
	       "\"sampling_interval\":10}");
	expect(f, FILES[4],
	       "op_id,op_type,num_workers,output_queue_size,output_queue_average_size,"
	       "output_queue_length,output_queue_usage_rate,sample_interval,parent_id,"
	       "children_id\r\n"
	       "0,\"EpochCtrlOp\",1,,,,,10,,\"[1]\"\r\n"
	       "1,\"MapOp\",2,\"[1, 1, 1]\",0.500000,4,0.125000,10,0,\r\n");
}

/* Waits of 10.4 ms are 10, 11, 10 and 11: their sum is exact. */
static void batches(void **state)
{
	write_all(*state);
	expect(*state, FILES[2],
	       "0 1 1 0 1010\n0 2 1 10 1010\n0 0 1 10 1010\n1 4 1 0 1010\n"
	       "0 1 2 0 1260\n0 2 2 250 1260\n0 0 2 11 1260\n1 4 2 0 1260\n"
	       "0 1 3 0 1510\n0 2 3 250 1510\n0 0 3 10 1510\n1 4 3 0 1510\n"
	       "0 1 4 0 1760\n0 2 4 250 1760\n0 0 4 11 1760\n1 4 4 0 1760\n");
}

static void summary(void **state)
{
	write_all(*state);
	expect(*state, FILES[6],
	       "op_ids,0,1\r\nop_names,\"EpochCtrl\",\"Map\"\r\n"
	       "pipeline_ops,\"EpochCtrl(id=0)\",\"Map(id=1)\"\r\nnum_workers,1,2\r\n"
	       "queue_average_size,-1.000,0.500\r\nqueue_utilization_pct,-1.000,12.500\r\n"
	       "queue_empty_freq_pct,-1.000,25.000\r\nchildren_ids,\"[1]\",\"[]\"\r\n"
	       "parent_id,-1,0\r\navg_cpu_pct,0.000,90.000\r\n"
	       "avg_cpu_pct_per_worker,0.000,45.000\r\nper_pipeline_time,10.400\r\n"
	       "per_push_queue_time,0.000\r\nper_batch_time,250.000\r\n"
	       "queue_analysis_details,\"Map(id=1): its output queue is 12.5 % full; more than 2 "
	       "workers may make reading faster\"\r\n"
	       "bottleneck_warning,\"Map(id=1)\"\r\nbottleneck_suggestion,\"it is "
	       "\"\"slow\"\"\"\r\n");
}

/* MindInsight's facts about devices. */
static void info(void **state)
{
	write_all(*state);
	expect(*state, FILES[7], "{\"context_mode\": \"graph\", \"rank_id\": 0}");
}

static void nothing_to_write(void **state)
{
	struct fixture *f = *state;
	char error[256] = "";

	f->pipeline_results.count = 0;
	assert_int_not_equal(
		export_mindinsight.write(f->model, &f->results, f->folder, &(struct export_options){ 0 }, error, sizeof(error)), 0);
	assert_non_null(strstr(error, "has no data pipeline"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(cpu_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cut_sample, set_up, tear_down),
		cmocka_unit_test_setup_teardown(queue_sizes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(batches, set_up, tear_down),
		cmocka_unit_test_setup_teardown(summary, set_up, tear_down),
		cmocka_unit_test_setup_teardown(info, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_to_write, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
