/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_random - writes a trace of a random job, the same for the same seed.
 *
 *	make_random FILE SEED
 *
 * Threads run, sleep, wake each other, call runtimes and drivers, and pass on batches; devices run their tasks, which
 * traces of even seeds do not contain; all on a coarse clock, so that many events have the same instant. The report
 * shows how analyses behave if two times are equal, a value is missing or a list is empty:
 * tests/e2e/stored_outputs.sh compares it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/tools/random.h"

const struct who WHO[THREADS] = {
	{ 100, 100, "job", 1 },	  { 100, 101, "loader", 1 }, { 100, 102, "loader", 1 },
	{ 100, 103, "pump", 1 },  { 200, 200, "rank", 1 },   { 200, 201, "feeder", 1 },
	{ 300, 300, "other", 0 }, { 300, 301, "other", 0 },  { 7, 7, "kworker/0:1", 2 },
};

#define DATASET "_ZN9mindspore7dataset"

static const struct trace_function FUNCTIONS[] = {
	{ .runtime = "cudart",
	  .family = "cuda",
	  .name = "cudaLaunchKernel",
	  .kind = 1,
	  .layer = 1,
	  .error = 1,
	  .roles = { 1 } },
	{ .runtime = "cuda",
	  .family = "cuda",
	  .name = "cuLaunchKernel",
	  .kind = 1,
	  .layer = 2,
	  .error = 1,
	  .roles = { 1 } },
	{ .runtime = "cudart",
	  .family = "cuda",
	  .name = "cudaMemcpyAsync",
	  .kind = 2,
	  .layer = 1,
	  .error = 1,
	  .roles = { 1, 2, 3 } },
	{ .runtime = "cudart",
	  .family = "cuda",
	  .name = "cudaStreamSynchronize",
	  .kind = 3,
	  .layer = 1,
	  .error = 1,
	  .roles = { 1 } },
	{ .runtime = "cudart",
	  .family = "cuda",
	  .name = "cudaDeviceSynchronize",
	  .kind = 3,
	  .layer = 1,
	  .error = 1 },
	{ .runtime = "cudart",
	  .family = "cuda",
	  .name = "cudaMalloc",
	  .kind = 4,
	  .layer = 1,
	  .error = 1,
	  .roles = { 2, 0, 10 } },
	{ .runtime = "cudart",
	  .family = "cuda",
	  .name = "cudaFree",
	  .kind = 5,
	  .layer = 1,
	  .error = 1,
	  .roles = { 4 } },
	{ .runtime = "nccl",
	  .name = "ncclAllReduce",
	  .kind = 7,
	  .layer = 1,
	  .error = 1,
	  .roles = { 7, 1 } },
	{ .runtime = "nvtx", .name = "nvtxRangePushA", .kind = 11 },
	{ .runtime = "nvtx", .name = "nvtxRangePop", .kind = 11 },
	{ .runtime = "acl",
	  .name = "aclrtSynchronizeStream",
	  .kind = 3,
	  .layer = 1,
	  .error = 1,
	  .roles = { 1 } },
	{ .runtime = "mindspore",
	  .name = DATASET "16IteratorConsumer15GetNextAsVectorEPv",
	  .kind = 10,
	  .layer = 1 },
	{ .runtime = "mindspore",
	  .name = DATASET "9DatasetOp10GetNextRowEPNS0_9TensorRowE",
	  .kind = 10,
	  .layer = 2,
	  .roles = { 4, 11, 7 } },
	{ .runtime = "mindspore",
	  .name = DATASET "5QueueINS0_9TensorRowEE3AddEOS2_",
	  .kind = 10,
	  .layer = 3,
	  .roles = { 4, 11, 7 } },
	{ .runtime = "opencl",
	  .name = "clCreateBuffer",
	  .kind = 4,
	  .error = 2,
	  .roles = { 2, 10 } },
};

enum {
	LAUNCH,
	LAUNCH_DRIVER,
	COPY,
	SYNC,
	SYNC_ALL,
	ALLOC,
	FREE,
	ALL_REDUCE,
	PUSH,
	POP,
	WAIT,
	FETCH,
	NEXT,
	ADD
};

