/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl_known - runs a known number of OpenCL commands from known threads,
 * checks its own results and the runtime's answers, and prints the counts.
 *
 *   opencl_known [-p] [-e] [-o] [-f] [-c] [-r ROUNDS] [-t THREADS]
 *
 *   -p  make the queues with profiling, and check every command's times
 *   -e  ask for an event of every command (-p does so too)
 *   -o  one out-of-order queue for all threads, commands chained by events
 *   -f  set OpenCL up in the parent, use it in a forked child
 *   -c  close every descriptor above 2 after set-up
 *
 * Prints "ready PID" after a warm-up, waits for a line on standard input, works,
 * and prints "thread TID" and per thread "count TID NAME COUNT". All its other
 * output is the same in every run. Exit status 1: a check failed.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ITEMS 4096
#define THREADS_MAX 16
#define CHECK(call) check((call), #call, __LINE__)

static const char source[] =
	"kernel void known_add(global int *x, int n) { x[get_global_id(0)] += n; }\n"
	"kernel void known_double(global int *x) { x[get_global_id(0)] *= 2; }\n";

struct options {
	bool profiling, events, out_of_order, fork_first, close_all;
	int rounds, threads;
};

struct job {
	const struct options *options;
	cl_context context;
	cl_program program;
	cl_command_queue queue;
	cl_event last; /* the command before, with -o */
	int rounds;
	pid_t tid;
	int checked; /* commands whose times were checked */
};

static void check(cl_int error, const char *what, int line)
{
	if (error == CL_SUCCESS)
		return;
	fprintf(stderr, "opencl_known: line %d: %s gives %d\n", line, what, error);
	exit(1);
}

static void fail(const char *what)
{
	fprintf(stderr, "opencl_known: %s\n", what);
	exit(1);
}

static cl_ulong time_of(cl_event event, cl_profiling_info which)
{
	cl_ulong value = 0;

	CHECK(clGetEventProfilingInfo(event, which, sizeof(value), &value, NULL));
	return value;
}

/* The times that the program sees must not depend on the layer. */
static void check_times(struct job *job, cl_event event)
{
	cl_ulong queued, submit, start, end;

	CHECK(clWaitForEvents(1, &event));
	job->checked++;
	if (!job->options->profiling) {
		if (clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(start),
					    &start, NULL) != CL_PROFILING_INFO_NOT_AVAILABLE)
			fail("times of a queue made without profiling");
		return;
	}
	queued = time_of(event, CL_PROFILING_COMMAND_QUEUED);
	submit = time_of(event, CL_PROFILING_COMMAND_SUBMIT);
	start = time_of(event, CL_PROFILING_COMMAND_START);
	end = time_of(event, CL_PROFILING_COMMAND_END);
	if (!queued || submit < queued || start < submit || end < start)
		fail("times out of order");
}

/* Returns the place for a command's event; NULL if no event is wanted. */
static cl_event *event_for(struct job *job, cl_event *event)
{
	const struct options *o = job->options;

	*event = NULL;
	return o->events || o->profiling || o->out_of_order ? event : NULL;
}

static cl_uint waits(const struct job *job)
{
	return job->last ? 1 : 0;
}

static const cl_event *wait_list(const struct job *job)
{
	return job->last ? &job->last : NULL;
}

static void done(struct job *job, cl_event event)
{
	if (!event)
		return;
	if (job->options->events || job->options->profiling)
		check_times(job, event);
	if (job->last)
		CHECK(clReleaseEvent(job->last));
	job->last = NULL;
	if (job->options->out_of_order)
		job->last = event;
	else
		CHECK(clReleaseEvent(event));
}

static void launch(struct job *job, cl_kernel kernel)
{
	size_t items = ITEMS;
	cl_event event;

	CHECK(clEnqueueNDRangeKernel(job->queue, kernel, 1, NULL, &items, NULL, waits(job),
				     wait_list(job), event_for(job, &event)));
	done(job, event);
}

static void fill(struct job *job, cl_mem buffer)
{
	cl_int one = 1;
	cl_event event;

	CHECK(clEnqueueFillBuffer(job->queue, buffer, &one, sizeof(one), 0, ITEMS * sizeof(one),
				  waits(job), wait_list(job), event_for(job, &event)));
	done(job, event);
}

