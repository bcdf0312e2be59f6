/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_every - writes a trace with every kind of packet, and every value of every enum.
 *
 *	make_every FILE
 *
 * The trace is of another architecture than most machines that read it. Its events make no sense as a whole;
 * each value is different, so that exchanged values show in the report.
 * FILE must not exist: tests/data/traces/every.pbt was written this way and stays unchanged. When the
 * format grows, a further file is written beside it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/tools/every.h"

/* aarch64 */
#define SYS_READ 63
#define SYS_PPOLL 73
#define SYS_FUTEX 98
#define SYS_WAIT4 260

static void head(struct trace_builder *b)
{
	static const uint32_t targets[] = { JOB };

	trace_segment(b, &(struct trace_segment){ .session = 7,
						  .boot = 9,
						  .arch = "aarch64",
						  .start_ns = START,
						  .start_realtime_ns = 1700000000000000000ull,
						  .targets = targets,
						  .target_count = 1,
						  .note = "every kind of packet" });
	for (uint64_t ns = START; ns <= END; ns += 1000 * MS)
		trace_clock(b, &(struct trace_clock){ .monotonic_ns = ns,
						      .monotonic_raw_ns = ns + 11,
						      .boottime_ns = ns + 5000 * MS,
						      .realtime_ns =
							      ns - START + 1700000000000000000ull,
						      .counter = ns / 40 });
}

/* Each event, and each flag; ts_ns counts from START. */
static const struct trace_task_row TASKS[] = {
	{ .tid = JOB,
	  .tgid = JOB,
	  .name = "job",
	  .cmdline = "job --all",
	  .exe = "/bin/job",
	  .flags = 1 },
	{ .tid = OTHER, .tgid = OTHER, .name = "other", .cmdline = "other" },
	{ .tid = 2, .tgid = 2, .name = "kthreadd", .flags = 2 },
	{ .ts_ns = 10 * MS,
	  .tid = WORKER,
	  .tgid = JOB,
	  .parent_tgid = JOB,
	  .parent_tid = JOB,
	  .event = PROFBPF__TASKS__EVENT__FORK,
	  .start_ns = START + 10 * MS,
	  .name = "job",
	  .flags = 1 },
	{ .ts_ns = 11 * MS,
	  .tid = WORKER,
	  .tgid = JOB,
	  .event = PROFBPF__TASKS__EVENT__RENAME,
	  .start_ns = START + 10 * MS,
	  .name = "worker",
	  .flags = 1 },
	{ .ts_ns = 20 * MS,
	  .tid = 30,
	  .tgid = 30,
	  .parent_tgid = JOB,
	  .parent_tid = JOB,
	  .event = PROFBPF__TASKS__EVENT__FORK,
	  .start_ns = START + 20 * MS,
	  .name = "job",
	  .flags = 1 },
	{ .ts_ns = 21 * MS,
	  .tid = 30,
	  .tgid = 30,
	  .event = PROFBPF__TASKS__EVENT__EXEC,
	  .start_ns = START + 20 * MS,
	  .name = "child",
	  .cmdline = "child -x",
	  .exe = "/bin/child",
	  .flags = 1 },
	{ .ts_ns = 700 * MS,
	  .tid = 30,
	  .tgid = 30,
	  .event = PROFBPF__TASKS__EVENT__EXIT,
	  .exit_code = 3 << 8,
	  .start_ns = START + 20 * MS,
	  .name = "child",
	  .flags = 1 | 4 },
	{ .ts_ns = 30 * MS,
	  .tid = 40,
	  .tgid = 40,
	  .parent_tgid = JOB,
	  .parent_tid = JOB,
	  .event = PROFBPF__TASKS__EVENT__FORK,
	  .start_ns = START + 30 * MS,
	  .name = "setuid",
	  .flags = 1 },
	{ .ts_ns = 31 * MS,
	  .tid = 40,
	  .tgid = 40,
	  .event = PROFBPF__TASKS__EVENT__DROPPED,
	  .start_ns = START + 30 * MS,
	  .name = "setuid",
	  .flags = 1 },
	{ .ts_ns = 1900 * MS,
	  .tid = WORKER,
	  .tgid = JOB,
	  .event = PROFBPF__TASKS__EVENT__EXIT,
	  .start_ns = START + 10 * MS,
	  .name = "worker",
	  .flags = 1 },
};

static void tasks(struct trace_builder *b)
{
	for (size_t i = 0; i < COUNT(TASKS); i++) {
		struct trace_task_row row = TASKS[i];

		row.ts_ns += START;
		if (!row.start_ns)
			row.start_ns = START - (i + 1) * 1000 * MS;
		trace_task(b, &row);
	}
}

