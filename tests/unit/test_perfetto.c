/* SPDX-License-Identifier: Apache-2.0 */
/* The Perfetto export, read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/export/export.h"
#include "analyzer/view/report.h"
#include "tests/unit/perfetto_read.h"
#include "tests/unit/sample_trace.h"
#include "tests/unit/small_model.h"

static const struct results no_results;

static const struct export_options everything = { .start_ns = 0, .end_ns = UINT64_MAX };

/* Exports the model and reads the result back; frees the model. */
static struct perfetto_read *export(struct model *model, const struct export_options *options)
{
	char path[] = "/tmp/profbpf-test-XXXXXX", error[256] = "";
	struct export_options session = { .start_ns = model->info.session_start_ns,
					  .end_ns = model->info.session_end_ns };
	struct perfetto_read *read;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	if (export_perfetto.write(model, &no_results, path, options ? options : &session, error, sizeof(error)))
		fail_msg("%s", error);
	read = perfetto_read(path);
	unlink(path);
	model_free(model);
	return read;
}

static size_t count_slices(const struct perfetto_read *read, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < read->slice_count; i++)
		count += strcmp(read->slices[i].name, name) == 0;
	return count;
}

static const struct read_slice *find_slice(const struct perfetto_read *read, const char *name,
					   size_t index)
{
	for (size_t i = 0; i < read->slice_count; i++) {
		if (strcmp(read->slices[i].name, name) == 0 && index-- == 0)
			return &read->slices[i];
	}
	fail_msg("no slice %s", name);
	return NULL;
}

#define AT(ms) (SAMPLE_START + (uint64_t)((ms)*1000 + 0.5) * US)

static void calls_become_slices(void **state)
{
	struct perfetto_read *read = export(load_trace(sample_trace(0)), NULL);
	const struct read_slice *slice = find_slice(read, "clEnqueueNDRangeKernel", 7);
	const Perfetto__DebugAnnotation *arg;

	assert_int_equal(count_slices(read, "clEnqueueNDRangeKernel"), 100);
	assert_int_equal(slice->start_ns, AT(317));
	assert_int_equal(slice->end_ns, AT(317) + 8 * US);
	assert_int_equal(slice->depth, 0);
	assert_string_equal(slice->category, "launch");
	arg = read_arg(read, slice, "launched");
	assert_non_null(arg);
	assert_string_equal(read_value(read, arg->string_value_iid), "kernel");
	assert_null(read_arg(read, slice, "ret"));
	assert_null(read_arg(read, slice, "open"));
	/* The first three calls failed. */
	arg = read_arg(read, find_slice(read, "clEnqueueNDRangeKernel", 2), "ret");
	assert_non_null(arg);
	assert_int_equal(arg->int_value, -30);
	assert_int_equal(count_slices(read, "clFinish"), 2);
	slice = find_slice(read, "clFinish", 1);
	assert_int_equal(slice->end_ns, SAMPLE_END);
	arg = read_arg(read, slice, "open");
	assert_true(arg && arg->bool_value);
	perfetto_read_free(read);
}

static void inner_calls_nest(void **state)
{
	struct perfetto_read *read = export(load_trace(sample_trace(0)), NULL);

	for (size_t i = 0; i < 5; i++) {
		const struct read_slice *outer = find_slice(read, "cudaLaunchKernel", i);
		const struct read_slice *inner = find_slice(read, "cuLaunchKernel", i);

		assert_int_equal(outer->depth, 0);
		assert_int_equal(inner->depth, 1);
		assert_int_equal(inner->track, outer->track);
		assert_int_equal(inner->start_ns, outer->start_ns + 5 * US);
		assert_int_equal(outer->end_ns, outer->start_ns + 20 * US);
	}
	perfetto_read_free(read);
}

