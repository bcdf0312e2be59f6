/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.c - the output of the simulated Ascend: an exported PROF_* directory as from msprof,
 * and truth.json with the real times. The profile has device times by the device's counter only, compared
 * once with the host's clock at its begin, as msprof does; the truth uses CLOCK_MONOTONIC.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

#define DEVICE 0
#define HOST_DEVICE 31
#define SORT_CANN 7
#define SORT_HARDWARE 13
#define SORT_COMMUNICATION 17
#define GROUP "10.0.0.1%%eth0_60000_0_1" /* name of a group, as from HCCL */
#define STATISTICS_MAX 256

struct profile {
	char folder[PATH_MAX - 256];
	char stamp[32]; /* part of file names */
	bool first; /* the next element is the first of the JSON list */
	FILE *json;
};

static FILE *create(const struct profile *profile, const char *format, ...)
{
	char path[PATH_MAX];
	va_list arguments;
	size_t used = (size_t)snprintf(path, sizeof(path), "%s/", profile->folder);
	FILE *file;

	va_start(arguments, format);
	vsnprintf(path + used, sizeof(path) - used, format, arguments);
	va_end(arguments);
	file = fopen(path, "we");
	if (!file)
		fprintf(stderr,
			"ascend-sim: cannot write %s: %s; set ASCEND_SIM_OUT to a folder that is "
			"there\n",
			path, strerror(errno));
	return file;
}

/* Creates a file of the export. Returns NULL on failure, or if ASCEND_SIM_FILES does not select the file. */
static FILE *create_export(const struct profile *profile, const char *name, const char *type)
{
	const char *names = getenv("ASCEND_SIM_FILES");

	if (names && !strstr(names, name))
		return NULL;
	return create(profile, "mindstudio_profiler_output/%s_%s.%s", name, profile->stamp, type);
}

static bool make_folder(const struct profile *profile, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s%s", profile->folder, *name ? "/" : "", name);
	if (mkdir(path, 0755) == 0 || errno == EEXIST)
		return true;
	fprintf(stderr,
		"ascend-sim: cannot make the folder %s: %s; set ASCEND_SIM_OUT to one that is "
		"there\n",
		path, strerror(errno));
	return false;
}

/* ---- Clocks */

/* Converts to wall-clock time as msprof does: by one pair of readings of the wall clock and the raw clock. */
static uint64_t wall_of_raw(uint64_t raw_ns)
{
	return sim_device.counter.begin_real_ns / 1000 * 1000 + (raw_ns - sim_device.counter.begin_raw_ns);
}

static uint64_t wall_of_ticks(uint64_t ticks)
{
	return wall_of_raw(sim_device.counter.begin_raw_ns +
			   (ticks - sim_device.counter.begin_ticks) * SIM_TICK_NS);
}

static void print_us(FILE *file, uint64_t ns)
{
	fprintf(file, "%" PRIu64 ".%03u", ns / 1000, (unsigned int)(ns % 1000));
}

static void write_clock(const struct profile *profile, const char *folder, const char *suffix)
{
	FILE *file = create(profile, "%s/start_info%s", folder, suffix);
	time_t seconds = (time_t)(sim_device.counter.begin_real_ns / 1000000000u);
	char date[32] = "";
	struct tm parts;

	if (!file)
		return;
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", localtime_r(&seconds, &parts));
	fprintf(file,
		"{\"collectionDateBegin\":\"%s.%06u\",\"collectionTimeBegin\":\"%" PRIu64
		"\",\"clockMonotonicRaw\":\"%" PRIu64 "\"}",
		date, (unsigned int)(sim_device.counter.begin_real_ns / 1000 % 1000000),
		sim_device.counter.begin_real_ns / 1000, sim_device.counter.begin_raw_ns);
	fclose(file);
	file = create(profile, "%s/host_start.log%s", folder, suffix);
	if (!file)
		return;
	fprintf(file,
		"[Host]\nclock_realtime=%" PRIu64 "\nclock_monotonic_raw=%" PRIu64
		"\ncntvct=%" PRIu64 "\ncntvct_diff=0\n",
		sim_device.counter.begin_real_ns, sim_device.counter.begin_raw_ns, sim_device.counter.begin_raw_ns);
	fclose(file);
}

