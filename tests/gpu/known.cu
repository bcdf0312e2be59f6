/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known - a CUDA program that knows what it has its GPU do, and says it as JSON.
 *
 *   known [-w MS] [-g FILE] [-r ROUNDS] [-t THREADS] [-s SPINS]   a known number of everything
 *   known [-w MS] [-g FILE] -l SECONDS [-p PLANT]                 steps, like a training's
 *
 *   -w  begin when CUPTI is loaded and MS milliseconds have passed (10 s at most)
 *   -g  say "ready PID", then wait until FILE is there; steps end when it is gone, or after SECONDS
 *   -p  where the steps are slow: loader copy tiny sync; none by default
 *
 * Only the runtime's functions in C are called: compiled by nvcc it is a CUDA program, by a C++
 * compiler one for a library that stands for the runtime. Times are CLOCK_MONOTONIC, in ns.
 */
#include <cuda_runtime_api.h>

#include <atomic>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

#define COPY_BYTES 65536
#define LARGE_BYTES (8 << 20)
#define GRAPH_KERNELS 4
#define SPIN_NS 2000000ull
#define LEAD_NS 5000000ull /* keeps the stream busy while what is measured is queued behind it */
#define TINY_MANY 300 /* kernels of a step that is slow for their number */
#define STEP_KERNELS 20

/* ---- Kernels */

#ifdef __CUDACC__
#define KERNEL __global__ void

static __device__ unsigned long long device_ns()
{
	unsigned long long now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	return now;
}

/* Runs for ns, and writes for how long it did by the device's own clock. */
KERNEL known_spin(unsigned long long ns, unsigned long long *took)
{
	unsigned long long start = device_ns(), now = start;

	while (now - start < ns)
		now = device_ns();
	*took = now - start;
}

KERNEL known_tiny(float *data)
{
	data[threadIdx.x] += 1.0f;
}

template <int factor> KERNEL known_scale(float *data, int count)
{
	for (int i = threadIdx.x; i < count; i += blockDim.x)
		data[i] *= factor;
}

KERNEL known_graph(float *data)
{
	data[threadIdx.x] -= 1.0f;
}

static void name_kernels()
{
}
#else
#define KERNEL static void

/* Told apart by their addresses. */
KERNEL known_spin(unsigned long long ns, unsigned long long *took)
{
	*took = ns;
}

KERNEL known_tiny(float *data)
{
	data[0] += 1.0f;
}

template <int factor> KERNEL known_scale(float *data, int count)
{
	data[0] *= factor * count;
}

KERNEL known_graph(float *data)
{
	data[0] -= 1.0f;
}

extern "C" void __cudaRegisterFunction(void **fat_binary, const char *host, char *device,
				       const char *name, int limit, void *tid, void *bid,
				       void *block, void *grid, int *warp_size);

/* What nvcc generates. */
static void name_kernel(const void *kernel, const char *name)
{
	__cudaRegisterFunction(NULL, (const char *)kernel, (char *)name, name, -1, NULL, NULL, NULL,
			       NULL, NULL);
}

static void name_kernels()
{
	name_kernel((const void *)known_spin, "_Z10known_spinyPy");
	name_kernel((const void *)known_tiny, "_Z10known_tinyPf");
	name_kernel((const void *)known_scale<3>, "_Z11known_scaleILi3EEvPfi");
	name_kernel((const void *)known_graph, "_Z11known_graphPf");
}
#endif

/* ---- What is done is counted. */

static struct counts {
	std::atomic<long> tiny, scale, graph, spin;
	std::atomic<long> to_device, from_device, fills, copied;
	std::atomic<long> launches, graph_launches, async_copies, copies, stream_syncs, event_syncs,
		device_syncs, captured;
} did;

static void check(cudaError_t error, const char *what)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "known: %s: %s\n", what, cudaGetErrorString(error));
	exit(1);
}
#define DO(call) check((call), #call)

static unsigned long long now_ns()
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (unsigned long long)ts.tv_sec * 1000000000ull + (unsigned long long)ts.tv_nsec;
}

static void sleep_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

static void launch(const void *kernel, std::atomic<long> *count, void **args, cudaStream_t stream)
{
	dim3 grid(1, 1, 1), block(32, 1, 1);

	if (kernel == (const void *)known_spin)
		block.x = 1;
	DO(cudaLaunchKernel(kernel, grid, block, args, 0, stream));
	++*count;
	++did.launches;
}

/* A stream with memory of its own. */
struct lane {
	cudaStream_t stream;
	float *device, *host;
	cudaGraphExec_t graph;

	void open();
	void capture();
	void tiny();
	void scale();
	void copy(bool to_device);
	void fill();
	void launch_graph();
	void wait();
};