static void copy(struct job *job, cl_mem from, cl_mem to)
{
	cl_event event;

	CHECK(clEnqueueCopyBuffer(job->queue, from, to, 0, 0, ITEMS * sizeof(cl_int), waits(job),
				  wait_list(job), event_for(job, &event)));
	done(job, event);
}

static void read_back(struct job *job, cl_mem buffer, cl_int *host, bool blocking)
{
	cl_event event;

	CHECK(clEnqueueReadBuffer(job->queue, buffer, blocking, 0, ITEMS * sizeof(*host), host,
				  waits(job), wait_list(job), event_for(job, &event)));
	done(job, event);
}

static void write_one(struct job *job, cl_mem buffer, const cl_int *value)
{
	cl_event event;

	CHECK(clEnqueueWriteBuffer(job->queue, buffer, CL_FALSE, 0, sizeof(*value), value,
				   waits(job), wait_list(job), event_for(job, &event)));
	done(job, event);
}

static void map_and_unmap(struct job *job, cl_mem buffer, cl_int expected)
{
	cl_int error, *mapped;
	cl_event event;

	mapped = clEnqueueMapBuffer(job->queue, buffer, CL_TRUE, CL_MAP_READ, 0,
				    ITEMS * sizeof(cl_int), waits(job), wait_list(job),
				    event_for(job, &event), &error);
	CHECK(error);
	done(job, event);
	if (mapped[0] != 77 || mapped[1] != expected || mapped[ITEMS - 1] != expected)
		fail("wrong numbers in the mapped buffer");
	CHECK(clEnqueueUnmapMemObject(job->queue, buffer, mapped, waits(job), wait_list(job),
				      event_for(job, &event)));
	done(job, event);
}

static void mark(struct job *job)
{
	cl_event event;

	CHECK(clEnqueueMarkerWithWaitList(job->queue, waits(job), wait_list(job),
					  event_for(job, &event)));
	done(job, event);
	CHECK(clEnqueueBarrierWithWaitList(job->queue, waits(job), wait_list(job),
					   event_for(job, &event)));
	done(job, event);
}

/* One round: 3 known_add, 2 known_double, and one of each other command. */
static void one_round(struct job *job, cl_kernel add, cl_kernel twice, cl_mem a, cl_mem b,
		      cl_int *host)
{
	static const cl_int mine = 77;
	const cl_int expected = ((1 + 5) * 2 + 5) * 2 + 5;

	fill(job, a);
	launch(job, add);
	launch(job, twice);
	launch(job, add);
	launch(job, twice);
	launch(job, add);
	copy(job, a, b);
	read_back(job, b, host, true);
	if (host[0] != expected || host[ITEMS - 1] != expected)
		fail("wrong numbers");
	write_one(job, b, &mine);
	map_and_unmap(job, b, expected);
	mark(job);
}

static void *work(void *data)
{
	cl_int *host = calloc(ITEMS, sizeof(*host)), five = 5, error;
	cl_kernel add, twice;
	struct job *job = data;
	cl_mem a, b;
	int i;

	job->tid = gettid();
	add = clCreateKernel(job->program, "known_add", &error);
	CHECK(error);
	twice = clCreateKernel(job->program, "known_double", &error);
	CHECK(error);
	a = clCreateBuffer(job->context, CL_MEM_READ_WRITE, ITEMS * sizeof(cl_int), NULL, &error);
	CHECK(error);
	b = clCreateBuffer(job->context, CL_MEM_READ_WRITE, ITEMS * sizeof(cl_int), NULL, &error);
	CHECK(error);
	CHECK(clSetKernelArg(add, 0, sizeof(a), &a));
	CHECK(clSetKernelArg(add, 1, sizeof(five), &five));
	CHECK(clSetKernelArg(twice, 0, sizeof(a), &a));
	for (i = 0; i < job->rounds; i++)
		one_round(job, add, twice, a, b, host);
	CHECK(clFinish(job->queue));
	if (job->last)
		CHECK(clReleaseEvent(job->last));
	job->last = NULL;
	CHECK(clReleaseKernel(add));
	CHECK(clReleaseKernel(twice));
	CHECK(clReleaseMemObject(a));
	CHECK(clReleaseMemObject(b));
	free(host);
	return NULL;
}

