/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_joins - writes a trace and a device's profile with known launches, tasks and times.
 *
 *	make_joins TRACE PROFILE [LAUNCHES]
 *
 * A process launches on 8 streams, each a queue that runs one kernel after the other, and waits for one
 * of them at intervals. TRACE lacks each call with LOST_PERCENT probability, at random. PROFILE is msprof's
 * task_time table, whose clock drifts and is set five times, and whose task numbers restart
 * at 65536. Each call's third argument is its index among all launches on its stream,
 * lost or not, and its return value is the time in ns that its task waited for its start.
 *
 * If PROFILE ends in .json it is a Chrome trace instead, with names, streams and device times, but without
 * numbers or a clock.
 *
 * Prints the number of launches and of recorded launches, as shell assignments.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/trace_builder.h"

#define SECOND 1000000000ull
#define STREAMS 8
#define FIRST_STREAM 3
#define START (1000 * SECOND)
#define REALTIME 1760000000000000000ull /* at START */
#define PID 5000u
#define LOST_PERCENT 5
#define SYNC_EVERY 250
#define DRIFT 200e-6

enum { LAUNCH = 1, SYNC };

static const struct {
	uint64_t at_ns; /* since START */
	int64_t by_ns;
} steps[] = {
	{ 5 * SECOND, 3000000 },  { 11 * SECOND, -1500000 }, { 17 * SECOND, 400000 },
	{ 23 * SECOND, -150000 }, { 28 * SECOND, 150000 },
};

struct stream {
	uint64_t free_ns; /* when all its tasks are done */
	uint32_t place;
};

struct run {
	struct trace_builder *trace;
	FILE *profile;
	bool is_json;
	struct stream streams[STREAMS];
	uint64_t now_ns, clock_ns;
	uint64_t random;
	uint64_t launches, recorded, syncs;
};

static uint64_t draw(struct run *run, uint64_t below)
{
	run->random = run->random * 6364136223846793005u + 1442695040888963407u;
	return (run->random >> 33) % below;
}

/* Returns the device's wall-clock time. */
static uint64_t device_time(bool is_json, uint64_t host_ns)
{
	int64_t ns = (int64_t)(REALTIME + host_ns - START) +
		     (int64_t)((double)(host_ns - START) * DRIFT);

	for (size_t i = 0; !is_json && i < sizeof(steps) / sizeof(*steps); i++) {
		if (host_ns - START >= steps[i].at_ns)
			ns += steps[i].by_ns;
	}
	return (uint64_t)ns;
}

static void print_us(FILE *file, uint64_t ns, char end)
{
	fprintf(file, "%" PRIu64 ".%03" PRIu64 "\t%c", ns / 1000, ns % 1000, end);
}

static void add_head(struct trace_builder *trace)
{
	static const uint32_t targets[] = { PID };

	trace_segment(trace, &(struct trace_segment){ .start_ns = START - SECOND,
						      .start_realtime_ns = REALTIME - SECOND,
						      .targets = targets,
						      .target_count = 1 });
	trace_function(trace, &(struct trace_function){
				      .id = LAUNCH,
				      .runtime = "acl",
				      .name = "aclrtLaunchKernel",
				      .kind = PROFBPF__FUNCTION__KIND__LAUNCH,
				      .roles = { PROFBPF__FUNCTION__ROLE__STREAM,
						 PROFBPF__FUNCTION__ROLE__TASK } });
	trace_function(trace,
		       &(struct trace_function){ .id = SYNC,
						 .runtime = "acl",
						 .name = "aclrtSynchronizeStream",
						 .kind = PROFBPF__FUNCTION__KIND__SYNC,
						 .roles = { PROFBPF__FUNCTION__ROLE__STREAM } });
	trace_target(trace, START - SECOND, PID, PID, "job");
}

/* Adds clocks once a second, as the daemon does; the rows between them make a batch. */
static void add_clocks(struct run *run, uint64_t until_ns)
{
	for (; run->clock_ns <= until_ns; run->clock_ns += SECOND)
		trace_clock(run->trace,
			    &(struct trace_clock){ .monotonic_ns = run->clock_ns,
						   .monotonic_raw_ns = run->clock_ns,
						   .boottime_ns = run->clock_ns,
						   .realtime_ns =
							   REALTIME + run->clock_ns - START });
}

static uint64_t handle(uint32_t stream)
{
	return 0x7f0000001000 + stream * 64;
}