static void ioctls_become_slices(void **state)
{
	struct perfetto_read *read = export(load_trace(sample_trace(0)), NULL);
	const struct read_slice *slice = find_slice(read, "ioctl drm 0xc0106442", 3);
	const Perfetto__DebugAnnotation *arg = read_arg(read, slice, "ret");

	assert_int_equal(count_slices(read, "ioctl drm 0xc0106442"), 4);
	assert_int_equal(slice->end_ns - slice->start_ns, 400 * US);
	assert_non_null(arg);
	assert_int_equal(arg->int_value, -16);
	arg = read_arg(read, slice, "device");
	assert_string_equal(read_value(read, arg->string_value_iid), "/dev/dri/renderD128");
	perfetto_read_free(read);
}

static void thread_tracks_name_their_threads(void **state)
{
	struct perfetto_read *read = export(load_trace(sample_trace(0)), NULL);
	const struct read_track *track =
		read_track(read, find_slice(read, "cudaLaunchKernel", 0)->track);

	assert_int_equal(track->descriptor->thread->pid, 100);
	assert_int_equal(track->descriptor->thread->tid, 101);
	track = read_track(read, find_slice(read, "clFinish", 0)->track);
	assert_int_equal(track->descriptor->thread->tid, 100);
	perfetto_read_free(read);
}

static const Perfetto__ProcessTree__Process *find_process(const struct perfetto_read *read, int pid)
{
	for (size_t i = 0; i < read->packet_count; i++) {
		const Perfetto__ProcessTree *tree = read->packets[i]->process_tree;

		for (size_t k = 0; tree && k < tree->n_processes; k++) {
			if (tree->processes[k]->pid == pid)
				return tree->processes[k];
		}
	}
	return NULL;
}

static const char *find_thread(const struct perfetto_read *read, int tid, int tgid)
{
	for (size_t i = 0; i < read->packet_count; i++) {
		const Perfetto__ProcessTree *tree = read->packets[i]->process_tree;

		for (size_t k = 0; tree && k < tree->n_threads; k++) {
			if (tree->threads[k]->tid == tid && tree->threads[k]->tgid == tgid)
				return tree->threads[k]->name;
		}
	}
	return NULL;
}

static void processes_and_threads_have_names(void **state)
{
	struct perfetto_read *read = export(load_trace(sample_trace(0)), NULL);
	const Perfetto__ProcessTree__Process *process = find_process(read, 100);

	assert_non_null(process);
	assert_int_equal(process->n_cmdline, 2);
	assert_string_equal(process->cmdline[0], "job");
	assert_string_equal(process->cmdline[1], "--fast");
	assert_string_equal(find_thread(read, 100, 100), "main");
	assert_string_equal(find_thread(read, 101, 100), "worker");
	/* It appears only beside the targets. */
	assert_non_null(find_process(read, 200));
	assert_string_equal(find_thread(read, 200, 200), "thief");
	perfetto_read_free(read);
}

struct expected_switch {
	uint32_t cpu;
	uint64_t ns;
	int64_t prev_state;
	int32_t next_tid;
	const char *next_comm;
};

#define UNRECORDED 0x80
#define HOLE(cpu) (2000000001 + (cpu)), "unrecorded"