static cl_command_queue make_queue(const struct options *o, cl_context context, cl_device_id device,
				   int which)
{
	cl_command_queue_properties want = 0, have = 0;
	cl_queue_properties list[] = { CL_QUEUE_PROPERTIES, 0, 0 };
	cl_command_queue queue;
	size_t size = 0, i;
	cl_int error;

	want |= o->profiling ? CL_QUEUE_PROFILING_ENABLE : 0;
	want |= o->out_of_order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0;
	list[1] = want;
	/* Uses every function that makes a queue. */
	if (which % 3 == 0)
		queue = clCreateCommandQueue(context, device, want, &error);
	else
		queue = clCreateCommandQueueWithProperties(
			context, device, want || which % 3 == 1 ? list : NULL, &error);
	CHECK(error);
	CHECK(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(have), &have, NULL));
	if (have != want)
		fail("a queue has other properties than it was made with");
	/* OpenCL 3.0 returns the list of the caller; earlier versions do not know this query. */
	error = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof(list), list, &size);
	printf("queue %d properties array: %d, %zu bytes", which, error, error ? 0 : size);
	for (i = 0; error == CL_SUCCESS && i < size / sizeof(list[0]); i++)
		printf(" %llu", (unsigned long long)list[i]);
	printf("\n");
	return queue;
}

static void run_threads(struct job *jobs, const struct options *o, int rounds)
{
	pthread_t threads[THREADS_MAX];
	int i;

	for (i = 0; i < o->threads; i++) {
		jobs[i].rounds = rounds;
		jobs[i].checked = 0;
		if (pthread_create(&threads[i], NULL, work, &jobs[i]) != 0)
			fail("no thread");
	}
	for (i = 0; i < o->threads; i++)
		pthread_join(threads[i], NULL);
}

static void print_counts(const struct job *job)
{
	static const struct {
		const char *name;
		int per_round;
	} counts[] = {
		{ "known_add", 3 },	      { "known_double", 2 },   { "FillBuffer", 1 },
		{ "CopyBuffer", 1 },	      { "ReadBuffer", 1 },     { "WriteBuffer", 1 },
		{ "MapBuffer", 1 },	      { "UnmapMemObject", 1 }, { "MarkerWithWaitList", 1 },
		{ "BarrierWithWaitList", 1 },
	};
	size_t i;

	printf("thread %d\n", job->tid);
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		printf("count %d %s %d\n", job->tid, counts[i].name,
		       counts[i].per_round * job->rounds);
}

static int run(const struct options *o, cl_platform_id platform)
{
	struct job jobs[THREADS_MAX] = { 0 };
	const char *text = source;
	cl_device_id device;
	cl_context context;
	cl_program program;
	int i, checked = 0;
	char line[16];
	cl_int error;

	CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	CHECK(error);
	program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
	CHECK(error);
	CHECK(clBuildProgram(program, 1, &device, "", NULL, NULL));
	for (i = 0; i < o->threads; i++) {
		jobs[i] = (struct job){ .options = o, .context = context, .program = program };
		jobs[i].queue = i && o->out_of_order ? jobs[0].queue
						     : make_queue(o, context, device, i);
	}
	run_threads(jobs, o, 1);
	if (o->close_all)
		for (i = 3; i < 1024; i++)
			close(i);
	printf("ready %d\n", getpid());
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		fail("nobody said go");
	run_threads(jobs, o, o->rounds);
	for (i = 0; i < o->threads; i++) {
		print_counts(&jobs[i]);
		checked += jobs[i].checked;
		if (i == 0 || !o->out_of_order)
			CHECK(clReleaseCommandQueue(jobs[i].queue));
	}
	printf("checked the times of %d commands\n", checked);
	CHECK(clReleaseProgram(program));
	CHECK(clReleaseContext(context));
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = { .rounds = 50, .threads = 2 };
	cl_platform_id platform;
	int option, status;

	while ((option = getopt(argc, argv, "peofcr:t:")) != -1) {
		switch (option) {
		case 'p': o.profiling = true; break;
		case 'e': o.events = true; break;
		case 'o': o.out_of_order = true; break;
		case 'f': o.fork_first = true; break;
		case 'c': o.close_all = true; break;
		case 'r': o.rounds = atoi(optarg); break;
		case 't': o.threads = atoi(optarg); break;
		default: return 2;
		}
	}
	if (o.threads < 1 || o.threads > THREADS_MAX || o.rounds < 1)
		return 2;
	CHECK(clGetPlatformIDs(1, &platform, NULL));
	if (!o.fork_first)
		return run(&o, platform);
	if (fork() == 0)
		exit(run(&o, platform));
	wait(&status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