static void write_device_info(const struct profile *profile)
{
	FILE *file = create(profile, "device_%d/dev_start.log.%d", DEVICE, DEVICE);

	if (file) {
		fprintf(file, "clock_monotonic_raw:%" PRIu64 "\ncntvct:%" PRIu64 "\n",
			sim_device.counter.begin_raw_ns, sim_device.counter.begin_ticks);
		fclose(file);
	}
	file = create(profile, "device_%d/info.json.%d", DEVICE, DEVICE);
	if (!file)
		return;
	fprintf(file,
		"{\"pid\":\"%d\",\"pid_name\":\"%s\",\"hostname\":\"simulated\",\"rank_id\":0,"
		"\"devices\":\"%d\","
		"\"DeviceInfo\":[{\"id\":%d,\"hwts_frequency\":\"%d.000000\",\"aic_frequency\":"
		"\"1800\","
		"\"aiv_frequency\":\"1800\",\"ai_core_num\":24}],\"CPU\":[{\"Frequency\":\"1000."
		"000000\"}],"
		"\"platform_version\":\"5\",\"comment\":\"made by a simulator: no such device was "
		"there\"}",
		getpid(), program_invocation_short_name, DEVICE, DEVICE, 1000 / SIM_TICK_NS);
	fclose(file);
}

/* ---- Timeline */

static uint64_t process_number(unsigned int sort, unsigned int device)
{
	return (uint64_t)getpid() << 10 | sort << 5 | device;
}

static FILE *element(struct profile *profile)
{
	fputs(profile->first ? "" : ",\n", profile->json);
	profile->first = false;
	return profile->json;
}

static void name_process(struct profile *profile, unsigned int sort, unsigned int device,
			 const char *name)
{
	fprintf(element(profile),
		"{\"name\":\"process_name\",\"pid\":%" PRIu64
		",\"tid\":0,\"args\":{\"name\":\"%s\"},\"ph\":\"M\"}",
		process_number(sort, device), name);
}

static bool in_profile(const struct sim_task *task)
{
	return task->end_ticks != 0;
}

static void write_hardware(struct profile *profile, const struct sim_task *task)
{
	uint64_t start = wall_of_ticks(task->start_ticks), end = wall_of_ticks(task->end_ticks);
	FILE *json = element(profile);

	fprintf(json, "{\"name\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%u,\"ts\":\"", task->name,
		process_number(SORT_HARDWARE, DEVICE), task->stream);
	print_us(json, start);
	fputs("\",\"dur\":", json);
	print_us(json, end - start);
	fprintf(json,
		",\"args\":{\"Model Id\":4294967295,\"Task Type\":\"%s\",\"Physic Stream Id\":%u,"
		"\"Task Id\":%u,\"Batch Id\":0,\"Subtask Id\":4294967295",
		task->core, task->stream, task->number);
	if (task->kind == SIM_COPY)
		fprintf(json, ",\"size(B)\":%" PRIu64 ",\"operation\":\"%s\"", task->bytes,
			task->type);
	if (task->connection)
		fprintf(json, ",\"connection_id\":%" PRIu64, task->connection);
	fputs("},\"ph\":\"X\"}", json);
}