/* Adds a function of each kind; each way to report an error and each role occurs in some function. */
static void functions(struct trace_builder *b)
{
	const ProtobufCEnumDescriptor *kinds = &profbpf__function__kind__descriptor;

	for (unsigned int i = 0; i < kinds->n_values; i++) {
		char name[64];

		snprintf(name, sizeof(name), "do_%s", kinds->values[i].name);
		trace_function(b, &(struct trace_function){
					  .id = i + 1,
					  .runtime = i % 2 ? "cudart" : "opencl",
					  .family = i % 2 ? "cuda" : "opencl",
					  .name = name,
					  .kind = i,
					  .layer = i % 3,
					  .error = i % 4,
					  .roles = { i % 15, (i + 5) % 15, (i + 10) % 15 },
				  });
	}
	/* The ways in which a function that prepares or waits reports an error, too. */
	for (unsigned int i = 0; i < 4; i++) {
		char name[64];

		snprintf(name, sizeof(name), "fails_%s",
			 profbpf__function__error__descriptor.values[i].name);
		trace_function(b,
			       &(struct trace_function){
				       .id = 20 + i, .runtime = "acl", .name = name, .error = i });
	}
}

static void calls(struct trace_builder *b)
{
	static const uint32_t flags[] = { 0, 1, 4, 32, 64 },
			      returned[] = { 0, 7, (uint32_t)-1, 0, 0 };

	for (uint32_t f = 1; f < 24; f++) {
		if (f > profbpf__function__kind__descriptor.n_values && f < 20)
			continue;
		for (uint32_t i = 0; i < COUNT(flags); i++) {
			uint64_t start = START + f * 60 * MS + i * 10 * MS;

			trace_call(b, &(struct trace_call_row){
					      .cpu = 0,
					      .start_ns = start,
					      .end_ns = start +
							(flags[i] == 64 ? 0 : (f * 10 + i) * 1000),
					      .tid = WORKER,
					      .tgid = JOB,
					      .function = f,
					      .flags = flags[i],
					      .depth = i == 2,
					      .ret = returned[i],
					      .args = { 100 * f + i, 1000 + f, 5000 + f },
					      .text = i == 1 ? "said" : NULL,
				      });
		}
	}
}

static void ioctls(struct trace_builder *b)
{
	static const uint32_t flags[] = { 0, 1, 8, 8 | 16 };
	Profbpf__Drivers m = PROFBPF__DRIVERS__INIT;
	Profbpf__Driver drivers[] = { PROFBPF__DRIVER__INIT, PROFBPF__DRIVER__INIT }, *list[2];
	Profbpf__Command command = PROFBPF__COMMAND__INIT, *commands[] = { &command };

	command.value = 0x6400;
	command.mask = 0xff00;
	command.name = "DO_IT";
	for (uint32_t i = 0; i < 2; i++) {
		drivers[i].rdev = i ? DISK : 226u << 20 | 128;
		drivers[i].driver = i ? "sd" : "drm";
		drivers[i].device = i ? "/dev/sda" : "/dev/dri/renderD128";
		drivers[i].module = i ? "" : "amdgpu";
		drivers[i].n_command = !i;
		drivers[i].command = commands;
		list[i] = &drivers[i];
	}
	m.n_driver = 2;
	m.driver = list;
	every_put(b, PROFBPF__PACKET__KIND__DRIVERS, &m.base);
	for (uint32_t i = 0; i < 2 * COUNT(flags); i++) {
		uint64_t start = START + 40 * MS + i * 30 * MS;

		trace_ioctl(b, &(struct trace_ioctl_row){
				       .start_ns = start,
				       .end_ns = start + (i % 4 == 3 ? 0 : (i + 1) * MS),
				       .tid = WORKER,
				       .tgid = JOB,
				       .cmd = i % 2 ? 0x6401 : 0x5401 + i,
				       .rdev = drivers[i / 4].rdev,
				       .ret = i % 4 == 1 ? -5 : 0,
				       .flags = flags[i % 4],
			       });
	}
}

/* Adds objects: the i-th has the i-th kind, and the id i + 1. */
static void objects(struct trace_builder *b)
{
	Profbpf__SleepObjects m = PROFBPF__SLEEP_OBJECTS__INIT;
	Profbpf__SleepObjects__Kind kinds[32];
	uint32_t devices[32], count = profbpf__sleep_objects__kind__descriptor.n_values;
	uint64_t numbers[32];

	for (uint32_t i = 0; i < count; i++) {
		kinds[i] = i;
		devices[i] = 8u << 20 | i;
		numbers[i] = i == PROFBPF__SLEEP_OBJECTS__KIND__CHILD ? 30 : 7000 + i;
	}
	m.first_id = 1;
	m.n_kind = m.n_device = m.n_object = count;
	m.kind = kinds;
	m.device = devices;
	m.object = numbers;
	every_put(b, PROFBPF__PACKET__KIND__SLEEP_OBJECTS, &m.base);
}