static void switch_to(struct world *w, uint32_t cpu, uint32_t next, uint32_t state, int32_t syscall,
		      uint32_t flags, uint32_t object)
{
	uint32_t prev = w->on_cpu[cpu];
	uint32_t targets = (prev && WHO[prev - 1].flags == 1 ? 1u : 0) |
			   (next && WHO[next - 1].flags == 1 ? 2u : 0);

	if (prev == next)
		return;
	if (prev) {
		struct thread *thread = &w->threads[prev - 1];

		thread->run_ns += w->now_ns - thread->since_ns;
		w->busy_ns[cpu] += w->now_ns - thread->since_ns;
		thread->since_ns = w->now_ns;
		thread->state = state ? ASLEEP : READY;
		thread->switches += state != 0;
		thread->preempted += state == 0;
	}
	if (next) {
		struct thread *thread = &w->threads[next - 1];

		thread->ready_ns += w->now_ns - thread->since_ns;
		thread->since_ns = w->now_ns;
		thread->state = RUNNING;
		thread->cpu = cpu;
	}
	w->on_cpu[cpu] = next;
	if (!targets)
		return;
	w->produced[0]++;
	trace_switch(w->b, &(struct trace_switch_row){ .cpu = cpu,
						       .ts_ns = w->now_ns,
						       .prev_tid = prev ? WHO[prev - 1].tid : 0,
						       .next_tid = next ? WHO[next - 1].tid : 0,
						       .state = prev ? state : 0,
						       .syscall = prev ? syscall : -1,
						       .flags = targets | flags,
						       .object = object });
}

/* Returns 1 + the index of a thread that waits for a CPU; 0 if there is none. */
static uint32_t next_ready(struct world *w)
{
	uint32_t first = up_to(w, THREADS);

	for (uint32_t i = 0; i < THREADS; i++)
		if (w->threads[(first + i) % THREADS].state == READY)
			return (first + i) % THREADS + 1;
	return 0;
}

static void fall_asleep(struct world *w, uint32_t cpu)
{
	/* x86-64: read, write, poll, nanosleep, futex, fsync, recvfrom, wait4; none: a page fault */
	static const int32_t calls[] = { 0, 1, 7, 35, 202, 74, 45, 61, -1 };
	static const uint32_t kinds[] = { 1, 1, 16, 0, 17, 1, 5, 18, 0 };
	uint32_t i = up_to(w, 9), flags = i == 8 ? 8u : up_to(w, 8) == 0 ? 32u : 0;

	if (i == 5 || (i < 2 && up_to(w, 2)))
		flags |= 4; /* storage */
	if (i == 2 || i == 4)
		flags |= up_to(w, 2) * 16; /* with a timeout */
	switch_to(w, cpu, next_ready(w), flags & 4 ? 2 : 1, calls[i], flags,
		  kinds[i] ? 1 + kinds[i] : 0);
}

static void wake(struct world *w, uint32_t who)
{
	static const char *const interrupts[] = { "nvme0q1", "NET_RX", "BLOCK", "nvidia" };
	struct thread *thread = &w->threads[who];
	uint32_t cpu = up_to(w, CPUS), waker = w->on_cpu[cpu], by = up_to(w, 6);
	uint32_t flags = by == 0 ? 2 : by == 1 ? 4 : by == 2 ? 8 : 0;

	random_code_slept(w, who, w->now_ns - thread->since_ns);
	thread->state = READY;
	thread->since_ns = w->now_ns;
	if (WHO[who].flags != 1 || up_to(w, 12) == 0)
		return; /* not recorded */
	w->produced[0]++;
	trace_wake(w->b, &(struct trace_wake_row){ .cpu = cpu,
						   .ts_ns = w->now_ns,
						   .waker_tid = waker ? WHO[waker - 1].tid : 0,
						   .tid = WHO[who].tid,
						   .target_cpu = thread->cpu,
						   .flags = flags,
						   .interrupt = flags == 2 || flags == 4
									? interrupts[up_to(w, 4)]
									: NULL });
}