void lane::open()
{
	DO(cudaStreamCreate(&stream));
	DO(cudaMalloc((void **)&device, COPY_BYTES));
	DO(cudaMallocHost((void **)&host, COPY_BYTES));
	memset(host, 0, COPY_BYTES);
	capture();
}

void lane::capture()
{
	void *args[] = { &device };
	cudaGraph_t captured;

	DO(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	for (int i = 0; i < GRAPH_KERNELS; i++)
		DO(cudaLaunchKernel((const void *)known_graph, dim3(1, 1, 1), dim3(32, 1, 1), args,
				    0, stream));
	did.captured += GRAPH_KERNELS;
	DO(cudaStreamEndCapture(stream, &captured));
	DO(cudaGraphInstantiateWithFlags(&graph, captured, 0));
}

void lane::tiny()
{
	void *args[] = { &device };

	launch((const void *)known_tiny, &did.tiny, args, stream);
}

void lane::scale()
{
	int count = 1024;
	void *args[] = { &device, &count };

	launch((const void *)known_scale<3>, &did.scale, args, stream);
}

void lane::copy(bool to_device)
{
	if (to_device)
		DO(cudaMemcpyAsync(device, host, COPY_BYTES, cudaMemcpyHostToDevice, stream));
	else
		DO(cudaMemcpyAsync(host, device, COPY_BYTES, cudaMemcpyDeviceToHost, stream));
	++(to_device ? did.to_device : did.from_device);
	did.copied += COPY_BYTES;
	++did.async_copies;
}

void lane::fill()
{
	DO(cudaMemsetAsync(device, 0, COPY_BYTES, stream));
	++did.fills;
}

void lane::launch_graph()
{
	DO(cudaGraphLaunch(graph, stream));
	did.graph += GRAPH_KERNELS;
	++did.graph_launches;
}

void lane::wait()
{
	DO(cudaStreamSynchronize(stream));
	++did.stream_syncs;
}

/* ---- A known number of everything */

static void work(lane *one, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		one->copy(true);
		one->fill();
		for (int k = 0; k < 3; k++)
			one->scale();
		for (int k = 0; k < 5; k++)
			one->tiny();
		one->launch_graph();
		one->copy(false);
		one->wait();
	}
}

static void spin(lane *one, unsigned long long ns, unsigned long long *took)
{
	void *args[] = { &ns, &took };

	launch((const void *)known_spin, &did.spin, args, one->stream);
}

/* One kernel between two events, and between two instants of the host. */
static void measure(lane *one, unsigned long long *took, const char *comma)
{
	unsigned long long before = now_ns(), after, device_took;
	cudaEvent_t begin, end;
	float ms;

	DO(cudaEventCreate(&begin));
	DO(cudaEventCreate(&end));
	spin(one, LEAD_NS, took + 1);
	DO(cudaEventRecord(begin, one->stream));
	spin(one, SPIN_NS, took);
	DO(cudaEventRecord(end, one->stream));
	DO(cudaEventSynchronize(end));
	++did.event_syncs;
	after = now_ns();
	DO(cudaEventElapsedTime(&ms, begin, end));
	DO(cudaMemcpy(&device_took, took, sizeof(device_took), cudaMemcpyDeviceToHost));
	++did.copies;
	++did.from_device;
	did.copied += sizeof(device_took);
	printf("%s\n  {\"before_ns\": %llu, \"after_ns\": %llu, \"event_ns\": %.0f, \"device_ns\": "
	       "%llu}",
	       comma, before, after, ms * 1e6, device_took);
	cudaEventDestroy(begin);
	cudaEventDestroy(end);
}

static void print_counts()
{
	printf("\"kernels\": {\"known_tiny\": %ld, \"known_scale\": %ld, \"known_graph\": %ld, "
	       "\"known_spin\": %ld},\n",
	       did.tiny.load(), did.scale.load(), did.graph.load(), did.spin.load());
	printf("\"moves\": {\"Memcpy HtoD\": %ld, \"Memcpy DtoH\": %ld, \"Memset\": %ld},\n",
	       did.to_device.load(), did.from_device.load(), did.fills.load());
	printf("\"copied_bytes\": %ld, \"captured\": %ld,\n", did.copied.load(),
	       did.captured.load());
	printf("\"syncs\": {\"stream\": %ld, \"event\": %ld, \"device\": %ld},\n",
	       did.stream_syncs.load(), did.event_syncs.load(), did.device_syncs.load());
	printf("\"calls\": {\"cudaLaunchKernel\": %ld, \"cudaGraphLaunch\": %ld, "
	       "\"cudaMemcpyAsync\": %ld, \"cudaMemsetAsync\": %ld, \"cudaMemcpy\": %ld, "
	       "\"cudaStreamSynchronize\": %ld, \"cudaDeviceSynchronize\": %ld}",
	       did.launches.load(), did.graph_launches.load(), did.async_copies.load(),
	       did.fills.load(), did.copies.load(), did.stream_syncs.load(),
	       did.device_syncs.load());
}

