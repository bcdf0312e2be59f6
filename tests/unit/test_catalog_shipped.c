/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogs that are part of profbpf; run from the top of the source tree. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/catalog/catalog.h"
#include "tests/unit/catalog_slot.h"

static const struct catalog_function *shipped(const struct catalogs *catalogs, const char *symbol)
{
	const struct catalog_function *function = catalog_match(catalogs, symbol, strlen(symbol));

	if (!function)
		fail_msg("%s is in no catalog", symbol);
	return function;
}

static struct catalogs *load_shipped(void)
{
	struct catalogs *catalogs = catalogs_new();
	char *error = NULL;

	if (catalogs_add_directory(catalogs, "catalog", &error))
		fail_msg("%s", error);
	return catalogs;
}

static void shipped_catalogs(void **state)
{
	struct catalogs *catalogs = load_shipped();
	const struct catalog_function *f;

	assert_true(catalogs_count(catalogs) >= 15);
	for (size_t i = 0; i < catalogs_count(catalogs); i++)
		assert_true(catalogs_get(catalogs, i)->function_count > 0 ||
			    catalogs_get(catalogs, i)->driver_count > 0);

	f = shipped(catalogs, "clEnqueueNDRangeKernel");
	assert_string_equal(f->catalog->family, "opencl");
	assert_int_equal(f->kind, PROFBPF__FUNCTION__KIND__LAUNCH);
	expect_slot(f, 0, PROFBPF__FUNCTION__ROLE__STREAM, 1, 8, -1);
	expect_slot(f, 1, PROFBPF__FUNCTION__ROLE__HANDLE, 2, 8, -1);
	expect_slot(f, 2, PROFBPF__FUNCTION__ROLE__OUT_HANDLE, 9, 8, -1);
	f = shipped(catalogs, "clCreateKernel");
	assert_int_equal(f->string_position, 2);
	assert_int_equal(f->error, PROFBPF__FUNCTION__ERROR__NULL_);

	f = shipped(catalogs, "cudaLaunchKernel");
	assert_int_equal(f->layer, 2);
	expect_slot(f, 1, PROFBPF__FUNCTION__ROLE__STREAM, 8, 8, -1);
	assert_int_equal(shipped(catalogs, "__cudaLaunchKernel")->layer, 1);
	f = shipped(catalogs, "cudaLaunchKernelExC");
	expect_slot(f, 1, PROFBPF__FUNCTION__ROLE__STREAM, 1, 8, 32);

	f = shipped(catalogs, "aclnnMatmul");
	assert_int_equal(f->kind, PROFBPF__FUNCTION__KIND__LAUNCH);
	expect_slot(f, 0, PROFBPF__FUNCTION__ROLE__STREAM, 4, 8, -1);
	f = shipped(catalogs, "aclnnMatmulGetWorkspaceSize");
	assert_int_equal(f->kind, PROFBPF__FUNCTION__KIND__COMPILE);
	expect_slot(f, 2, PROFBPF__FUNCTION__ROLE__CORRELATION, 6, 8, -1);
	f = shipped(catalogs, "aclnnFlashAttentionScoreGetWorkspaceSize");
	expect_slot(f, 2, PROFBPF__FUNCTION__ROLE__CORRELATION, 20, 8, -1);
	assert_null(catalog_match(catalogs, "aclnnInit", strlen("aclnnInit")));
	assert_null(catalog_match(catalogs, "aclrtMallocImpl", strlen("aclrtMallocImpl")));
	f = shipped(catalogs, "aclrtMemcpyAsync");
	assert_int_equal(f->layer, 2);
	expect_slot(f, 0, PROFBPF__FUNCTION__ROLE__STREAM, 6, 8, -1);
	expect_slot(f, 1, PROFBPF__FUNCTION__ROLE__BYTES, 4, 8, -1);
	expect_slot(f, 2, PROFBPF__FUNCTION__ROLE__COPY_KIND, 5, 4, -1);
	catalogs_free(catalogs);
}