static int32_t call_for(uint32_t kind)
{
	switch (kind) {
	case PROFBPF__SLEEP_OBJECTS__KIND__FUTEX: return SYS_FUTEX;
	case PROFBPF__SLEEP_OBJECTS__KIND__CHILD: return SYS_WAIT4;
	case PROFBPF__SLEEP_OBJECTS__KIND__SEVERAL: return SYS_PPOLL;
	case PROFBPF__SLEEP_OBJECTS__KIND__NOTHING: return -1;
	default: return SYS_READ;
	}
}

/* In each step the job sleeps in a different object, is woken by a different cause, and is preempted. */
static void sleeps(struct trace_builder *b)
{
	static const uint32_t states[] = { 1, 2, 3 }, flags[] = { 0, 4, 8, 16 },
			      wakes[] = { 0, 2, 4, 8, 1 };

	objects(b);
	for (uint32_t i = 0; i < STEPS - 1; i++) {
		uint64_t t = START + (i + 1) * STEP, woken = t + (i + 1) * MS;

		trace_switch(b, &(struct trace_switch_row){ 0, t, JOB, 0, states[i % 3],
							    call_for(i), 1 | flags[i % 4], i + 1 });
		trace_switch(b, &(struct trace_switch_row){ 0, woken + 1000 * (i + 1), 0, JOB, 0,
							    -1, 2, 0 });
		trace_switch(b, &(struct trace_switch_row){ 0, t + 50 * MS, JOB, OTHER, 0, -1,
							    1 | (i % 3 ? 0 : 32), 0 });
		trace_switch(b, &(struct trace_switch_row){ 0, t + (52 + i) * MS, OTHER, JOB, 1, -1,
							    2, 0 });
		trace_wake(b, &(struct trace_wake_row){ 1, woken, OTHER, JOB, 0, wakes[i % 5],
							i % 5 == 1   ? "nvme0q1"
							: i % 5 == 2 ? "NET_RX"
								     : NULL });
	}
	trace_switch(b, &(struct trace_switch_row){ 1, START + 12 * MS, 0, WORKER, 0, -1, 2, 0 });
	trace_switch(b, &(struct trace_switch_row){ 1, START + 1900 * MS, WORKER, 0, 4, -1, 1, 0 });
}

/* Adds a device for each clock, with a task of each kind. Clocks as in head(). */
static void devices(struct trace_builder *b)
{
	static const uint64_t ahead[] = { 77 * MS, 0, 11, 5000 * MS,
					  1700000000000000000ull - START };

	for (uint32_t clock = 0; clock < profbpf__device_clock__descriptor.n_values; clock++) {
		char name[32];

		snprintf(name, sizeof(name), "device %u", clock);
		trace_device(b,
			     &(struct trace_device){
				     .id = clock + 1, .tgid = JOB, .name = name, .clock = clock });
		for (uint32_t kind = 0; kind < profbpf__device_tasks__kind__descriptor.n_values;
		     kind++) {
			uint64_t at = START + (kind + 1) * 200 * MS + clock * MS,
				 ran = at + ahead[clock];

			trace_device_task(
				b,
				&(struct trace_device_task_row){
					.device = clock + 1,
					.queued_ns = ran,
					.submit_ns = ran + 1000,
					.start_ns = ran + 2000,
					.end_ns = ran + 2000 + (kind + 1) * 10000 + clock * 100,
					.stream = kind % 2 + 1,
					.kind = kind,
					.name = profbpf__device_tasks__kind__descriptor.values[kind]
							.name,
					.tid = WORKER,
					.enqueue_ns = at - 500,
					.enqueue_dur_ns = 300,
					.bytes = kind * 1000,
					.status = kind == 5 ? -7 : 0,
					.correlation = 1 + kind,
				});
		}
	}
}