static void write_call(struct profile *profile, const struct sim_call *call)
{
	uint64_t start = wall_of_raw(call->start_raw_ns);
	FILE *json = element(profile);

	fprintf(json, "{\"name\":\"%s@%s\",\"pid\":%" PRIu64 ",\"tid\":%u,\"ts\":\"", call->level,
		call->name, process_number(SORT_CANN, HOST_DEVICE), call->tid);
	print_us(json, start);
	fputs("\",\"dur\":", json);
	print_us(json, call->end_ns - call->start_ns);
	fprintf(json,
		",\"args\":{\"Thread Id\":%u,\"Mode\":\"launch\",\"level\":\"%s\",\"id\":\"0\"",
		call->tid, call->level);
	if (call->connection)
		fprintf(json, ",\"connection_id\":%" PRIu64, call->connection);
	fputs("},\"ph\":\"X\"}", json);
	if (!call->connection)
		return;
	fprintf(element(profile),
		"{\"name\":\"HostToDevice%" PRIu64
		"\",\"ph\":\"s\",\"cat\":\"HostToDevice\",\"id\":\"%" PRIu64 "\",\"pid\":%" PRIu64
		",\"tid\":%u,\"ts\":\"",
		call->connection << 32, call->connection << 32,
		process_number(SORT_CANN, HOST_DEVICE), call->tid);
	print_us(json, start);
	fputs("\"}", json);
}

/* Writes a whole collective: from the start of its first part to the end of its last part. */
static void write_collective(struct profile *profile, const struct sim_task *first,
			     unsigned int number)
{
	const struct sim_task *last = first, *task;
	uint32_t parts = first->parts;
	FILE *json = element(profile);
	uint64_t start;

	for (task = first; task && parts; task = task->next) {
		if (task->kind != SIM_COLLECTIVE || task->connection != first->connection)
			continue;
		last = task;
		parts--;
	}
	start = wall_of_ticks(first->start_ticks);
	fprintf(json, "{\"name\":\"%s_%03u_%u_1\",\"pid\":%" PRIu64 ",\"tid\":0,\"ts\":\"",
		first->call, 100 + number, number, process_number(SORT_COMMUNICATION, DEVICE));
	print_us(json, start);
	fputs("\",\"dur\":", json);
	print_us(json, wall_of_ticks(last->end_ticks) - start);
	fprintf(json,
		",\"args\":{\"connection_id\":%" PRIu64
		",\"model "
		"id\":4294967295,\"data_type\":\"FP32\",\"alg_type\":\"RING\",\"count\":0},\"ph\":"
		"\"X\"}",
		first->connection);
}

static bool begins_collective(const struct sim_task *task)
{
	return task->kind == SIM_COLLECTIVE && strcmp(task->name, "Notify_Wait") == 0;
}

static void write_timeline(struct profile *profile)
{
	unsigned int collectives = 0;

	profile->json = create_export(profile, "msprof", "json");
	if (!profile->json)
		return;
	profile->first = true;
	fputs("[", profile->json);
	name_process(profile, SORT_HARDWARE, DEVICE, "Ascend Hardware");
	name_process(profile, SORT_CANN, HOST_DEVICE, "CANN");
	name_process(profile, SORT_COMMUNICATION, DEVICE, "Communication");
	fprintf(element(profile),
		"{\"name\":\"thread_name\",\"pid\":%" PRIu64
		",\"tid\":0,\"args\":{\"name\":\"Group " GROUP " Communication\"},\"ph\":\"M\"}",
		process_number(SORT_COMMUNICATION, DEVICE));
	/* With only the device profiled the calls of the host are left out. */
	if (!getenv("ASCEND_SIM_DEVICE_ONLY")) {
		for (const struct sim_call *call = sim_device.calls; call; call = call->next)
			write_call(profile, call);
	}
	for (const struct sim_task *task = sim_device.tasks; task; task = task->next) {
		if (!in_profile(task))
			continue;
		write_hardware(profile, task);
		if (begins_collective(task))
			write_collective(profile, task, collectives++);
	}
	fputs("]\n", profile->json);
	fclose(profile->json);
}

/* ---- Tables. A TAB follows each time, as in the files of msprof. */