static void add_task(struct run *run, uint32_t stream, uint64_t start_ns, uint64_t end_ns)
{
	/* If the clock is set during a task, the table still has the right duration. */
	uint64_t start = device_time(run->is_json, start_ns), end = start + (end_ns - start_ns);

	if (run->is_json) {
		start -= REALTIME;
		fprintf(run->profile,
			",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"name\":\"kernel%u\",\"ts\":%" PRIu64
			".%03" PRIu64 ",\"dur\":%" PRIu64 ".%03" PRIu64 ",\"args\":{\"place\":%u}}",
			stream + FIRST_STREAM, run->streams[stream].place % 100, start / 1000,
			start % 1000, (end_ns - start_ns) / 1000, (end_ns - start_ns) % 1000,
			run->streams[stream].place);
		return;
	}
	fprintf(run->profile, "0,kernel%u,AI_CORE,%u,%u,", run->streams[stream].place % 100,
		stream + FIRST_STREAM, run->streams[stream].place & 0xffff);
	print_us(run->profile, end - start, ',');
	print_us(run->profile, start, ',');
	print_us(run->profile, end, '\n');
}

static void launch(struct run *run)
{
	uint32_t number = (uint32_t)draw(run, STREAMS);
	struct stream *stream = &run->streams[number];
	uint64_t call_ns = run->now_ns, returned_ns = call_ns + 2000 + draw(run, 3000);
	uint64_t start_ns = call_ns + 1000 + draw(run, 9000);
	char name[32];

	if (start_ns < stream->free_ns + 500)
		start_ns = stream->free_ns + 500;
	stream->free_ns = start_ns + 5000 + draw(run, 200000);
	add_task(run, number, start_ns, stream->free_ns);
	run->launches++;
	if (draw(run, 100) >= LOST_PERCENT) {
		snprintf(name, sizeof(name), "kernel%u", stream->place % 100);
		trace_call(run->trace,
			   &(struct trace_call_row){
				   .start_ns = call_ns,
				   .text = name,
				   .end_ns = returned_ns,
				   .tid = PID,
				   .tgid = PID,
				   .function = LAUNCH,
				   .ret = (uint32_t)(start_ns - call_ns),
				   .args = { handle(number),
					     (number + FIRST_STREAM) |
						     (uint64_t)(stream->place & 0xffff) << 16,
					     stream->place } });
		run->recorded++;
	}
	stream->place++;
	run->now_ns = returned_ns + draw(run, 60000);
}

static void synchronize(struct run *run)
{
	uint32_t number = (uint32_t)draw(run, STREAMS);
	uint64_t done_ns = run->streams[number].free_ns, call_ns = run->now_ns;

	run->now_ns = (done_ns > call_ns ? done_ns : call_ns) + 2000 + draw(run, 6000);
	trace_call(run->trace, &(struct trace_call_row){ .start_ns = call_ns,
							 .end_ns = run->now_ns,
							 .tid = PID,
							 .tgid = PID,
							 .function = SYNC,
							 .args = { handle(number) } });
	run->now_ns += draw(run, 5000);
	run->syncs++;
}

static void finish(struct run *run, const char *path)
{
	uint64_t end_ns = run->now_ns + SECOND;

	add_clocks(run, end_ns);
	trace_source(run->trace, "api", run->launches + run->syncs, run->recorded + run->syncs,
		     "ring full", run->launches - run->recorded);
	trace_statistics(run->trace, end_ns, true, "duration");
	trace_write(run->trace, path);
	trace_builder_free(run->trace);
	printf("launches=%" PRIu64 " recorded=%" PRIu64 "\n", run->launches, run->recorded);
}

int main(int argc, char **argv)
{
	struct run run = { .now_ns = START, .clock_ns = START - SECOND, .random = 12345 };
	uint64_t launches = argc > 3 ? strtoull(argv[3], NULL, 10) : 1000;

	if (argc < 3) {
		fputs("usage: make_joins TRACE PROFILE [LAUNCHES]\n", stderr);
		return 2;
	}
	run.profile = fopen(argv[2], "we");
	if (!run.profile) {
		perror(argv[2]);
		return 1;
	}
	run.trace = trace_builder_new();
	run.is_json = strlen(argv[2]) > 5 && !strcmp(argv[2] + strlen(argv[2]) - 5, ".json");
	fputs(run.is_json ? "[{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":"
			    "\"GPU 0\"}}"
			  : "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),"
			    "task_start(us),task_stop(us)\n",
	      run.profile);
	add_head(run.trace);
	for (uint32_t i = 0; i < STREAMS; i++)
		run.streams[i].place = 65000 - 7000 * i;
	for (uint64_t n = 0; n < launches; n++) {
		add_clocks(&run, run.now_ns);
		launch(&run);
		if (n % SYNC_EVERY == SYNC_EVERY - 1)
			synchronize(&run);
	}
	finish(&run, argv[1]);
	if (run.is_json)
		fputs("\n]\n", run.profile);
	if (fclose(run.profile) != 0) {
		perror(argv[2]);
		return 1;
	}
	return 0;
}
