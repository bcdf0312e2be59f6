/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.c - a training job for the simulated Ascend: a thread that makes batches and sends them to the
 * device's queue; a main thread that launches forward pass, backward pass, all-reduce and update. The
 * numbers of its calls are known, and printed at its end.
 *
 *   job [STEPS [WARM_UP [PREPARE_US [HOST_US [PAUSE_US]]]]]
 *
 * WARM_UP steps run first; then it prints "ready" and waits for a line on its standard input, as it
 * does at its end. PREPARE_US: the time to make a batch; HOST_US: the time for which the main thread
 * computes before each step, while the device is idle; PAUSE_US: the time for which it sleeps
 * before every 10th step.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Declarations of acl/acl_rt.h, acl/acl_op.h, acl/acl_tdt.h, hccl/hccl.h and the runtime's headers. */
int aclInit(const char *config);
int aclFinalize(void);
int aclrtSetDevice(int32_t device);
int aclrtResetDevice(int32_t device);
int aclrtCreateStream(void **stream);
int aclrtDestroyStream(void *stream);
int aclrtSynchronizeStream(void *stream);
int aclrtCreateEvent(void **event);
int aclrtRecordEvent(void *event, void *stream);
int aclrtStreamWaitEvent(void *stream, void *event);
int aclrtMalloc(void **memory, size_t bytes, int policy);
int aclrtFree(void *memory);
int aclrtMallocHost(void **memory, size_t bytes);
int aclrtMemcpyAsync(void *to, size_t to_size, const void *from, size_t bytes, int kind,
		     void *stream);
int aclrtBinaryLoadFromFile(const char *path, const void *options, void **binary);
int aclrtBinaryGetFunction(void *binary, const char *name, void **function);
int aclrtLaunchKernel(void *function, uint32_t blocks, const void *args, size_t size, void *stream);
void *aclopCreateAttr(void);
int aclopSetAttrString(void *attributes, const char *name, const char *value);
int aclopExecuteV2(const char *type, int input_count, void *input_desc[], void *inputs[],
		   int output_count, void *output_desc[], void *outputs[], void *attributes,
		   void *stream);
void *acltdtCreateChannelWithCapacity(uint32_t device, const char *name, size_t capacity);
void *acltdtCreateDataset(void);
int acltdtSendTensor(void *channel, const void *dataset, int32_t timeout);
int acltdtQueryChannelSize(const void *channel, size_t *size);
int HcclCommInitRootInfo(uint32_t ranks, const void *root, uint32_t rank, void **comm);
int HcclAllReduce(void *send, void *receive, uint64_t count, int type, int operation, void *comm,
		  void *stream);
int rtProfilerTraceEx(uint64_t id, uint64_t model, uint16_t tag, void *stream);

#define QUEUE_CAPACITY 4
#define LAYERS 3
#define GRADIENTS 400000 /* floats */
#define DEVICE_TO_HOST 2
#define WORKSPACE 65536 /* bytes of device memory that each step allocates and frees */
#define KEPT 12345 /* bytes that are allocated at the end and not freed */
#define SLOW_STEPS 10

struct job {
	unsigned long steps, warm_up, prepare_us, host_us, pause_us;
	void *compute, *communication, *channel, *comm, *attributes;
	void *backward_done, *reduced;
	void *forward[LAYERS], *backward[LAYERS], *update;
	void *gradients, *loss, *host_loss, *kept;
	unsigned long launches, operators, copies, collectives, sleeps, slept_ns;
	unsigned long sends, queries, size_sum; /* queue sizes returned by the queries */
};

static void check(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "job: %s: error %d\n", what, result);
	exit(1);
}

#define CHECK(call) check(call, #call)

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void pause_for(unsigned long us)
{
	struct timespec time = { .tv_sec = (time_t)(us / 1000000),
				 .tv_nsec = (long)(us % 1000000) * 1000 };

	nanosleep(&time, NULL);
}

static void compute_for(unsigned long us)
{
	uint64_t until_ns = now_ns() + us * 1000;

	while (now_ns() < until_ns)
		;
}

static void *feed(void *argument)
{
	struct job *job = argument;
	void *batch = acltdtCreateDataset();

	for (unsigned long i = 0; i < job->steps + job->warm_up; i++) {
		size_t size;

		if (job->prepare_us)
			pause_for(job->prepare_us);
		CHECK(acltdtSendTensor(job->channel, batch, -1));
		job->sends++;
		CHECK(acltdtQueryChannelSize(job->channel, &size));
		job->queries++;
		job->size_sum += size;
	}
	return NULL;
}

static void launch(struct job *job, void *function, unsigned int blocks)
{
	CHECK(aclrtLaunchKernel(function, blocks, NULL, 0, job->compute));
	job->launches++;
}

static void host_work(struct job *job, unsigned long number)
{
	uint64_t start_ns;

	if (job->host_us)
		compute_for(job->host_us);
	if (!job->pause_us || number % SLOW_STEPS != SLOW_STEPS - 1)
		return;
	start_ns = now_ns();
	pause_for(job->pause_us);
	job->slept_ns += now_ns() - start_ns;
	job->sleeps++;
}