static void switches_leave_holes(void **state)
{
	static const struct expected_switch expected[] = {
		{ 0, SAMPLE_START, UNRECORDED, 100, "main" },
		{ 0, AT(100), 0x01, HOLE(0) },
		{ 0, AT(300), UNRECORDED, 200, "thief" },
		{ 0, AT(301), 0x01, 100, "main" },
		{ 0, AT(500), 0x100, 200, "thief" },
		{ 0, AT(600), 0x100, 100, "main" },
		{ 0, AT(700), 0x02, HOLE(0) },
		{ 0, AT(800), UNRECORDED, 0, "swapper" },
		{ 0, AT(800.5), 0x100, 100, "main" },
		{ 1, SAMPLE_START, UNRECORDED, HOLE(1) },
		{ 1, AT(50.01), UNRECORDED, 0, "swapper" },
		{ 1, AT(50.02), 0x100, 101, "worker" },
		{ 1, AT(1000), 0x01, HOLE(1) },
		{ 1, AT(1500), UNRECORDED, 101, "worker" },
		{ 1, AT(1600), 0x10, HOLE(1) },
	};
	const size_t count = sizeof(expected) / sizeof(expected[0]);
	struct perfetto_read *read = export(load_trace(sample_trace(0)), NULL);

	assert_int_equal(read->switch_count, count);
	for (size_t i = 0; i < count; i++) {
		const struct read_switch *row = &read->switches[i];

		assert_int_equal(row->cpu, expected[i].cpu);
		assert_int_equal(row->ns, expected[i].ns);
		assert_int_equal(row->prev_state, expected[i].prev_state);
		assert_int_equal(row->next_tid, expected[i].next_tid);
		assert_string_equal(row->next_comm, expected[i].next_comm);
		/* A CPU's first row is verbose, otherwise readers drop it. */
		assert_int_equal(row->verbose, i == 0 || expected[i - 1].cpu != row->cpu);
	}
	perfetto_read_free(read);
}

static void wakes_name_their_wakers(void **state)
{
	struct perfetto_read *read = export(load_trace(sample_trace(0)), NULL);

	assert_int_equal(read->wake_count, 4);
	/* Wake-ups by main, which is shown on CPU 0 then: in the compact form. */
	for (size_t i = 0; i < read->wake_count; i++) {
		const struct read_wake *wake = &read->wakes[i];

		if (wake->ns == AT(50.01)) {
			assert_int_equal(wake->tid, 101);
			assert_int_equal(wake->waker, -1);
		} else if (wake->ns == AT(300)) {
			assert_int_equal(wake->tid, 100);
			assert_int_equal(wake->waker, -1);
			assert_int_equal(wake->cpu, 1);
		} else if (wake->ns == AT(800)) {
			assert_int_equal(wake->common_flags, 0x10);
		} else {
			assert_int_equal(wake->ns, AT(1500));
			assert_int_equal(wake->common_flags, 0x08);
		}
	}
	perfetto_read_free(read);
}

static void host_is_described(void **state)
{
	struct perfetto_read *read = export(load_trace(sample_trace(SAMPLE_SCHED_LOST)), NULL);
	size_t snapshots = 0, systems = 0;

	assert_non_null(read->packets[0]->clock_snapshot);
	for (size_t i = 0; i < read->packet_count; i++) {
		snapshots += read->packets[i]->clock_snapshot != NULL;
		if (read->packets[i]->system_info) {
			systems++;
			assert_true(strlen(read->packets[i]->system_info->utsname->release) > 0);
			assert_int_equal(read->packets[i]->system_info->num_cpus, 2);
		}
	}
	assert_int_equal(snapshots, 3);
	assert_int_equal(systems, 1);
	assert_string_equal(read_attribute(read, "hostname"), "testhost");
	assert_string_equal(read_attribute(read, "sched.lost.ring full"), "7");
	assert_string_equal(read_attribute(read, "api.produced"), "112");
	assert_null(read_attribute(read, "api.lost.ring full"));
	/* Begin, end, and one loss. */
	assert_int_equal(read->instants, 3);
	assert_int_equal(read->counters, 2);
	perfetto_read_free(read);
}

/* ---- Devices */

/* Times need no conversion; a launch per task. */
static struct model *device_model(void)
{
	struct model *model = small_model(1000, 9000);
	uint32_t process = small_process(model, 10, "job", true);
	uint32_t thread = small_thread(model, process, 10, "ten");
	uint32_t launch = small_function(model, "cuda", "launch", PROFBPF__FUNCTION__KIND__LAUNCH);
	uint32_t device = small_device(model, process, "GPU", 0);

