/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_tool.h - the interface by which the two test doubles of CUDA libraries report work to
 * libcupti_truth.so. Everything happens in the calling thread.
 */
#ifndef PROFBPF_TRUTH_CUDA_TOOL_H
#define PROFBPF_TRUTH_CUDA_TOOL_H

#include <stdint.h>

struct truth_cuda_work {
	/*
	 * k = kernel, c = copy to the device, h = copy from it, d = copy within it, f = fill; waits: s = for the
	 * stream, e = for an event in it, x = for all streams
	 */
	char kind;
	const char *name; /* of a kernel */
	uint64_t bytes;
	uint64_t stream;
	uint64_t ns; /* duration on the device */
};
struct truth_cuda_tool {
	void (*enter)(const char *function);
	void (*work)(const struct truth_cuda_work *work);
	void (*leave)(const char *function);
};
/* In libcuda_truth.so; NULL = no tool. */
extern const struct truth_cuda_tool *truth_cuda_tool;

#endif /* PROFBPF_TRUTH_CUDA_TOOL_H */