/* Facts from the prototypes, by function: { symbol, family, kind, layer, role, position }. */
static const struct {
	const char *symbol, *family;
	Profbpf__Function__Kind kind;
	unsigned int layer;
	Profbpf__Function__Role role;
	int position, width, deref;
} known[] = {
#define K(kind) PROFBPF__FUNCTION__KIND__##kind
#define R(role) PROFBPF__FUNCTION__ROLE__##role
	{ "rtKernelLaunch", "acl", K(LAUNCH), 3, R(STREAM), 6, 8, -1 },
	{ "rtKernelLaunchWithFlagV2", "acl", K(LAUNCH), 3, R(STREAM), 5, 8, -1 },
	{ "rtLaunchKernelByFuncHandleV3", "acl", K(LAUNCH), 3, R(COUNT), 2, 4, -1 },
	{ "rtMemcpyAsync", "acl", K(COPY), 3, R(BYTES), 4, 8, -1 },
	{ "rtsMemcpyAsync", "acl", K(COPY), 3, R(STREAM), 7, 8, -1 },
	{ "rtStreamWaitEvent", "acl", K(EVENT), 3, R(HANDLE), 2, 8, -1 },
	{ "rtsMalloc", "acl", K(ALLOC), 3, R(OUT_HANDLE), 1, 8, -1 },
	{ "halSqTaskSend", "acl", K(LAUNCH), 4, R(COUNT), 2, 4, 24 },
	{ "halSqTaskSend", "acl", K(LAUNCH), 4, R(TASK), 2, 4, 16 },
	{ "halMemcpy", "acl", K(COPY), 4, R(BYTES), 4, 8, -1 },
	{ "prof_channel_read", "acl", K(OTHER), 4, R(BYTES), 4, 4, -1 },
	{ "HcclAllReduce", "acl", K(COLLECTIVE), 1, R(STREAM), 7, 8, -1 },
	{ "HcclAlltoAllV", "acl", K(COLLECTIVE), 1, R(STREAM), 10, 8, -1 },
	{ "acldvppResize", "acl", K(LAUNCH), 1, R(STREAM), 4, 8, -1 },
	{ "aclrtMemcpyBatchAsync", "acl", K(COPY), 2, R(STREAM), 10, 8, -1 },
	{ "mstxMarkA", "mstx", K(MARKER), 1, R(STREAM), 2, 8, -1 },
	{ "cuLaunchKernel", "cuda", K(LAUNCH), 3, R(STREAM), 9, 8, -1 },
	{ "cuLaunchKernelEx_ptsz", "cuda", K(LAUNCH), 3, R(STREAM), 1, 8, 32 },
	{ "cuMemcpyHtoDAsync_v2", "cuda", K(COPY), 3, R(BYTES), 3, 8, -1 },
	{ "cuMemcpyBatchAsync", "cuda", K(COPY), 3, R(STREAM), 9, 8, -1 },
	{ "cuMemcpyBatchAsync_v2", "cuda", K(COPY), 3, R(STREAM), 8, 8, -1 },
	{ "cuMemPrefetchAsync", "cuda", K(COPY), 3, R(STREAM), 4, 8, -1 },
	{ "cuMemPrefetchAsync_v2", "cuda", K(COPY), 3, R(STREAM), 5, 8, -1 },
	{ "cudaMemcpy2DFromArrayAsync", "cuda", K(COPY), 1, R(STREAM), 9, 8, -1 },
	{ "ncclReduce", "cuda", K(COLLECTIVE), 1, R(STREAM), 8, 8, -1 },
	{ "ncclSend", "cuda", K(COLLECTIVE), 1, R(COUNT), 2, 8, -1 },
	{ "nvtxDomainMarkEx", "nvtx", K(MARKER), 1, R(HANDLE), 2, 8, 40 },
	{ "hipLaunchKernel", "hip", K(LAUNCH), 1, R(STREAM), 8, 8, -1 },
	{ "hipModuleLaunchKernel", "hip", K(LAUNCH), 1, R(STREAM), 9, 8, -1 },
	{ "hipMemcpyPeerAsync", "hip", K(COPY), 1, R(BYTES), 5, 8, -1 },
	{ "roctxRangeStop", "roctx", K(MARKER), 1, R(VALUE), 1, 8, -1 },
	{ "zeCommandListAppendMemoryFill", "level_zero", K(COPY), 1, R(BYTES), 5, 8, -1 },
	{ "zeMemAllocShared", "level_zero", K(ALLOC), 1, R(OUT_HANDLE), 7, 8, -1 },
	{ "vkQueueSubmit2", "vulkan", K(LAUNCH), 1, R(COUNT), 2, 4, -1 },
	{ "vkAllocateMemory", "vulkan", K(ALLOC), 1, R(BYTES), 2, 8, 16 },
#undef K
#undef R
};

static void shipped_positions(void **state)
{
	struct catalogs *catalogs = load_shipped();

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const struct catalog_function *f = shipped(catalogs, known[i].symbol);
		int slot = 0;

		while (slot < REC_ARGS && f->roles[slot] != known[i].role)
			slot++;
		if (slot == REC_ARGS)
			fail_msg("%s has no %s", known[i].symbol, catalog_role_name(known[i].role));
		assert_string_equal(f->catalog->family, known[i].family);
		assert_int_equal(f->kind, known[i].kind);
		assert_int_equal(f->layer, known[i].layer);
		expect_slot(f, slot, known[i].role, known[i].position, known[i].width,
			    known[i].deref);
	}
	/* Strings: the name of a kernel from its handle, of an operator, of a mark. */
	assert_int_equal(shipped(catalogs, "cuModuleGetFunction")->string_position, 3);
	assert_int_equal(shipped(catalogs, "hipModuleGetFunction")->string_position, 3);
	assert_int_equal(shipped(catalogs, "rtFunctionRegister")->string_position, 3);
	assert_int_equal(shipped(catalogs, "rtKernelLaunchFwk")->string_position, 1);
	assert_int_equal(shipped(catalogs, "mstxDomainRangeStartA")->string_position, 2);
	assert_int_equal(shipped(catalogs, "nvtxRangePushA")->string_position, 1);
	catalogs_free(catalogs);
}

