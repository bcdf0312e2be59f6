/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_apis.c - selects the API calls that CUPTI records: calls that may cause work on a device or
 * wait for it. Recording all calls would slow down a job that queries errors after each call.
 *
 * Calls are selected by name, so functions of later CUDA versions are included.
 */
#include "device/cupti.h"

#include <string.h>

#define LATER 256 /* ids that CUDA versions after the headers' may have added */

static const char *const wanted[] = {
	"Launch", "Memcpy", "Memset", "Prefetch", "Synchronize", "WaitEvent",
};

/* Parts of names of functions that do no work on a device, such as those for parameters of graph nodes. */
static const char *const unwanted[] = { "Node", "Attr", "Params", "Config", "Get" };

static bool has(const char *name, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}

static bool is_wanted(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	const char *name = NULL;

	return cupti_library.GetCallbackName(domain, id, &name) == CUPTI_SUCCESS && name &&
	       has(name, wanted, sizeof(wanted) / sizeof(*wanted)) &&
	       !has(name, unwanted, sizeof(unwanted) / sizeof(*unwanted));
}

/* Returns the number of functions recorded from now on. */
static unsigned int record(CUpti_CallbackDomain domain, CUpti_CallbackId ids,
			   CUptiResult(CUPTIAPI *enable_one)(CUpti_CallbackId, uint8_t),
			   bool enable)
{
	unsigned int count = 0;

	for (CUpti_CallbackId id = 1; enable_one && id < ids + LATER; id++)
		if (is_wanted(domain, id))
			count += enable_one(id, enable) == CUPTI_SUCCESS;
	return count;
}

static unsigned int record_kind(CUpti_ActivityKind kind, bool enable)
{
	return (enable ? cupti_library.ActivityEnable(kind)
		       : cupti_library.ActivityDisable(kind)) == CUPTI_SUCCESS;
}

bool cupti_apis_record(bool enable)
{
	unsigned int runtime = record(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE,
				      cupti_library.ActivityEnableRuntimeApi, enable);
	unsigned int driver = record(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_SIZE,
				     cupti_library.ActivityEnableDriverApi, enable);

	/* Before CUDA 11.8, CUPTI records either all functions or none. */
	if (!runtime)
		runtime = record_kind(CUPTI_ACTIVITY_KIND_RUNTIME, enable);
	if (!driver)
		driver = record_kind(CUPTI_ACTIVITY_KIND_DRIVER, enable);
	return runtime || driver;
}