/* Calls of MindData on queues: the trainer (thread 0) takes from Batch (1), which takes from Generator (2). */
static uint32_t of_pipeline(struct world *w, uint32_t who, const struct thread *thread,
			    struct open_call *call)
{
	uint32_t f = who == 0 ? FETCH : who == 1 && up_to(w, 2) ? NEXT : ADD;

	if (who == 0 && thread->depth)
		f = NEXT;
	call->function = f;
	call->args[0] = who == 0 || (who == 1 && f == ADD) ? 0xb : 0x9;
	call->args[1] = f == NEXT ? (who ? 1ull << 32 : 0) | 4 : 0;
	call->args[2] = f == NEXT ? w->taken[who]++ : f == ADD ? w->put[who]++ : 0;
	return f;
}

static void begin_call(struct world *w, uint32_t who)
{
	struct thread *thread = &w->threads[who];
	struct open_call *call = &thread->calls[thread->depth];
	uint32_t f = up_to(w, COUNT(FUNCTIONS));

	/* Inside a launch there is the driver's launch. */
	if (thread->depth && call[-1].function == LAUNCH)
		f = LAUNCH_DRIVER;
	if (FUNCTIONS[f].kind == 10)
		f = WAIT;
	*call = (struct open_call){ .function = f, .start_ns = w->now_ns };
	for (int i = 0; i < 3; i++) {
		switch (FUNCTIONS[f].roles[i]) {
		case 1: call->args[i] = 1 + up_to(w, 2); break;
		case 2: call->args[i] = 1024u << up_to(w, 4); break;
		case 3: call->args[i] = up_to(w, 5); break;
		case 4:
			call->args[i] = w->handles ? 0x1000 + up_to(w, (uint32_t)w->handles) : 0;
			break;
		case 10: call->args[i] = 0x1000 + w->handles++; break;
		default: call->args[i] = up_to(w, 3);
		}
	}
	if (who < 3 &&
	    ((thread->depth && call[-1].function == FETCH) || (!thread->depth && up_to(w, 4) == 0)))
		f = of_pipeline(w, who, thread, call);
	thread->depth++;
	if (f == PUSH)
		call->text = up_to(w, 2) ? "step" : "forward";
	else if (f == LAUNCH || f == LAUNCH_DRIVER)
		call->text = up_to(w, 3) ? "gemm" : "softmax";
}

/* Adds the device task of a call, in the order of its stream and after the call. */
static void run_task(struct world *w, uint32_t who, const struct open_call *call)
{
	uint32_t device = WHO[who].tgid == 200 ? 2 : up_to(w, 4) == 0;
	uint64_t *free_ns = &w->free_ns[device][call->args[0] % 2];
	uint64_t start_ns = call->start_ns + UNIT * up_to(w, 6), ns = UNIT * up_to(w, 40);
	uint32_t kind = call->function == COPY ? 2 : call->function == ALL_REDUCE ? 6 : 1;

	if (!w->devices || up_to(w, 16) == 0)
		return; /* the task is not recorded */
	if (start_ns < *free_ns)
		start_ns = *free_ns;
	*free_ns = start_ns + ns;
	w->produced[2]++;
	trace_device_task(w->b, &(struct trace_device_task_row){
					.device = device + 1,
					.queued_ns = call->start_ns,
					.submit_ns = up_to(w, 3) ? call->start_ns + UNIT : 0,
					.start_ns = start_ns,
					.end_ns = start_ns + ns,
					.stream = call->args[0],
					.kind = kind,
					.name = call->text  ? call->text
						: kind == 2 ? "copy"
							    : "allReduce",
					.tid = WHO[who].tid,
					.enqueue_ns = call->start_ns,
					.enqueue_dur_ns = w->now_ns - call->start_ns,
					.bytes = kind == 2 ? call->args[1] : 0,
					.status = up_to(w, 60) == 0 ? -5 : 0,
					.correlation = up_to(w, 2) ? ++w->correlation : 0,
				});
}