static void run_counts(std::vector<lane> &lanes, int rounds, int spins)
{
	unsigned long long *took, begin = now_ns();
	std::vector<std::thread> threads;

	for (lane &one : lanes)
		threads.emplace_back(work, &one, rounds);
	for (std::thread &thread : threads)
		thread.join();
	DO(cudaMalloc((void **)&took, 2 * sizeof(*took)));
	printf("{\"begin_ns\": %llu,\n\"spins\": [", begin);
	for (int i = 0; i < spins; i++)
		measure(&lanes[0], took, i ? "," : "");
	DO(cudaDeviceSynchronize());
	++did.device_syncs;
	printf("],\n\"end_ns\": %llu,\n", now_ns());
	print_counts();
	printf("}\n");
}

/* ---- Steps */

struct step {
	unsigned long long begin_ns, end_ns;
	long kernels;
};

static void make_step(lane *one, const char *plant, void *large, void *large_host)
{
	float first;

	if (!strcmp(plant, "loader"))
		sleep_ms(5);
	if (!strcmp(plant, "copy"))
		DO(cudaMemcpy(large, large_host, LARGE_BYTES, cudaMemcpyHostToDevice));
	one->copy(true);
	for (int i = 0; i < (strcmp(plant, "tiny") ? STEP_KERNELS : TINY_MANY); i++) {
		one->tiny();
		if (!strcmp(plant, "sync"))
			DO(cudaMemcpy(&first, one->device, sizeof(first), cudaMemcpyDeviceToHost));
	}
	one->launch_graph();
	one->wait();
}

static void run_steps(lane *one, double seconds, const char *plant, const char *go)
{
	unsigned long long end = now_ns() + (unsigned long long)(seconds * 1e9);
	std::vector<step> steps;
	void *large, *large_host = malloc(LARGE_BYTES);
	unsigned long long begin;
	long kernels;

	DO(cudaMalloc(&large, LARGE_BYTES));
	memset(large_host, 1, LARGE_BYTES);
	while ((begin = now_ns()) < end && (!go || access(go, F_OK) == 0)) {
		kernels = did.tiny + did.graph;
		make_step(one, plant, large, large_host);
		steps.push_back({ begin, now_ns(), did.tiny + did.graph - kernels });
	}
	printf("{\"plant\": \"%s\",\n\"steps\": [", plant);
	for (size_t i = 0; i < steps.size(); i++)
		printf("%s[%llu, %llu, %ld]", i ? ",\n" : "\n", steps[i].begin_ns, steps[i].end_ns,
		       steps[i].kernels);
	printf("]}\n");
}

/* ---- The beginning */

static bool is_mapped(const char *library)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, library);
	if (maps)
		fclose(maps);
	return found;
}

static void wait_for_cupti(long ms)
{
	unsigned long long give_up = now_ns() + 10000000000ull;

	while (!is_mapped("libcupti") && now_ns() < give_up)
		sleep_ms(10);
	sleep_ms(ms);
}

static void wait_for_file(const char *path)
{
	fprintf(stderr, "ready %d\n", (int)getpid());
	while (access(path, F_OK) != 0)
		sleep_ms(10);
}

int main(int argc, char **argv)
{
	int option, rounds = 50, threads = 2, spins = 5;
	const char *plant = "none", *go = NULL;
	double seconds = 0;
	long wait_ms = -1;

	while ((option = getopt(argc, argv, "w:g:r:t:s:l:p:")) != -1) {
		switch (option) {
		case 'w': wait_ms = atol(optarg); break;
		case 'g': go = optarg; break;
		case 'r': rounds = atoi(optarg); break;
		case 't': threads = atoi(optarg); break;
		case 's': spins = atoi(optarg); break;
		case 'l': seconds = atof(optarg); break;
		case 'p': plant = optarg; break;
		default: return 2;
		}
	}
	if (threads < 1)
		return 2;
	name_kernels();
	DO(cudaFree(NULL)); /* begins with the device */
	if (wait_ms >= 0 && !go)
		wait_for_cupti(wait_ms);
	std::vector<lane> lanes((size_t)threads);
	for (lane &one : lanes)
		one.open();
	if (go)
		wait_for_file(go);
	if (wait_ms >= 0 && go)
		wait_for_cupti(wait_ms);
	if (seconds > 0)
		run_steps(&lanes[0], seconds, plant, go);
	else
		run_counts(lanes, rounds, spins);
	fflush(stdout);
	return 0;
}