static void step(struct job *job, unsigned long number)
{
	void *workspace;

	host_work(job, number);
	CHECK(aclrtMalloc(&workspace, WORKSPACE, 0));
	CHECK(aclopExecuteV2("GetNext", 0, NULL, NULL, 0, NULL, NULL, job->attributes,
			     job->compute));
	job->operators++;
	CHECK(rtProfilerTraceEx(number, 1, 1, job->compute));
	for (int i = 0; i < LAYERS; i++)
		launch(job, job->forward[i], 20 + 10 * (unsigned int)i);
	for (int i = LAYERS - 1; i >= 0; i--)
		launch(job, job->backward[i], 40 + 10 * (unsigned int)i);
	CHECK(rtProfilerTraceEx(number, 1, 2, job->compute));
	CHECK(aclrtRecordEvent(job->backward_done, job->compute));
	CHECK(aclrtStreamWaitEvent(job->communication, job->backward_done));
	CHECK(HcclAllReduce(job->gradients, job->gradients, GRADIENTS, 4, 0, job->comm,
			    job->communication));
	job->collectives++;
	CHECK(aclrtRecordEvent(job->reduced, job->communication));
	CHECK(aclrtStreamWaitEvent(job->compute, job->reduced));
	launch(job, job->update, 15);
	CHECK(rtProfilerTraceEx(number, 1, 255, job->compute));
	CHECK(aclrtMemcpyAsync(job->host_loss, 4096, job->loss, 4096, DEVICE_TO_HOST,
			       job->compute));
	job->copies++;
	CHECK(aclrtSynchronizeStream(job->compute));
	CHECK(aclrtFree(workspace));
}

static void set_up(struct job *job)
{
	static const char *const FORWARD[LAYERS] = { "Conv2D", "MatMul", "ReLU" };
	static const char *const BACKWARD[LAYERS] = { "Conv2D_backward", "MatMul_backward",
						      "ReLU_backward" };
	static char root[4108];
	void *binary;

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(0));
	CHECK(aclrtCreateStream(&job->compute));
	CHECK(aclrtCreateStream(&job->communication));
	CHECK(aclrtCreateEvent(&job->backward_done));
	CHECK(aclrtCreateEvent(&job->reduced));
	CHECK(aclrtBinaryLoadFromFile("kernels.o", NULL, &binary));
	for (int i = 0; i < LAYERS; i++) {
		CHECK(aclrtBinaryGetFunction(binary, FORWARD[i], &job->forward[i]));
		CHECK(aclrtBinaryGetFunction(binary, BACKWARD[i], &job->backward[i]));
	}
	CHECK(aclrtBinaryGetFunction(binary, "ApplyMomentum", &job->update));
	CHECK(HcclCommInitRootInfo(2, root, 0, &job->comm));
	CHECK(aclrtMalloc(&job->gradients, GRADIENTS * 4, 0));
	CHECK(aclrtMalloc(&job->loss, 4096, 0));
	CHECK(aclrtMallocHost(&job->host_loss, 4096));
	job->channel = acltdtCreateChannelWithCapacity(0, "train_data", QUEUE_CAPACITY);
	job->attributes = aclopCreateAttr();
	CHECK(aclopSetAttrString(job->attributes, "channel_name", "train_data"));
}

static void tear_down(struct job *job)
{
	CHECK(aclrtFree(job->kept));
	CHECK(aclrtFree(job->loss));
	CHECK(aclrtFree(job->gradients));
	CHECK(aclrtDestroyStream(job->communication));
	CHECK(aclrtDestroyStream(job->compute));
	CHECK(aclrtResetDevice(0));
	CHECK(aclFinalize());
}

static unsigned long argument(int count, char **arguments, int index, unsigned long otherwise)
{
	return index < count ? strtoul(arguments[index], NULL, 10) : otherwise;
}

int main(int count, char **arguments)
{
	struct job job = { .steps = argument(count, arguments, 1, 100),
			   .warm_up = argument(count, arguments, 2, 5),
			   .prepare_us = argument(count, arguments, 3, 500),
			   .host_us = argument(count, arguments, 4, 300),
			   .pause_us = argument(count, arguments, 5, 20000) };
	pthread_t feeder;
	char line[16];

	set_up(&job);
	if (pthread_create(&feeder, NULL, feed, &job) != 0)
		return 1;
	pthread_setname_np(feeder, "feeder");
	for (unsigned long i = 0; i < job.warm_up; i++)
		step(&job, i);
	job.launches = job.operators = job.copies = job.collectives = 0;
	job.sleeps = job.slept_ns = 0;
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	for (unsigned long i = 0; i < job.steps; i++)
		step(&job, i);
	/* An analysis must report this memory as not freed. */
	CHECK(aclrtMalloc(&job.kept, KEPT, 0));
	pthread_join(feeder, NULL);
	printf("steps=%lu\nlaunches=%lu\noperators=%lu\ncopies=%lu\ncollectives=%lu\nsends=%lu\n"
	       "queries=%lu\nsize_sum=%lu\nsleeps=%lu\nslept_ns=%lu\ndone\n",
	       job.steps, job.launches, job.operators, job.copies, job.collectives, job.sends,
	       job.queries, job.size_sum, job.sleeps, job.slept_ns);
	fflush(stdout);
	/* Lives until the tracer has seen the process. */
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	tear_down(&job);
	return 0;
}
