/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launches COUNT - writes Kineto JSON like that of a training on a GPU: COUNT times a call and the kernel that it
 * launched, a third of them collectives. Writes to standard output, the same in every run. For bench/import/run.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define EACH_US 20 /* a kernel */
#define NAMES 80 /* different kernels */

static void write_launch(uint64_t n)
{
	uint64_t us = 1000 + EACH_US * n;

	printf("  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", "
	       "\"pid\": 42, \"tid\": 43,\n    \"ts\": %" PRIu64 ".125, \"dur\": 5.250,\n"
	       "    \"args\": {\n      \"External id\": %" PRIu64 ", \"cbid\": 211, "
	       "\"correlation\": %" PRIu64 "\n    }\n  },\n",
	       us, n, n);
	printf("  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"");
	if (n % 3 == 2)
		printf("ncclDevKernel_AllReduce_Sum_f16_RING_LL(%" PRIu64 ")", n % NAMES);
	else
		printf("ampere_fp16_s16816gemm_fp16_128x128_ldg8_%" PRIu64, n % NAMES);
	printf("\", \"pid\": 0, \"tid\": 7,\n    \"ts\": %" PRIu64 ".375, \"dur\": 9.750,\n"
	       "    \"args\": {\n      \"External id\": %" PRIu64 ", \"device\": 0, \"context\": 1, "
	       "\"stream\": 7, \"correlation\": %" PRIu64 "\n    }\n  },\n",
	       us + 8, n, n);
}

int main(int argc, char **argv)
{
	uint64_t count = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;

	if (!count) {
		fprintf(stderr, "usage: launches COUNT\n");
		return 2;
	}
	printf("{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"GPU\"}],\n"
	       "\"traceEvents\": [\n");
	for (uint64_t n = 1; n <= count; n++)
		write_launch(n);
	printf("  {\"ph\": \"M\", \"name\": \"end\", \"pid\": 0}\n],\n"
	       "\"baseTimeNanoseconds\": 1700000000000000000}\n");
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
