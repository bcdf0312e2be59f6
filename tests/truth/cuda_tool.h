/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_tool.h - what libcupti_truth.so is told by the two libraries that stand for CUDA, in place
 * of what the real ones tell each other. Everything happens in the calling thread.
 */
#ifndef PROFBPF_TRUTH_CUDA_TOOL_H
#define PROFBPF_TRUTH_CUDA_TOOL_H

#include <stdint.h>

struct truth_cuda_work {
	/*
	 * k a kernel, c a copy to the device, h from it, d within it, f a fill; waiting for: s the stream,
	 * e an event in it, x all streams
	 */
	char kind;
	const char *name; /* of a kernel */
	uint64_t bytes;
	uint64_t stream;
	uint64_t ns; /* on the device */
};
struct truth_cuda_tool {
	void (*enter)(const char *function);
	void (*work)(const struct truth_cuda_work *work);
	void (*leave)(const char *function);
};
/* In libcuda_truth.so; NULL = nobody wants to know. */
extern const struct truth_cuda_tool *truth_cuda_tool;

#endif /* PROFBPF_TRUTH_CUDA_TOOL_H */