	for (uint32_t i = 0; i < 4; i++) {
		small_call(model, thread, launch, 1000 + 100 * i, 1050 + 100 * i);
		small_task(model, device, 2000 + 100 * i, 2150 + 100 * i);
		model->tasks.row[i].call = i;
		model->tasks.row[i].enqueue_ns = 1010 + 100 * i;
		model->tasks.row[i].name = model_string(model, "kernel");
		model->calls.row[i].task = i;
	}
	small_index(model);
	return model;
}

static void overlapping_tasks_get_lanes(void **state)
{
	struct perfetto_read *read = export(device_model(), NULL);
	uint64_t lanes[4];

	assert_int_equal(count_slices(read, "kernel"), 4);
	for (size_t i = 0; i < 4; i++) {
		const struct read_slice *slice = find_slice(read, "kernel", i);
		const Perfetto__TrackDescriptor *track = read_track(read, slice->track)->descriptor;

		lanes[i] = slice->track;
		assert_int_equal(slice->depth, 0);
		assert_int_equal(slice->end_ns - slice->start_ns, 150);
		assert_string_equal(track->name, "Stream 1 (job 10)");
		assert_string_equal(read_track(read, track->parent_uuid)->descriptor->name, "GPU");
		assert_int_equal(read_arg(read, slice, "queue_delay_ns")->uint_value, 990);
	}
	assert_int_equal(lanes[0], lanes[2]);
	assert_int_equal(lanes[1], lanes[3]);
	assert_int_not_equal(lanes[0], lanes[1]);
	perfetto_read_free(read);
}

static void flows_join_launch_and_task(void **state)
{
	struct perfetto_read *read = export(device_model(), NULL);

	for (size_t i = 0; i < 4; i++) {
		const struct read_slice *launch = find_slice(read, "launch", i);
		const struct read_slice *task = find_slice(read, "kernel", i);

		assert_int_equal(launch->event->n_flow_ids, 1);
		assert_int_equal(task->event->n_terminating_flow_ids, 1);
		assert_int_equal(launch->event->flow_ids[0], task->event->terminating_flow_ids[0]);
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(launch->event->flow_ids[0],
					     find_slice(read, "launch", k)->event->flow_ids[0]);
	}
	perfetto_read_free(read);
}

/* A call that launched several tasks has an arrow to each. */
static void several_tasks_of_one_call(void **state)
{
	struct model *model = device_model();
	struct perfetto_read *read;

	for (uint32_t i = 0; i < 4; i++)
		model->tasks.row[i].call = 1;
	/* A task begins before its launch: the clocks disagree. */
	model->tasks.row[0].start_ns = 1050;
	read = export(model, NULL);
	assert_int_equal(find_slice(read, "launch", 1)->event->n_flow_ids, 3);
	assert_int_equal(find_slice(read, "launch", 0)->event->n_flow_ids, 0);
	assert_string_equal(read_attribute(read, "export.flows"), "3");
	assert_string_equal(read_attribute(read, "export.flows_against_time"), "1");
	perfetto_read_free(read);
}

static void tasks_without_times_are_counted(void **state)
{
	struct model *model = device_model();
	struct perfetto_read *read;

	model->tasks.row[2].flags |= MODEL_TASK_UNTIMED;
	read = export(model, NULL);
	assert_int_equal(count_slices(read, "kernel"), 3);
	assert_string_equal(read_attribute(read, "export.tasks_without_times"), "1");
	perfetto_read_free(read);
}

static void queue_depth_ends_at_zero(void **state)
{
	struct perfetto_read *read = export(device_model(), NULL);
	double last = -1, most = 0;

	for (size_t i = 0; i < read->packet_count; i++) {
		const Perfetto__TrackEvent *event = read->packets[i]->track_event;

		if (!event || event->type != PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER)
			continue;
		last = event->double_counter_value;
		most = last > most ? last : most;
	}
	assert_true(last == 0);
	assert_true(most == 4);
	perfetto_read_free(read);
}

