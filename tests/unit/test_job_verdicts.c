/* SPDX-License-Identifier: Apache-2.0 */
/* Several jobs in one recording: each has its own verdict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/job_verdicts.h"
#include "analyzer/view/report.h"
#include "analyzer/view/verdict_words.h"
#include "tests/unit/verdict_scene.h"

/* Adds a process with a main thread. */
static uint32_t add_process(struct verdict_scene *f, uint32_t pid, uint32_t parent_pid)
{
	struct model *model = f->scene.model;
	uint32_t process = small_process(model, pid, "rank", true);

	model->processes.row[process].parent_pid = parent_pid;
	return small_thread(model, process, pid, "rank");
}

static void works(struct verdict_scene *f, uint32_t thread, uint64_t from_us, uint64_t to_us)
{
	small_span(f->scene.model, thread, from_us * US, to_us * US, STATE_RUNNING);
}

static void sleeps(struct verdict_scene *f, uint32_t thread, uint64_t from_us, uint64_t to_us)
{
	small_sleep(f->scene.model, thread, from_us * US, to_us * US, NANOSLEEP, INDEX_NONE,
		    SPAN_WOKEN_TIMER);
}

/* main works; so do threads that the test has added. */
static void begin(struct verdict_scene *f)
{
	verdict_begin(f);
	works(f, f->scene.main, 0, 1000);
}

static void judge(struct verdict_scene *f, struct job_verdicts *jobs)
{
	const struct analysis_options options = { 0 };

	verdict_judge_waits(f);
	assert_int_equal(job_verdicts_find(f->scene.model, &options, &f->facts, jobs), 0);
}

static void expect(const struct verdict_scene *f, const struct job_verdict *job, uint32_t pid,
		   enum verdict_state state, double percent)
{
	assert_int_equal(f->scene.model->processes.row[job->process].pid, pid);
	assert_string_equal(verdict_state_name(job->verdict.state), verdict_state_name(state));
	assert_true(job->verdict.percent > percent - 0.01 && job->verdict.percent < percent + 0.01);
}

static void end(struct verdict_scene *f, struct job_verdicts *jobs)
{
	job_verdicts_free(jobs);
	verdict_end(f);
}

/* Three main threads, one of which sleeps for half of the time: together that is a sixth. */
static void main_threads(void **state)
{
	struct verdict_scene f;
	struct job_verdicts jobs;
	uint32_t second, third, child;

	begin(&f);
	second = add_process(&f, 300, 1);
	third = add_process(&f, 400, 1);
	child = add_process(&f, 401, 400);
	works(&f, second, 0, 500);
	sleeps(&f, second, 500, 1000);
	works(&f, third, 0, 1000);
	sleeps(&f, child, 0, 1000);
	judge(&f, &jobs);
	verdict_expect(&f, VERDICT_HOST_CODE, 50.0 / 3);
	verdict_says(&f, ") wait for 16.7 % of the time for it, most of all sleeping");
	assert_int_equal(jobs.count, 3);
	assert_int_equal(jobs.more, 0);
	assert_int_equal(jobs.only, INDEX_NONE);
	/* The job that is held up most comes first. */
	expect(&f, &jobs.row[0], 300, VERDICT_HOST_CODE, 50);
	expect(&f, &jobs.row[1], 100, VERDICT_HEALTHY, 100);
	expect(&f, &jobs.row[2], 400, VERDICT_HEALTHY, 100);
	assert_int_equal(jobs.row[0].verdict.idle.most->root.cause, IDLE_SLEEP);
	assert_ptr_equal(jobs.row[0].verdict.roots, &jobs.row[0].waits.waits);
	end(&f, &jobs);
}

/* In words each job begins with its process's name, or with "process" if that is not known. */
static void without_name(void **state)
{
	struct verdict_scene f;
	struct job_verdicts jobs;
	struct results results = { .jobs = &jobs };
	char text[512];
	uint32_t second;

	begin(&f);
	second = add_process(&f, 300, 1);
	works(&f, second, 0, 1000);
	f.scene.model->processes.row[f.scene.model->threads.row[second].process].name = 0;
	judge(&f, &jobs);
	assert_int_equal(jobs.count, 2);
	verdict_each(f.scene.model, &results, text, sizeof(text));
	assert_non_null(strstr(text, "; process 300: healthy. More on one"));
	end(&f, &jobs);
}