static void write_op_summary(const struct profile *profile)
{
	FILE *file = create_export(profile, "op_summary", "csv");
	uint64_t last_end = 0;

	if (!file)
		return;
	fputs("Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start "
	      "Time(us),"
	      "Task Duration(us),Task Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,Input "
	      "Shapes,"
	      "Input Data Types,Input Formats,Output Shapes,Output Data Types,Output "
	      "Formats,Context ID\n",
	      file);
	for (const struct sim_task *task = sim_device.tasks; task; task = task->next) {
		uint64_t start = wall_of_ticks(task->start_ticks);
		uint64_t end = wall_of_ticks(task->end_ticks);

		if (!in_profile(task) || (task->kind != SIM_KERNEL && task->kind != SIM_AICPU))
			continue;
		fprintf(file, "%d,4294967295,%u,%u,%s,%s,dynamic,%s,", DEVICE, task->number,
			task->stream, task->name, task->type, task->core);
		print_us(file, start);
		fputs("\t,", file);
		print_us(file, end - start);
		fputs(",", file);
		print_us(file, last_end && start > last_end ? start - last_end : 0);
		fprintf(file,
			",%u,0,NO,\"\"\"32,64\"\"\",FLOAT,ND,\"\"\"32,64\"\"\",FLOAT,ND,N/A\n",
			task->blocks);
		last_end = end;
	}
	fclose(file);
}

static void write_task_time(const struct profile *profile)
{
	FILE *file = create_export(profile, "task_time", "csv");

	if (!file)
		return;
	fputs("Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),"
	      "task_stop(us)\n",
	      file);
	for (const struct sim_task *task = sim_device.tasks; task; task = task->next) {
		if (!in_profile(task))
			continue;
		fprintf(file, "%d,%s,%s,%u,%u,", DEVICE, task->name, task->core, task->stream,
			task->number);
		print_us(file, wall_of_ticks(task->end_ticks) - wall_of_ticks(task->start_ticks));
		fputs(",", file);
		print_us(file, wall_of_ticks(task->start_ticks));
		fputs("\t,", file);
		print_us(file, wall_of_ticks(task->end_ticks));
		fputs("\t\n", file);
	}
	fclose(file);
}

/* Marks of the step trace, in the order of the device's execution. */
struct iteration {
	uint64_t fp, bp, end, reduce, reduce_end;
};

static void print_iteration(FILE *file, unsigned int number, const struct iteration *now,
			    uint64_t last_end)
{
	fprintf(file, "%d,%u,", DEVICE, number);
	print_us(file, now->fp);
	fputs("\t,", file);
	print_us(file, now->bp);
	fputs("\t,", file);
	print_us(file, now->end);
	fputs("\t,", file);
	print_us(file, now->end - (last_end ? last_end : now->fp));
	fputs(",", file);
	print_us(file, now->bp - now->fp);
	fputs(",", file);
	print_us(file, now->end - now->bp);
	fputs(",", file);
	print_us(file, last_end ? now->fp - last_end : 0);
	fputs(",1,", file);
	print_us(file, now->reduce);
	fputs("\t,", file);
	print_us(file, now->reduce_end - now->reduce);
	fputs("\n", file);
}

static void write_step_trace(const struct profile *profile)
{
	FILE *file = create_export(profile, "step_trace", "csv");
	struct iteration now = { 0 };
	uint64_t last_end = 0;
	unsigned int number = 1;

	if (!file)
		return;
	fputs("Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),"
	      "FP to BP Time(us),Iteration Refresh(us),Data Aug Bound(us),Model ID,Reduce "
	      "Start(us),"
	      "Reduce Duration(us)\n",
	      file);
	for (const struct sim_task *task = sim_device.tasks; task; task = task->next) {
		if (!in_profile(task))
			continue;
		if (begins_collective(task))
			now.reduce = wall_of_ticks(task->start_ticks);
		if (task->kind == SIM_COLLECTIVE)
			now.reduce_end = wall_of_ticks(task->end_ticks);
		if (task->kind != SIM_TRACE)
			continue;
		if (task->tag == 1)
			now.fp = wall_of_ticks(task->end_ticks);
		else if (task->tag == 2)
			now.bp = wall_of_ticks(task->end_ticks);
		if (task->tag != 255 || !now.fp || !now.bp)
			continue;
		now.end = wall_of_ticks(task->end_ticks);
		print_iteration(file, number++, &now, last_end);
		last_end = now.end;
		now = (struct iteration){ 0 };
	}
	fclose(file);
}