/* ---- Windows, selections, clocks */

static void window_cuts_and_says_so(void **state)
{
	const struct export_options options = { .start_ns = 1120, .end_ns = 2120 };
	struct perfetto_read *read = export(device_model(), &options);
	const struct read_slice *slice = find_slice(read, "launch", 0);

	/* Calls 1 to 3, the first of them truncated; tasks 0 and 1, both truncated. */
	assert_int_equal(count_slices(read, "launch"), 3);
	assert_int_equal(slice->start_ns, 1120);
	assert_int_equal(slice->end_ns, 1150);
	assert_non_null(read_arg(read, slice, "cut"));
	assert_null(read_arg(read, find_slice(read, "launch", 1), "cut"));
	assert_int_equal(count_slices(read, "kernel"), 2);
	assert_int_equal(find_slice(read, "kernel", 1)->end_ns, 2120);
	/* Call 1 and tasks 2 and 3 begin outside: no arrow is complete. */
	assert_string_equal(read_attribute(read, "export.flows"), "0");
	perfetto_read_free(read);
}

static void processes_can_be_chosen(void **state)
{
	static const uint32_t pids[] = { 11 };
	struct export_options options = everything;
	struct perfetto_read *read;

	options.pids = pids;
	options.pid_count = 1;
	read = export(device_model(), &options);
	assert_int_equal(read->slice_count, 0);
	assert_null(find_process(read, 10));
	perfetto_read_free(read);
}

static void add_clock(struct model *model, uint64_t monotonic_ns, uint64_t boottime_ns)
{
	const struct clock_snapshot snapshot = { .monotonic_ns = monotonic_ns,
						 .boottime_ns = boottime_ns,
						 .realtime_ns = monotonic_ns };

	assert_int_equal(clock_table_add(model->clocks, &snapshot), 0);
}

/* The clocks' readings differ a little; lengths must not change because of that. */
static void durations_survive_the_clock(void **state)
{
	struct model *model = device_model();
	struct perfetto_read *read;

	add_clock(model, 1000, 500000);
	add_clock(model, 2075, 501090);
	add_clock(model, 2100, 501099);
	read = export(model, NULL);
	for (size_t i = 0; i < 4; i++) {
		const struct read_slice *task = find_slice(read, "kernel", i);

		assert_int_equal(task->start_ns, 2000 + 100 * i + 499000);
		assert_int_equal(task->end_ns - task->start_ns, 150);
	}
	perfetto_read_free(read);
}

static void suspend_moves_what_follows(void **state)
{
	struct model *model = device_model();
	struct perfetto_read *read;

	add_clock(model, 1000, 5000);
	add_clock(model, 1900, 5900 + 3000000);
	read = export(model, NULL);
	assert_int_equal(find_slice(read, "launch", 0)->start_ns, 5000);
	assert_int_equal(find_slice(read, "kernel", 0)->start_ns, 6000 + 3000000);
	perfetto_read_free(read);
}

static void no_clock_is_told(void **state)
{
	struct perfetto_read *read = export(device_model(), NULL);

	assert_int_equal(find_slice(read, "kernel", 0)->start_ns, 2000);
	assert_non_null(read_attribute(read, "clock"));
	perfetto_read_free(read);
}

/* ---- Thread ids used twice */