static void code(struct trace_builder *b)
{
	Profbpf__Stacks m = PROFBPF__STACKS__INIT;
	Profbpf__StackSamples s = PROFBPF__STACK_SAMPLES__INIT;
	Profbpf__StackFile file = PROFBPF__STACK_FILE__INIT, *files[] = { &file };
	char *names[] = { "do_sys_poll", "jitted", "train", "train.py" };
	Profbpf__Stacks__Kind kinds[] = { 0, 1, 2, 3 };
	uint32_t in_file[] = { 1, 0, 0, 0 }, named[] = { 0, 1, 2, 3 }, source[] = { 0, 0, 0, 4 },
		 line[] = { 0, 0, 0, 42 };
	uint64_t offset[] = { 0x1234, 0, 0, 0 }, dur[] = { 0, 5 * MS, 0, 0, 7 * MS, 9 * MS };
	uint32_t depth[] = { 1, 2, 1 }, frame[] = { 1, 2, 3, 4 };
	int64_t ts_ns[] = { START + 200 * MS, MS, MS, MS, MS, MS };
	uint32_t tid[] = { JOB, JOB, JOB, JOB, JOB, JOB }, stack[] = { 1, 2, 3, 3, 2, 0 };
	uint32_t flags[] = { 0, 1, 2, 2 | 4, 1 | 8, 1 | 8 | 16 },
		 waker[] = { 0, 0, 0, 0, WORKER, WORKER };

	file.id = 1;
	file.path = "/nonexistent/bin/job";
	file.size = 4711;
	m.n_file = 1;
	m.file = files;
	m.first_name = m.first_frame = m.first_stack = 1;
	m.n_name = m.n_kind = m.n_in_file = m.n_offset = m.n_named = m.n_source = m.n_line = 4;
	m.name = names;
	m.kind = kinds;
	m.in_file = in_file;
	m.offset = offset;
	m.named = named;
	m.source = source;
	m.line = line;
	m.n_depth = 3;
	m.depth = depth;
	m.n_frame = 4;
	m.frame = frame;
	every_put(b, PROFBPF__PACKET__KIND__STACKS, &m.base);
	s.n_ts_ns = s.n_dur_ns = s.n_tid = s.n_tgid = s.n_stack = s.n_flags = s.n_waker = 6;
	s.ts_ns = ts_ns;
	s.dur_ns = dur;
	s.tid = s.tgid = tid;
	s.stack = stack;
	s.flags = flags;
	s.waker = waker;
	s.rate = 99;
	every_put(b, PROFBPF__PACKET__KIND__STACK_SAMPLES, &s.base);
}

static void names(struct trace_builder *b)
{
	Profbpf__Pythons p = PROFBPF__PYTHONS__INIT;
	Profbpf__CodeNames n = PROFBPF__CODE_NAMES__INIT;
	Profbpf__CodeName name = PROFBPF__CODE_NAME__INIT, *list[] = { &name };
	Profbpf__ThreadRoles r = PROFBPF__THREAD_ROLES__INIT;
	uint32_t tid[] = { WORKER };
	int32_t operator_id[] = { 3 };
	char *roles[] = { "MapOp::WorkerEntry" };

	p.ts_ns = START + MS;
	p.tgid = JOB;
	p.version = 3 << 8 | 11;
	p.lock_first = 0x5000;
	p.lock_last = 0x5008;
	every_put(b, PROFBPF__PACKET__KIND__PYTHONS, &p.base);
	name.tgid = JOB;
	name.address = 0x401000;
	name.from_ns = START + MS;
	name.symbol = "_Z6kernelv";
	name.file = "/nonexistent/bin/job";
	n.n_name = 1;
	n.name = list;
	every_put(b, PROFBPF__PACKET__KIND__CODE_NAMES, &n.base);
	r.framework = "MindData";
	r.tgid = JOB;
	r.ts_ns = START + MS;
	r.n_tid = r.n_operator_id = r.n_name = 1;
	r.tid = tid;
	r.operator_id = operator_id;
	r.name = roles;
	every_put(b, PROFBPF__PACKET__KIND__THREAD_ROLES, &r.base);
}

static void statistics(struct trace_builder *b)
{
	trace_ends(b, 3, START + 500 * MS, 0, 12345);
	trace_ends(b, 3, START + 900 * MS, 1, 99);
	trace_coverage(b, JOB, "/usr/lib/libcudart.so", START + 100 * MS, START + 103 * MS, 5);
	trace_source(b, "api", 90, 85, "ring full", 5);
	trace_source(b, "ioctl", 8, 8, NULL, 0);
	trace_source(b, "sched", 101, 101, NULL, 0);
	trace_source(b, "fault", 2, 2, NULL, 0);
	trace_source(b, "io", 8, 8, NULL, 0);
	trace_source(b, "device", 35, 35, NULL, 0);
	trace_short_calls(b, 2, JOB, 777, 888);
	trace_statistics(b, END, true, "target exited");
}

int main(int argc, char **argv)
{
	struct trace_builder *b = trace_builder_new();

	if (argc != 2 || access(argv[1], F_OK) == 0) {
		fprintf(stderr, "usage: make_every FILE; FILE must not be there\n");
		return 2;
	}
	head(b);
	functions(b);
	tasks(b);
	calls(b);
	ioctls(b);
	sleeps(b);
	every_host(b);
	devices(b);
	code(b);
	names(b);
	statistics(b);
	trace_write(b, argv[1]);
	trace_builder_free(b);
	return 0;
}