struct statistic {
	const char *level, *name;
	uint64_t count, total, least, most;
	double squares;
};

static void add(struct statistic *rows, uint32_t *count, const char *level, const char *name,
		uint64_t ns)
{
	struct statistic *row = rows;

	while (row < rows + *count &&
	       (strcmp(row->name, name) != 0 || strcmp(row->level, level) != 0))
		row++;
	if (row == rows + *count) {
		if (*count == STATISTICS_MAX)
			return;
		*row = (struct statistic){ .level = level, .name = name, .least = UINT64_MAX };
		++*count;
	}
	row->count++;
	row->total += ns;
	row->least = ns < row->least ? ns : row->least;
	row->most = ns > row->most ? ns : row->most;
	row->squares += (double)ns * (double)ns;
}

static void write_op_statistic(const struct profile *profile)
{
	FILE *file = create_export(profile, "op_statistic", "csv");
	struct statistic rows[STATISTICS_MAX];
	uint32_t count = 0;
	uint64_t all = 0;

	if (!file)
		return;
	fputs("Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max "
	      "Time(us),Ratio(%)\n",
	      file);
	for (const struct sim_task *task = sim_device.tasks; task; task = task->next) {
		uint64_t ns = (task->end_ticks - task->start_ticks) * SIM_TICK_NS;

		if (!in_profile(task) || (task->kind != SIM_KERNEL && task->kind != SIM_AICPU))
			continue;
		add(rows, &count, task->core, task->type, ns);
		all += ns;
	}
	for (uint32_t i = 0; i < count; i++)
		fprintf(file, "%d,%s,%s,%" PRIu64 ",%.3f,%.3f,%.3f,%.3f,%.3f\n", DEVICE,
			rows[i].name, rows[i].level, rows[i].count, (double)rows[i].total / 1e3,
			(double)rows[i].least / 1e3,
			(double)rows[i].total / (double)rows[i].count / 1e3,
			(double)rows[i].most / 1e3, 100.0 * (double)rows[i].total / (double)all);
	fclose(file);
}

static void write_api_statistic(const struct profile *profile)
{
	FILE *file = create_export(profile, "api_statistic", "csv");
	struct statistic rows[STATISTICS_MAX];
	uint32_t count = 0;

	if (!file)
		return;
	fputs("Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n", file);
	for (const struct sim_call *call = sim_device.calls; call; call = call->next)
		add(rows, &count, call->level, call->name, call->end_ns - call->start_ns);
	for (uint32_t i = 0; i < count; i++) {
		double mean = (double)rows[i].total / (double)rows[i].count / 1e3;

		fprintf(file, "host,%s,%s,%.3f,%" PRIu64 ",%.3f,%.3f,%.3f,%.3f\n", rows[i].level,
			rows[i].name, (double)rows[i].total / 1e3, rows[i].count, mean,
			(double)rows[i].least / 1e3, (double)rows[i].most / 1e3,
			rows[i].squares / (double)rows[i].count / 1e6 - mean * mean);
	}
	fclose(file);
}

/* ---- Truth */

static void write_jumps(FILE *file, const struct sim_counter *counter)
{
	for (uint32_t i = 0; i < counter->jumps_done; i++)
		fprintf(file, "%s[%" PRIu64 ",%" PRId64 "]", i ? "," : "", counter->jumps[i].at_ns,
			counter->jumps[i].by_ns);
}