static void reused_tid_is_two_threads(void **state)
{
	struct model *model = small_model(1000, 9000);
	uint32_t process = small_process(model, 10, "job", true);
	uint32_t first = small_thread(model, process, 12, "first");
	uint32_t second = small_thread(model, process, 12, "second");
	uint32_t function = small_function(model, "cuda", "call", 0);
	struct perfetto_read *read;
	size_t freed = 0;

	model->threads.row[first].last_ns = 2000;
	model->threads.row[second].first_ns = 5000;
	small_call(model, first, function, 1500, 1600);
	small_call(model, second, function, 5500, 5600);
	small_index(model);
	read = export(model, NULL);
	assert_int_not_equal(find_slice(read, "call", 0)->track,
			     find_slice(read, "call", 1)->track);
	for (size_t i = 0; i < read->packet_count; i++) {
		const Perfetto__FtraceEventBundle *bundle = read->packets[i]->ftrace_events;

		if (!bundle || bundle->n_event == 0 || !bundle->event[0]->sched_process_free)
			continue;
		assert_int_equal(bundle->event[0]->timestamp, 4999);
		assert_int_equal(bundle->event[0]->sched_process_free->pid, 12);
		freed++;
	}
	assert_int_equal(freed, 1);
	perfetto_read_free(read);
}

/* ---- Strings */

static void long_names_are_cut_between_characters(void **state)
{
	struct model *model = device_model();
	struct perfetto_read *read;
	char *name = malloc(100002);

	/* Characters of two bytes, so that the limit falls inside one. */
	assert_non_null(name);
	name[0] = 'x';
	for (size_t i = 1; i < 100001; i += 2)
		memcpy(name + i, "\xc3\xa9", 2);
	name[100001] = '\0';
	model->tasks.row[0].name = model_string(model, name);
	read = export(model, NULL);
	for (size_t i = 0; i < read->slice_count; i++) {
		if (read->slices[i].name[0] != 'x')
			continue;
		assert_int_equal(strlen(read->slices[i].name), 16383);
		assert_memory_equal(read->slices[i].name, name, 16383);
	}
	assert_int_equal(count_slices(read, "kernel"), 3);
	free(name);
	perfetto_read_free(read);
}

static void names_become_utf8(void **state)
{
	struct model *model = device_model();
	struct perfetto_read *read;

	model->tasks.row[0].name = model_string(model, "bad\xff\xc3(");
	read = export(model, NULL);
	assert_int_equal(count_slices(read, "bad\xef\xbf\xbd\xef\xbf\xbd("), 1);
	perfetto_read_free(read);
}

/* ---- Failures */

static void failures_are_explained(void **state)
{
	struct model *model = device_model();
	char error[256] = "";

	assert_int_not_equal(export_perfetto.write(model, &no_results, "/nonexistent/x.pftrace", &everything,
					    error, sizeof(error)),
			     0);
	assert_non_null(strstr(error, "/nonexistent/x.pftrace"));
	assert_non_null(strstr(error, "No such file"));
	assert_int_not_equal(
		export_perfetto.write(model, &no_results, "/dev/full", &everything, error, sizeof(error)), 0);
	assert_non_null(strstr(error, "No space left"));
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_become_slices),
		cmocka_unit_test(inner_calls_nest),
		cmocka_unit_test(ioctls_become_slices),
		cmocka_unit_test(thread_tracks_name_their_threads),
		cmocka_unit_test(processes_and_threads_have_names),
		cmocka_unit_test(switches_leave_holes),
		cmocka_unit_test(wakes_name_their_wakers),
		cmocka_unit_test(host_is_described),
		cmocka_unit_test(overlapping_tasks_get_lanes),
		cmocka_unit_test(flows_join_launch_and_task),
		cmocka_unit_test(several_tasks_of_one_call),
		cmocka_unit_test(tasks_without_times_are_counted),
		cmocka_unit_test(queue_depth_ends_at_zero),
		cmocka_unit_test(window_cuts_and_says_so),
		cmocka_unit_test(processes_can_be_chosen),
		cmocka_unit_test(durations_survive_the_clock),
		cmocka_unit_test(suspend_moves_what_follows),
		cmocka_unit_test(no_clock_is_told),
		cmocka_unit_test(reused_tid_is_two_threads),
		cmocka_unit_test(long_names_are_cut_between_characters),
		cmocka_unit_test(names_become_utf8),
		cmocka_unit_test(failures_are_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
