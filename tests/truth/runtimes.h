/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtimes.h - prototypes, as in the real headers, of the functions of vendors' runtimes in the
 * test doubles. These functions only call the layer below.
 */
#ifndef PROFBPF_TRUTH_RUNTIMES_H
#define PROFBPF_TRUTH_RUNTIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/truth/cuda_tool.h"

#define EXPORT __attribute__((noinline, visibility("default")))
/* Keeps the compiler from merging empty functions. */
#define DISTINCT() __asm__ volatile("" ::"i"(__LINE__) : "memory")

/* cuda_runtime_api.h, crt/host_runtime.h */
struct dim3 {
	unsigned int x, y, z;
};
int cudaLaunchKernel(const void *func, struct dim3 grid, struct dim3 block, void **args,
		     size_t shared, void *stream);
int cudaGetFuncBySymbol(void **function, const void *symbol);
int cudaGraphLaunch(void *exec, void *stream);
void __cudaRegisterFunction(void **fat_binary, const char *host_function, char *device_function,
			    const char *device_name, int thread_limit, void *tid, void *bid,
			    void *block, void *grid, int *warp_size);

/* cuda.h */
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLibraryGetKernel(void **kernel, void *library, const char *name);
int cuLaunchKernel(void *function, unsigned int gx, unsigned int gy, unsigned int gz,
		   unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
		   void *stream, void **params, void **extra);

int cuInit(unsigned int flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int size, int device);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream);
int cuGraphLaunch(void *exec, void *stream);
int cuStreamSynchronize(void *stream);

/* aclnnop/aclnn_add.h, aclnn_flash_attention_score.h, acl/acl_rt.h, acl/acl_op.h, hccl/hccl.h */
int aclnnAddGetWorkspaceSize(const void *self, const void *other, const void *alpha, void *out,
			     uint64_t *workspace_size, void **executor);
int aclnnAdd(void *workspace, uint64_t workspace_size, void *executor, void *stream);
int aclnnFlashAttentionScoreGetWorkspaceSize(
	const void *query, const void *key, const void *value, const void *real_shift,
	const void *drop_mask, const void *padding_mask, const void *atten_mask, const void *prefix,
	double scale, double keep_prob, int64_t pre_tokens, int64_t next_tokens, int64_t head_num,
	char *layout, int64_t inner_precise, int64_t sparse_mode, const void *softmax_max,
	const void *softmax_sum, const void *softmax_out, const void *attention_out,
	uint64_t *workspace_size, void **executor);
int aclnnFlashAttentionScore(void *workspace, uint64_t workspace_size, void *executor,
			     const void *stream);
int aclrtBinaryGetFunction(const void *binary, const char *name, void **function);
int aclrtLaunchKernel(void *function, uint32_t blocks, const void *args, size_t args_size,
		      void *stream);
int rtKernelLaunch(const void *stub, uint32_t blocks, void *args, uint32_t args_size, void *sm,
		   void *stream);
int aclopExecuteV2(const char *type, int inputs, void *input_desc[], void *input[], int outputs,
		   void *output_desc[], void *output[], void *attr, void *stream);
int HcclAllReduce(void *send, void *recv, uint64_t count, int type, int op, void *comm,
		  void *stream);

/* acl/acl_rt.h, runtime/rts/rts_mem.h */
int aclrtMalloc(void **address, size_t bytes, int policy);
int aclrtFree(void *address);
int aclrtMallocHost(void **address, size_t bytes);
int aclrtFreeHost(void *address);
int aclrtMemcpyAsync(void *to, size_t room, const void *from, size_t bytes, int kind, void *stream);
int aclrtMemsetAsync(void *address, size_t room, int32_t value, size_t bytes, void *stream);
int rtMalloc(void **address, uint64_t bytes, uint32_t kind, uint16_t module);
int rtFree(void *address);

#endif /* PROFBPF_TRUTH_RUNTIMES_H */