/*
 * A symbol in two catalogs would depend on their order; a pattern that begins with * or with a few letters only would
 * match in libraries of any program.
 */
static void shipped_catalogs_keep_apart(void **state)
{
	struct catalogs *catalogs = load_shipped();

	for (size_t i = 0; i < catalogs_count(catalogs); i++) {
		const struct catalog *catalog = catalogs_get(catalogs, i);

		for (size_t j = 0; j < catalog->function_count; j++) {
			const struct catalog_function *f = &catalog->functions[j];

			if (f->exclude)
				continue;
			if (f->wildcard && strcspn(f->pattern, "*") < 5)
				fail_msg("%s: %s is too broad", catalog->name, f->pattern);
			if (!f->wildcard && catalog_match(catalogs, f->pattern, f->length) != f)
				fail_msg("%s: %s is in another catalog too", catalog->name,
					 f->pattern);
		}
	}
	catalogs_free(catalogs);
}

static bool has_role(const struct catalog_function *f, Profbpf__Function__Role role)
{
	for (int i = 0; i < REC_ARGS; i++)
		if (f->roles[i] == role)
			return true;
	return false;
}

/* Returns a reason in @f's line or name against marking it as plain; NULL = none. */
static const char *objection(const struct catalog_function *f)
{
	static const char *const files[] = { ".cc:", ".cpp:", ".h:" };
	bool mangled = !strncmp(f->pattern, "_Z", 2) || !strncmp(f->pattern, "_R", 2);
	bool async = strstr(f->pattern, "Async") || strstr(f->pattern, "clEnqueue");

	if (strstr(f->pattern, "Synchronize"))
		return "it synchronizes";
	if (has_role(f, PROFBPF__FUNCTION__ROLE__BLOCKING))
		return "it may block, by an argument";
	switch (f->kind) {
	case PROFBPF__FUNCTION__KIND__SYNC: return "it is of kind sync";
	case PROFBPF__FUNCTION__KIND__COLLECTIVE: return "it may wait for other devices";
	case PROFBPF__FUNCTION__KIND__COMPILE: return "it may take long and call back";
	case PROFBPF__FUNCTION__KIND__COPY:
	case PROFBPF__FUNCTION__KIND__ALLOC:
	case PROFBPF__FUNCTION__KIND__FREE:
		if (!async)
			return "nothing in its name says that it does not wait";
		break;
	default: break;
	}
	for (size_t i = 0; mangled && i < sizeof(files) / sizeof(*files); i++)
		if (strstr(f->plain, files[i]) && strchr(f->plain, '/'))
			return NULL;
	return mangled ? "its reason does not begin with the source that was read" : NULL;
}

/* Functions that may wait or throw are never vouched for, and each reason is used. */
static void shipped_reasons(void **state)
{
	struct catalogs *catalogs = load_shipped();

	for (size_t i = 0; i < catalogs_count(catalogs); i++) {
		const struct catalog *catalog = catalogs_get(catalogs, i);
		size_t plain = 0, used = 0;

		for (size_t j = 0; j < catalog->function_count; j++) {
			const struct catalog_function *f = &catalog->functions[j];

			plain += f->plain != NULL;
			if (f->plain && objection(f))
				fail_msg("%s:%u: %s is plain, but %s", catalog->name, f->line,
					 f->pattern, objection(f));
		}
		for (size_t v = 0; v < catalog->vouch_count; v++) {
			size_t before = used;

			for (size_t j = 0; j < catalog->function_count; j++)
				used += catalog->functions[j].plain == catalog->vouches[v].text;
			if (used == before)
				fail_msg("%s:%u: no function is plain by %s", catalog->name,
					 catalog->vouches[v].line, catalog->vouches[v].name);
		}
		assert_int_equal(used, plain);
	}
	catalogs_free(catalogs);
}