static void write_truth(const struct profile *profile)
{
	const struct sim_counter *counter = &sim_device.counter;
	FILE *file = create(profile, "../truth.json");
	const char *comma = "";

	if (!file)
		return;
	fprintf(file,
		"{\"profile\":\"%s\",\"pid\":%d,\"begin_ns\":%" PRIu64
		",\"clock\":{\"offset_ns\":%" PRId64 ",\"ppm\":%.3f,\"jumps\":[",
		profile->folder, getpid(), counter->begin_ns, counter->offset_ns, counter->ppm);
	write_jumps(file, counter);
	fprintf(file,
		"]},\n\"memory\":{\"allocations\":%" PRIu64 ",\"frees\":%" PRIu64
		",\"live_bytes\":%" PRIu64 ",\"peak_bytes\":%" PRIu64 "},\"failed_sends\":%" PRIu64
		",\n\"channels\":[",
		sim_device.allocations, sim_device.frees, sim_device.allocated, sim_device.peak,
		sim_device.failed_sends);
	for (const struct sim_channel *channel = sim_channels; channel; channel = channel->next) {
		fprintf(file, "%s{\"name\":\"%s\",\"pushed\":%" PRIu64 ",\"popped\":%" PRIu64 "}",
			comma, channel->name, channel->pushed, channel->popped);
		comma = ",";
	}
	fputs("],\n\"queries\":[", file);
	comma = "";
	for (const struct sim_query *query = sim_device.queries; query; query = query->next) {
		fprintf(file, "%s[%" PRIu64 ",%zu]", comma, query->ns, query->size);
		comma = ",";
	}
	fputs("],\n\"tasks\":[", file);
	comma = "\n";
	for (const struct sim_task *task = sim_device.tasks; task; task = task->next) {
		fprintf(file,
			"%s{\"stream\":%u,\"task\":%u,\"name\":\"%s\",\"kind\":%d,\"core\":\"%s\","
			"\"call\":\"%s\","
			"\"connection\":%" PRIu64 ",\"tid\":%u,\"tag\":%u,\"sent_ns\":%" PRIu64
			",\"start_ns\":%" PRIu64 ",\"end_ns\":%" PRIu64 "}",
			comma, task->stream, task->number, task->name, task->kind, task->core,
			task->call ? task->call : "", task->connection, task->tid, task->tag,
			task->sent_ns, task->start_ns, task->end_ns);
		comma = ",\n";
	}
	fputs("]}\n", file);
	fclose(file);
}

SIM_EXPORT void sim_profile_write(void)
{
	const char *folder = getenv("ASCEND_SIM_OUT");
	struct profile profile = { 0 };
	time_t seconds = (time_t)(sim_device.counter.begin_real_ns / 1000000000u);
	struct tm parts;

	/* Without an output folder no files are written. */
	if (!folder)
		return;
	strftime(profile.stamp, sizeof(profile.stamp), "%Y%m%d%H%M%S",
		 localtime_r(&seconds, &parts));
	snprintf(profile.folder, sizeof(profile.folder), "%s/PROF_000001_%s%03u_SIMULATED%d",
		 folder, profile.stamp, (unsigned int)(sim_device.counter.begin_real_ns / 1000000 % 1000),
		 getpid());
	if (!make_folder(&profile, "") || !make_folder(&profile, "host") ||
	    !make_folder(&profile, "device_0") ||
	    !make_folder(&profile, "mindstudio_profiler_output"))
		return;
	pthread_mutex_lock(&sim_device.lock);
	write_clock(&profile, "host", "");
	write_clock(&profile, "device_0", ".0");
	write_device_info(&profile);
	write_timeline(&profile);
	write_op_summary(&profile);
	write_task_time(&profile);
	write_step_trace(&profile);
	write_op_statistic(&profile);
	write_api_statistic(&profile);
	write_truth(&profile);
	pthread_mutex_unlock(&sim_device.lock);
}