static void end_call(struct world *w, uint32_t who)
{
	struct thread *thread = &w->threads[who];
	const struct open_call *call = &thread->calls[--thread->depth];
	bool fails = up_to(w, 25) == 0;

	w->produced[1]++;
	trace_call(w->b, &(struct trace_call_row){
				 .cpu = thread->cpu,
				 .start_ns = call->start_ns,
				 .end_ns = w->now_ns,
				 .tid = WHO[who].tid,
				 .tgid = WHO[who].tgid,
				 .function = call->function + 1,
				 .flags = up_to(w, 40) == 0 ? 32 : 0,
				 .depth = thread->depth,
				 .ret = fails ? 700 : 0,
				 .args = { call->args[0], call->args[1], call->args[2] },
				 .text = call->text });
	if (!fails &&
	    (call->function == LAUNCH || call->function == COPY || call->function == ALL_REDUCE))
		run_task(w, who, call);
}

static void ioctl(struct world *w, uint32_t who)
{
	uint64_t ns = UNIT * up_to(w, 4);

	w->produced[3]++;
	trace_ioctl(w->b, &(struct trace_ioctl_row){ .cpu = w->threads[who].cpu,
						     .start_ns = w->now_ns - ns,
						     .end_ns = w->now_ns,
						     .tid = WHO[who].tid,
						     .tgid = WHO[who].tgid,
						     .cmd = 0x4600 + up_to(w, 3),
						     .rdev = (195u << 20) + up_to(w, 2),
						     .ret = up_to(w, 6) == 0 ? -11 : 0 });
}

/* Simulates one instant: each CPU's thread continues, sleeps, is preempted, calls or returns. */
static void live(struct world *w)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		uint32_t who = w->on_cpu[cpu];

		if (!who) {
			switch_to(w, cpu, next_ready(w), 0, -1, 0, 0);
			continue;
		}
		random_code_runs(w, who - 1);
		switch (up_to(w, 12)) {
		case 0: fall_asleep(w, cpu); break;
		case 1: switch_to(w, cpu, next_ready(w), 0, -1, 0, 0); break;
		case 2:
		case 3:
		case 4:
			if (WHO[who - 1].flags == 1 && w->threads[who - 1].depth < DEPTH)
				begin_call(w, who - 1);
			break;
		case 5:
		case 6:
		case 7:
			if (w->threads[who - 1].depth)
				end_call(w, who - 1);
			break;
		case 8:
			if (WHO[who - 1].flags == 1 && up_to(w, 3) == 0)
				ioctl(w, who - 1);
			break;
		case 9:
			if (WHO[who - 1].flags == 1 && up_to(w, 3) == 0)
				random_kernel(w, who - 1);
			break;
		default: break;
		}
	}
	for (uint32_t i = 0; i < THREADS; i++)
		if (w->threads[i].state == ASLEEP && up_to(w, 15) == 0)
			wake(w, i);
}

/* Adds the kernel's accounts of threads, which agree with their activity. */
static void accounts(struct world *w, uint32_t flags)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		const struct thread *thread = &w->threads[i];
		uint64_t run_ns = thread->run_ns;
		uint32_t now = thread->state == RUNNING ? 2 : thread->state == READY ? 4 : 0;

		if (WHO[i].flags == 2)
			continue;
		if (thread->state == RUNNING)
			run_ns += w->now_ns - thread->since_ns;
		trace_account(w->b, &(struct trace_account_row){
					    .ts_ns = w->now_ns,
					    .tid = WHO[i].tid,
					    .tgid = WHO[i].tgid,
					    .flags = flags | now | (WHO[i].flags == 1 ? 8 : 0),
					    .run_ns = 1000 * MS + run_ns,
					    .runnable_ns = 500 * MS + thread->ready_ns,
					    .user_ns = 600 * MS + run_ns * (i + 1) / 10,
					    .system_ns = 400 * MS + run_ns * (9 - i) / 10,
					    .voluntary = thread->switches,
					    .involuntary = thread->preempted,
					    .migrations = thread->switches / 3,
					    .minor_faults = 7 * i + run_ns / MS,
					    .major_faults = i % 2 ? run_ns / (40 * MS) : 0 });
	}
}