/* Decisions that an imprecise pattern must not change. */
static const struct {
	const char *symbol;
	bool plain;
} decisions[] = {
	{ "cudaLaunchKernel", true },
	{ "__cudaLaunchKernel_ptsz", true },
	{ "cudaMemcpyAsync", true },
	{ "cudaEventRecord", true },
	{ "cudaMemcpy", false },
	{ "cudaFree", false },
	{ "cudaMalloc", false },
	{ "cuLaunchKernel", true },
	{ "cuMemcpyHtoD_v2", false },
	{ "cuCtxSynchronize", false },
	{ "hipLaunchKernel", true },
	{ "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_t", true },
	{ "hipEventElapsedTime", false }, /* it waits for an event */
	{ "clEnqueueNDRangeKernel", true },
	{ "clEnqueueReadBuffer", false },
	{ "clEnqueueNativeKernel", false },
	{ "clSetEventCallback", false },
	{ "clSetUserEventStatus", false },
	{ "clBuildProgram", false },
	{ "clReleaseMemObject", false },
	{ "aclrtLaunchKernel", true },
	{ "aclrtProcessReport", false },
	{ "aclmdlExecute", false },
	{ "aclnnMatmul", false },
	{ "rtKernelLaunch", true },
	{ "halSqTaskSend", true },
	{ "halCqReportRecv", false },
	{ "HcclAllReduce", false },
	{ "ncclAllReduce", false },
	{ "ncclGroupEnd", false },
	{ "zeCommandListAppendLaunchKernel", false }, /* waits if its list is synchronous */
	{ "vkQueueSubmit", false },
	{ "nvtxRangePushA", true },
	{ "msptiActivityFlushAll", false },
	{ "_ZN5torch8autograd6Engine7executeERKSt6vector", false },
	{ "_ZN2at12MapAllocatorC1ENS_6WithFdE", false },
	{ "_ZN5torch8autograd8profiler25record_function_enter_newERKNSt", true },
	{ "_ZN10tensorflow4data16IteratorResource7GetNextEPNS_15OpKernelContextE", true },
	{ "_ZN9mindspore7dataset7BatchOp10GetNextRowEPNS0_9TensorRowE", true },
	{ "_ZN9mindspore7dataset9DatasetOp10GetNextRowEPNS0_9TensorRowE", true },
	{ "_ZN9mindspore7dataset5QueueINS0_9TensorRowEE3AddEOS2_", true },
	{ "_ZN9mindspore7dataset5MapOp13WorkerComputeERKNS0_9TensorRowE", false },
	{ "_ZN9mindspore7dataset8PyFuncOp7ComputeERKNS0_9TensorRowEPS2_", false },
	{ "_ZN9mindspore7dataset7BatchOp14MakeBatchedRowESt4pair", false },
	{ "_ZN9mindspore7dataset13ExecutionTree6LaunchEv", false },
	{ "_ZN9mindspore7dataset4TaskclEv", false },
	{ "_ZN9mindspore7runtime14GraphScheduler3RunE", false },
	{ "_ZN9mindspore6kernel18NativeCpuKernelMod6LaunchE", false },
};

static void shipped_decisions(void **state)
{
	struct catalogs *catalogs = load_shipped();

	for (size_t i = 0; i < sizeof(decisions) / sizeof(*decisions); i++) {
		const struct catalog_function *f = shipped(catalogs, decisions[i].symbol);

		if ((f->plain != NULL) != decisions[i].plain)
			fail_msg("%s is%s plain", decisions[i].symbol, f->plain ? "" : " not");
	}
	catalogs_free(catalogs);
}

/* A misspelt symbol would never be found, without any message. */
static void expect_symbols(const char *runtime, const char *soname)
{
	void *library = dlopen(soname, RTLD_LAZY | RTLD_LOCAL);
	struct catalogs *catalogs = load_shipped();
	const struct catalog *catalog = NULL;

	if (!library) {
		catalogs_free(catalogs);
		skip();
	}
	for (size_t i = 0; i < catalogs_count(catalogs); i++) {
		if (strcmp(catalogs_get(catalogs, i)->runtime, runtime) == 0)
			catalog = catalogs_get(catalogs, i);
	}
	assert_non_null(catalog);
	for (size_t i = 0; i < catalog->function_count; i++) {
		if (!dlsym(library, catalog->functions[i].pattern))
			fail_msg("%s has no %s", soname, catalog->functions[i].pattern);
	}
	catalogs_free(catalogs);
	dlclose(library);
}

static void opencl_symbols_exist(void **state)
{
	expect_symbols("opencl", "libOpenCL.so.1");
}

static void vulkan_symbols_exist(void **state)
{
	expect_symbols("vulkan", "libvulkan.so.1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shipped_catalogs),
		cmocka_unit_test(shipped_positions),
		cmocka_unit_test(shipped_catalogs_keep_apart),
		cmocka_unit_test(shipped_reasons),
		cmocka_unit_test(shipped_decisions),
		cmocka_unit_test(opencl_symbols_exist),
		cmocka_unit_test(vulkan_symbols_exist),
	};

	return cmocka_run_group_tests_name("shipped catalogs", tests, NULL, NULL);
}