/* A process and its children are one job; a process beside it that only sleeps is no job. */
static void one_job(void **state)
{
	struct verdict_scene f;
	struct job_verdicts jobs;

	begin(&f);
	works(&f, add_process(&f, 300, 100), 0, 1000);
	sleeps(&f, add_process(&f, 400, 1), 0, 1000);
	judge(&f, &jobs);
	assert_int_equal(jobs.count, 0);
	end(&f, &jobs);
}

/* A process whose parent had ended when another process of the job got the parent's id is not of that job. */
static void parent_id_again(void **state)
{
	struct verdict_scene f;
	struct job_verdicts jobs;
	struct model *model;
	uint32_t orphan, later;

	begin(&f);
	model = f.scene.model;
	orphan = add_process(&f, 300, 400);
	works(&f, orphan, 0, 1000);
	model->processes.row[model->threads.row[orphan].process].start_ns = 100 * US;
	later = add_process(&f, 400, 100);
	model->threads.row[later].first_ns = 500 * US;
	model->processes.row[model->threads.row[later].process].start_ns = 500 * US;
	judge(&f, &jobs);
	assert_int_equal(jobs.count, 2);
	end(&f, &jobs);
}

/* In a recording of the whole machine only processes that are known to work are jobs. */
static void whole_machine(void **state)
{
	struct verdict_scene f;
	struct job_verdicts jobs;

	begin(&f);
	works(&f, add_process(&f, 300, 1), 0, 1000);
	f.scene.model->info.system_wide = true;
	judge(&f, &jobs);
	assert_int_equal(jobs.count, 2);
	end(&f, &jobs);
}

/* Two processes with a pipeline each: the verdict is about the process with more steps. */
static void fetching(void **state)
{
	struct pipeline_steps steps[2];
	struct pipeline_usage usage;
	struct verdict_scene f;
	struct job_verdicts jobs;
	struct pipeline *pipeline;
	uint32_t second;

	begin(&f);
	verdict_add_pipeline(&f);
	second = add_process(&f, 300, 1);
	works(&f, second, 0, 400);
	sleeps(&f, second, 400, 1000);
	pipeline = pipeline_add(&f.pipelines, "torch", f.scene.model->threads.row[second].process);
	f.usage.pipeline = &f.pipelines.list.row[0];
	usage = (struct pipeline_usage){ .pipeline = pipeline, .fetch = { .thread = second } };
	f.steps.count = 20;
	f.steps.judged_to_ns = 1000 * US;
	steps[0] = f.steps;
	steps[1] = (struct pipeline_steps){ .usage = &usage,
					    .count = 10,
					    .judged = 8,
					    .judged_ns = 1000 * US,
					    .judged_wait_ns = 600 * US,
					    .judged_to_ns = 1000 * US };
	f.all_steps = (struct step_results){ .pipelines = steps, .count = 2 };
	judge(&f, &jobs);
	verdict_expect(&f, VERDICT_HEALTHY, 100);
	assert_int_equal(jobs.count, 2);
	assert_int_equal(jobs.only, 1);
	assert_int_equal(jobs.row[0].steps.main, 1);
	expect(&f, &jobs.row[0], 300, VERDICT_HOST_CODE, 60);
	expect(&f, &jobs.row[1], 100, VERDICT_HEALTHY, 100);
	assert_string_equal(verdict_of_name(jobs.row[0].verdict.of), "step_time");
	end(&f, &jobs);
}

/* Each process has its own device: the threads of one that wait for it say nothing about the others. */
static void launching(void **state)
{
	struct verdict_scene f;
	struct job_verdicts jobs;
	struct scene *scene = &f.scene;
	uint32_t second;

	begin(&f);
	second = add_process(&f, 300, 1);
	scene->model->functions.row[scene->launch].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
	scene->model->functions.row[scene->sync].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
	/* A wait that spins: it needs no notice, so its whole time counts. */
	small_span(scene->model, second, 0, 1000 * US, STATE_RUNNING);
	for (uint64_t i = 0; i < 12; i++) {
		small_call(scene->model, scene->main, scene->launch, (700 + i) * US, (701 + i) * US);
		small_call(scene->model, second, scene->launch, (10 + i) * US, (11 + i) * US);
	}
	small_call(scene->model, second, scene->sync, 40 * US, 1000 * US);
	judge(&f, &jobs);
	assert_int_equal(jobs.count, 2);
	expect(&f, &jobs.row[0], 100, VERDICT_HOST_CODE, 100);
	assert_true(jobs.row[0].waits.bounds.at_least_percent < 1);
	expect(&f, &jobs.row[1], 300, VERDICT_DEVICE, jobs.row[1].waits.bounds.at_least_percent);
	assert_true(jobs.row[1].verdict.busy);
	end(&f, &jobs);
}