static void host(struct world *w)
{
	struct trace_cpu_row rows[CPUS];
	uint64_t ns = w->now_ns - START;

	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		uint64_t busy_ns = w->busy_ns[cpu] < ns ? w->busy_ns[cpu] : ns,
			 idle_ns = ns - busy_ns;

		rows[cpu] = (struct trace_cpu_row){ .cpu = cpu,
						    .user_ns = busy_ns / 10 * 6,
						    .system_ns = busy_ns / 10 * 3,
						    .irq_ns = busy_ns / 20,
						    .softirq_ns = busy_ns / 20,
						    .iowait_ns = idle_ns / 8,
						    .idle_ns = idle_ns / 8 * 6,
						    .steal_ns = idle_ns / 8 };
	}
	trace_cpu_stats(w->b,
			&(struct trace_host_row){ .ts_ns = w->now_ns,
						  .context_switches = 5000 + w->produced[0],
						  .forks = 30 + ns / (100 * MS),
						  .runnable = 1 + up_to(w, 4),
						  .blocked = up_to(w, 3) },
			rows, CPUS);
}

/* Adds an object of each kind, with the id kind + 1; the peer of the Internet socket is process 200. */
static void objects(struct world *w)
{
	Profbpf__SleepObjects m = PROFBPF__SLEEP_OBJECTS__INIT;
	Profbpf__SleepObjects__Kind kinds[32];
	uint32_t count = profbpf__sleep_objects__kind__descriptor.n_values, devices[32], peers[32];
	uint64_t numbers[32];

	for (uint32_t i = 0; i < count; i++) {
		kinds[i] = i;
		devices[i] = 8u << 20 | i;
		numbers[i] = i == PROFBPF__SLEEP_OBJECTS__KIND__CHILD ? 200 : 7000 + i;
		peers[i] = i == PROFBPF__SLEEP_OBJECTS__KIND__INET_SOCKET ? 200 : 0;
	}
	m.first_id = 1;
	m.n_kind = m.n_device = m.n_object = m.n_peer = count;
	m.kind = kinds;
	m.device = devices;
	m.object = numbers;
	m.peer = peers;
	every_put(w->b, PROFBPF__PACKET__KIND__SLEEP_OBJECTS, &m.base);
}

