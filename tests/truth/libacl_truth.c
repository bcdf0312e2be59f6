/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libacl_truth.c - a test double of CANN: operators of two phases launch through aclrtLaunchKernel,
 * which calls rtKernelLaunch; a collective also launches and copies; memory comes from rtMalloc.
 */
#include "tests/truth/runtimes.h"

EXPORT int rtKernelLaunch(const void *stub, uint32_t blocks, void *args, uint32_t args_size,
			  void *sm, void *stream)
{
	DISTINCT();
	return 0;
}

EXPORT int aclrtBinaryGetFunction(const void *binary, const char *name, void **function)
{
	DISTINCT();
	*function = (void *)0x4000;
	return 0;
}

EXPORT int aclrtLaunchKernel(void *function, uint32_t blocks, const void *args, size_t args_size,
			     void *stream)
{
	DISTINCT();
	return rtKernelLaunch(function, blocks, (void *)args, (uint32_t)args_size, NULL, stream);
}

/* Each operator has a pool of one executor; the real executors come from pools, too. */
EXPORT int aclnnAddGetWorkspaceSize(const void *self, const void *other, const void *alpha,
				    void *out, uint64_t *workspace_size, void **executor)
{
	static int pool;

	DISTINCT();
	*workspace_size = 4096;
	*executor = &pool;
	return 0;
}

EXPORT int aclnnAdd(void *workspace, uint64_t workspace_size, void *executor, void *stream)
{
	DISTINCT();
	return aclrtLaunchKernel((void *)0x5000, 8, workspace, workspace_size, stream);
}

EXPORT int aclnnFlashAttentionScoreGetWorkspaceSize(
	const void *query, const void *key, const void *value, const void *real_shift,
	const void *drop_mask, const void *padding_mask, const void *atten_mask, const void *prefix,
	double scale, double keep_prob, int64_t pre_tokens, int64_t next_tokens, int64_t head_num,
	char *layout, int64_t inner_precise, int64_t sparse_mode, const void *softmax_max,
	const void *softmax_sum, const void *softmax_out, const void *attention_out,
	uint64_t *workspace_size, void **executor)
{
	static int pool;

	DISTINCT();
	*workspace_size = 8192;
	*executor = &pool;
	return 0;
}

EXPORT int aclnnFlashAttentionScore(void *workspace, uint64_t workspace_size, void *executor,
				    const void *stream)
{
	DISTINCT();
	return aclrtLaunchKernel((void *)0x5008, 8, workspace, workspace_size, (void *)stream);
}

EXPORT int aclopExecuteV2(const char *type, int inputs, void *input_desc[], void *input[],
			  int outputs, void *output_desc[], void *output[], void *attr,
			  void *stream)
{
	DISTINCT();
	return 0;
}

EXPORT int HcclAllReduce(void *send, void *recv, uint64_t count, int type, int op, void *comm,
			 void *stream)
{
	DISTINCT();
	rtKernelLaunch((void *)0x6000, 1, NULL, 0, NULL, stream);
	rtKernelLaunch((void *)0x6000, 1, NULL, 0, NULL, stream);
	return 0;
}

/* Returns consecutive addresses without memory behind them. */
EXPORT int rtMalloc(void **address, uint64_t bytes, uint32_t kind, uint16_t module)
{
	static uint64_t next = 0x7f0000000000;

	DISTINCT();
	if (!bytes || bytes > 1ull << 40)
		return 507899;
	*address = (void *)next;
	next += (bytes + 4095) & ~4095ull;
	return 0;
}

EXPORT int rtFree(void *address)
{
	DISTINCT();
	return 0;
}

EXPORT int aclrtMalloc(void **address, size_t bytes, int policy)
{
	DISTINCT();
	return rtMalloc(address, bytes, (uint32_t)policy, 0);
}

EXPORT int aclrtFree(void *address)
{
	DISTINCT();
	return rtFree(address);
}

EXPORT int aclrtMallocHost(void **address, size_t bytes)
{
	DISTINCT();
	*address = (void *)(0x550000000000 + bytes);
	return 0;
}

EXPORT int aclrtFreeHost(void *address)
{
	DISTINCT();
	return 0;
}

EXPORT int aclrtMemcpyAsync(void *to, size_t room, const void *from, size_t bytes, int kind,
			    void *stream)
{
	return 0;
}

EXPORT int aclrtMemsetAsync(void *address, size_t room, int32_t value, size_t bytes, void *stream)
{
	return 0;
}