/* If there are more jobs than are listed, those that are held up most are listed, wherever they are in the trace. */
static void many(void **state)
{
	struct verdict_scene f;
	struct job_verdicts jobs;
	uint32_t last;

	begin(&f);
	for (uint32_t i = 0; i < JOB_VERDICTS_MAX; i++)
		works(&f, add_process(&f, 300 + i, 1), 0, 1000);
	last = add_process(&f, 900, 1);
	works(&f, last, 0, 500);
	sleeps(&f, last, 500, 1000);
	judge(&f, &jobs);
	assert_int_equal(jobs.count, JOB_VERDICTS_MAX);
	assert_int_equal(jobs.less, 2);
	assert_int_equal(jobs.more, 0);
	expect(&f, &jobs.row[0], 900, VERDICT_HOST_CODE, 50);
	assert_int_equal(jobs.row[0].verdict.idle.most->root.cause, IDLE_SLEEP);
	end(&f, &jobs);
}

/* The job of the main verdict is listed, though others are held up more. */
static void many_beside_one(void **state)
{
	struct pipeline_steps steps;
	struct verdict_scene f;
	struct job_verdicts jobs;

	begin(&f);
	verdict_add_pipeline(&f);
	f.usage.pipeline = &f.pipelines.list.row[0];
	for (uint32_t i = 0; i < JOB_VERDICTS_MAX + 1; i++) {
		uint32_t thread = add_process(&f, 300 + i, 1);

		works(&f, thread, 0, 500);
		sleeps(&f, thread, 500, 1000);
	}
	f.steps.count = 20;
	f.steps.judged_to_ns = 1000 * US;
	steps = f.steps;
	f.all_steps = (struct step_results){ .pipelines = &steps, .count = 1 };
	judge(&f, &jobs);
	verdict_expect(&f, VERDICT_HEALTHY, 100);
	assert_int_equal(jobs.count, JOB_VERDICTS_MAX);
	assert_int_equal(jobs.less, 2);
	assert_int_equal(jobs.only, JOB_VERDICTS_MAX - 1);
	expect(&f, &jobs.row[jobs.only], 100, VERDICT_HEALTHY, 100);
	end(&f, &jobs);
}

/* Jobs beyond the maximum are counted. */
static void too_many(void **state)
{
	struct verdict_scene f;
	struct job_verdicts jobs;

	begin(&f);
	for (uint32_t i = 0; i < 8 * JOB_VERDICTS_MAX + 1; i++)
		works(&f, add_process(&f, 300 + i, 1), 0, 1000);
	judge(&f, &jobs);
	assert_int_equal(jobs.count, JOB_VERDICTS_MAX);
	assert_int_equal(jobs.less, 7 * JOB_VERDICTS_MAX);
	assert_int_equal(jobs.more, 2);
	end(&f, &jobs);
}