static void head(struct world *w, uint64_t seed)
{
	static const uint32_t targets[] = { 100, 200 };
	static const char *const kinds[] = { "gpu", "npu", "cpu" };
	Profbpf__Pythons python = PROFBPF__PYTHONS__INIT;
	Profbpf__ThreadRoles roles = PROFBPF__THREAD_ROLES__INIT;
	uint32_t worker[] = { 101, 102 };
	int32_t operators[] = { 0, 1 };
	char *names[] = { "BatchOp(ID:0)", "GeneratorOp(ID:1)" };

	trace_segment(w->b, &(struct trace_segment){ .session = (uint8_t)seed,
						     .boot = 3,
						     .cpus = CPUS,
						     .start_ns = START,
						     .start_realtime_ns = 1700000000000000000ull,
						     .targets = targets,
						     .target_count = 2,
						     .note = "at random" });
	for (uint64_t ns = START; ns <= START + (TICKS + 1) * UNIT; ns += 100 * MS)
		trace_clock(w->b, &(struct trace_clock){ .monotonic_ns = ns,
							 .monotonic_raw_ns = ns,
							 .boottime_ns = ns + 9 * MS,
							 .realtime_ns = ns - START +
									1700000000000000000ull,
							 .counter = ns });
	for (uint32_t i = 0; i < COUNT(FUNCTIONS); i++) {
		struct trace_function function = FUNCTIONS[i];

		function.id = i + 1;
		trace_function(w->b, &function);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		trace_task(w->b, &(struct trace_task_row){
					 .ts_ns = START,
					 .tid = WHO[i].tid,
					 .tgid = WHO[i].tgid,
					 .parent_tgid = WHO[i].tgid == 200 ? 100 : 1,
					 .start_ns = START - (THREADS - i) * 1000 * MS,
					 .name = WHO[i].name,
					 .cmdline = WHO[i].flags == 2 ? NULL : WHO[i].name,
					 .exe = WHO[i].flags == 2 ? NULL : "/bin/job",
					 .flags = WHO[i].flags });
	for (uint32_t i = 0; i < DEVICES && w->devices; i++)
		trace_device(w->b, &(struct trace_device){
					   .id = i + 1,
					   .tgid = i == 2 ? 200 : 100,
					   .name = i == 2 ? "device" : "accelerator",
					   .kind = kinds[(seed + i) % 3],
					   .clock = PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC });
	roles.framework = "MindData";
	roles.tgid = 100;
	roles.ts_ns = START;
	roles.n_tid = roles.n_operator_id = roles.n_name = COUNT(worker);
	roles.tid = worker;
	roles.operator_id = operators;
	roles.name = names;
	every_put(w->b, PROFBPF__PACKET__KIND__THREAD_ROLES, &roles.base);
	python.ts_ns = START;
	python.tgid = 100;
	python.version = 3 << 8 | 11;
	python.lock_first = 7000 + PROFBPF__SLEEP_OBJECTS__KIND__FUTEX;
	python.lock_last = python.lock_first + 1;
	every_put(w->b, PROFBPF__PACKET__KIND__PYTHONS, &python.base);
	trace_driver(w->b, 195u << 20, "nvidia", "/dev/nvidia0");
	trace_driver(w->b, (195u << 20) + 1, "nvidia", "/dev/nvidiactl");
	objects(w);
	random_code_begin(w);
}

static void statistics(struct world *w, uint64_t seed)
{
	static const char *const sources[] = { "sched", "api", "device", "ioctl", "fault", "io" };
	uint32_t lost = seed % 4 == 3 ? w->produced[1] / 20 : 0;

	for (uint32_t i = 0; i < COUNT(sources); i++)
		trace_source(w->b, sources[i], w->produced[i] + (i == 1 ? lost : 0), w->produced[i],
			     i == 1 && lost ? "ring full" : NULL, i == 1 ? lost : 0);
	trace_statistics(w->b, w->now_ns, true, "target exited");
}

int main(int argc, char **argv)
{
	static struct world w = { .now_ns = START };
	uint64_t seed;

	if (argc != 3) {
		fprintf(stderr, "usage: make_random FILE SEED\n");
		return 2;
	}
	seed = strtoull(argv[2], NULL, 10);
	w.chance = seed * 2654435761u + 1;
	w.devices = seed % 2;
	w.b = trace_builder_new();
	head(&w, seed);
	for (uint32_t i = 0; i < THREADS; i++)
		w.threads[i] = (struct thread){ .state = up_to(&w, 2) ? ASLEEP : READY,
						.since_ns = START };
	accounts(&w, 16);
	random_code_figures(&w, true, false);
	host(&w);
	for (uint32_t tick = 0; tick < TICKS; tick++) {
		/* Most instants are far from the next, some are equal. */
		if (up_to(&w, 4))
			w.now_ns += UNIT * (1 + up_to(&w, 4) * up_to(&w, 4));
		if (w.now_ns >= START + TICKS * UNIT)
			break;
		live(&w);
		if (tick % 500 == 499) {
			accounts(&w, 0);
			random_code_figures(&w, false, false);
			host(&w);
		}
	}
	w.now_ns = START + TICKS * UNIT;
	random_kernel_end(&w);
	random_code_end(&w);
	accounts(&w, 1);
	random_code_figures(&w, false, true);
	host(&w);
	statistics(&w, seed);
	trace_write(w.b, argv[1]);
	trace_builder_free(w.b);
	return 0;
}