/* Adds a second job with a device of its own: it is busy from @from_us to 300 us, but for @idle_us before 200 us. */
static uint32_t add_device(struct verdict_scene *f, uint64_t from_us, uint64_t idle_us)
{
	struct model *model = f->scene.model;
	uint32_t second = add_process(f, 300, 1);
	struct device_task *task;
	uint32_t device = model->devices.count;

	small_device(model, model->threads.row[second].process, "the other device",
		     PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	small_task(model, device, from_us * US, (200 - idle_us) * US);
	task = small_task(model, device, 200 * US, 300 * US);
	task->thread = second;
	task->enqueue_ns = 180 * US;
	task->enqueue_dur_ns = 10 * US;
	task->submit_ns = 190 * US;
	return second;
}

static void judge_devices(struct verdict_scene *f, struct job_verdicts *jobs)
{
	const struct analysis_options options = { 0 };

	assert_true(MODEL_PUSH(&f->scene.model->files, 0));
	verdict_compute(f);
	assert_int_equal(job_verdicts_find(f->scene.model, &options, &f->facts, jobs), 0);
}

/* The device of one job waits for its own worker, the device of the other for a CPU: neither has the other's root. */
static void two_devices(void **state)
{
	struct verdict_scene f;
	struct job_verdicts jobs;
	uint32_t second;

	verdict_begin(&f);
	second = add_device(&f, 100, 50);
	verdict_main_waits(&f);
	small_span(f.scene.model, second, 0, 190 * US, STATE_RUNNABLE)->other = f.scene.outsider;
	works(&f, second, 190, 1000);
	judge_devices(&f, &jobs);
	/* Together: 85 of 450 us are the first one's, 40 the second one's. */
	verdict_expect(&f, VERDICT_HOST_CODE, 85.0 / 4.5);
	assert_int_equal(jobs.count, 2);
	assert_int_equal(jobs.only, INDEX_NONE);
	expect(&f, &jobs.row[0], 100, VERDICT_HOST_CODE, 34);
	expect(&f, &jobs.row[1], 300, VERDICT_CPU, 20);
	assert_int_equal(jobs.row[0].verdict.of, VERDICT_OF_DEVICE_TIME);
	assert_int_equal(jobs.row[0].verdict.idle.most->root.who, f.scene.worker);
	assert_int_equal(jobs.row[0].verdict.roots->total_ns, 100 * US);
	assert_int_equal(jobs.row[1].verdict.idle.most->root.thread, second);
	assert_int_equal(jobs.row[1].verdict.roots->total_ns, 50 * US);
	for (uint32_t i = 0; i < jobs.row[1].verdict.roots->count; i++)
		assert_int_equal(jobs.row[1].verdict.roots->row[i].root.thread, second);
	end(&f, &jobs);
}

/* A busy device is no loss: the job whose device waits comes first. */
static void busy_device(void **state)
{
	struct verdict_scene f;
	struct job_verdicts jobs;
	uint32_t second;

	verdict_begin(&f);
	second = add_device(&f, 100, 10);
	works(&f, second, 0, 1000);
	verdict_main_waits(&f);
	judge_devices(&f, &jobs);
	assert_int_equal(jobs.count, 2);
	expect(&f, &jobs.row[0], 100, VERDICT_HOST_CODE, 34);
	expect(&f, &jobs.row[1], 300, VERDICT_DEVICE, 95);
	assert_true(jobs.row[1].verdict.busy);
	end(&f, &jobs);
}

/* A job without a device of its own is judged by its threads; the verdict is about the one with the device. */
static void beside_device(void **state)
{
	struct verdict_scene f;
	struct job_verdicts jobs;
	uint32_t second;

	verdict_begin(&f);
	verdict_main_waits(&f);
	second = add_process(&f, 300, 1);
	works(&f, second, 0, 600);
	sleeps(&f, second, 600, 1000);
	judge_devices(&f, &jobs);
	assert_int_equal(jobs.count, 2);
	assert_int_equal(jobs.only, 1);
	expect(&f, &jobs.row[0], 300, VERDICT_HOST_CODE, 40);
	assert_int_equal(jobs.row[0].verdict.of, VERDICT_OF_WALL_TIME);
	expect(&f, &jobs.row[1], 100, VERDICT_HOST_CODE, 34);
	end(&f, &jobs);
}

/* In device files alone the processes are ranks of one job. */
static void files_alone(void **state)
{
	struct verdict_scene f;
	struct job_verdicts jobs;

	verdict_begin(&f);
	works(&f, add_device(&f, 100, 50), 0, 1000);
	verdict_main_waits(&f);
	judge_devices(&f, &jobs);
	assert_int_equal(jobs.count, 2);
	job_verdicts_free(&jobs);
	f.scene.model->files.count = 0;
	assert_int_equal(job_verdicts_find(f.scene.model, &(struct analysis_options){ 0 }, &f.facts, &jobs), 0);
	assert_int_equal(jobs.count, 0);
	end(&f, &jobs);
}

/* A rank waits for the others of its distributed job only, though it was late for longer than they were. */
static void late_itself(void **state)
{
	for (uint32_t other_job = 0; other_job < 2; other_job++) {
		struct rank_usage ranks[] = { { .device = 0, .wait_ns = 90 * US, .late_ns = 200 * US },
					      { .device = 1, .wait_ns = 10 * US, .late_ns = 50 * US } };
		struct communication_results kept;
		struct verdict_scene f;
		struct job_verdicts jobs;

		verdict_begin(&f);
		works(&f, add_device(&f, 100, 50), 0, 1000);
		verdict_main_waits(&f);
		judge_devices(&f, &jobs);
		job_verdicts_free(&jobs);
		kept = f.scene.results.communication;
		ranks[1].job = other_job;
		f.scene.results.communication.ranks = ranks;
		f.scene.results.communication.rank_count = 2;
		assert_int_equal(job_verdicts_find(f.scene.model, &(struct analysis_options){ 0 }, &f.facts, &jobs), 0);
		assert_int_equal(jobs.count, 2);
		expect(&f, &jobs.row[0], 100, VERDICT_COMMUNICATION, 36);
		assert_int_equal(jobs.row[0].verdict.straggler, other_job ? INDEX_NONE : 1);
		assert_int_equal(jobs.row[0].devices.communication.rank_count, other_job ? 1 : 2);
		f.scene.results.communication = kept;
		end(&f, &jobs);
	}
}

/* If it is not known whose device it is, jobs are not told apart. */
static void unknown_device(void **state)
{
	struct verdict_scene f;
	struct job_verdicts jobs;

	verdict_begin(&f);
	works(&f, add_device(&f, 100, 50), 0, 1000);
	f.scene.model->devices.row[1].process = INDEX_NONE;
	verdict_main_waits(&f);
	judge_devices(&f, &jobs);
	assert_int_equal(jobs.count, 0);
	end(&f, &jobs);
}

/* CPUs that another recorded job has are not the job's own threads'; those of a worker process that it started are. */
static void cpus_of_another(void **state)
{
	struct verdict_scene f;
	struct job_verdicts jobs;

	for (int own = 0; own < 2; own++) {
		uint32_t second;

		verdict_begin(&f);
		second = add_process(&f, 300, own ? 100 : 1);
		works(&f, second, 0, 1000);
		small_span(f.scene.model, f.scene.main, 0, 170 * US, STATE_RUNNABLE)->other = second;
		scene_main_launches(&f.scene, 170);
		judge_devices(&f, &jobs);
		verdict_expect(&f, VERDICT_CPU, 28);
		verdict_says(&f, own ? "because the job's own threads take the CPUs from each other"
				     : "because other recorded processes have the CPUs");
		verdict_says(&f, own ? "The job's own threads need more CPUs"
				     : "Other recorded processes have the CPUs: CPUs of its own for each");
		end(&f, &jobs);
	}
}

/* On the whole machine all processes descend from a traced one; those of a job run the same program. */
static void cpus_of_the_machine(void **state)
{
	struct verdict_scene f;
	struct job_verdicts jobs;

	for (int own = 0; own < 2; own++) {
		struct model *model;
		uint32_t second, program;

		verdict_begin(&f);
		model = f.scene.model;
		program = model_string(model, "/usr/bin/python3");
		add_process(&f, 1, 0);
		second = add_process(&f, 300, own ? 100 : 1);
		model->info.system_wide = true;
		model->processes.row[f.scene.process].parent_pid = 1;
		model->processes.row[f.scene.process].exe = program;
		model->processes.row[model->threads.row[second].process].exe = program;
		works(&f, second, 0, 1000);
		small_span(model, f.scene.main, 0, 170 * US, STATE_RUNNABLE)->other = second;
		scene_main_launches(&f.scene, 170);
		judge_devices(&f, &jobs);
		verdict_expect(&f, VERDICT_CPU, 28);
		verdict_says(&f, own ? "because the job's own threads take the CPUs from each other"
				     : "because other recorded processes have the CPUs");
		end(&f, &jobs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(main_threads), cmocka_unit_test(without_name), cmocka_unit_test(one_job),
		cmocka_unit_test(parent_id_again),
		cmocka_unit_test(whole_machine), cmocka_unit_test(fetching),
		cmocka_unit_test(launching),	 cmocka_unit_test(many),
		cmocka_unit_test(many_beside_one), cmocka_unit_test(too_many),
		cmocka_unit_test(two_devices),	 cmocka_unit_test(busy_device),
		cmocka_unit_test(beside_device), cmocka_unit_test(unknown_device),
		cmocka_unit_test(files_alone),	 cmocka_unit_test(late_itself),
		cmocka_unit_test(cpus_of_another), cmocka_unit_test(cpus_of_the_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
