/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_library.c - finds the libcupti that fits the program.
 *
 * Two copies of CUPTI in one process conflict, so the program's own copy (PyTorch is
 * linked to it) is used first. CUPTI must not be newer than the driver.
 */
#include "device/cupti.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cupti_library cupti_library;

static const struct {
	const char *name;
	int major; /* of CUDA */
} names[] = {
	{ "libcupti.so.13", 13 },
	{ "libcupti.so.12", 12 },
	{ "libcupti.so.11.8", 11 },
	{ "libcupti.so", 0 },
};

/* Folders of libcupti, relative to the folder of the CUDA runtime library. */
static const char *const beside[] = {
	"", /* packages of CUDA 13 */
	"../../cuda_cupti/lib/", /* packages of CUDA 11 and 12 */
	"../extras/CUPTI/lib64/", /* the toolkit */
	"../../../extras/CUPTI/lib64/", /* the toolkit's targets/x86_64-linux/lib */
};

#define NAMES (sizeof(names) / sizeof(*names))
#define BESIDE (sizeof(beside) / sizeof(*beside))

static int find_runtime(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	char *folder = data;

	if (!slash || strncmp(slash + 1, "libcudart.so", strlen("libcudart.so")) != 0 ||
	    (size_t)(slash - info->dlpi_name) >= PATH_MAX - 1)
		return 0;
	memcpy(folder, info->dlpi_name, (size_t)(slash - info->dlpi_name) + 1);
	return 1;
}

static void *open_beside(const char *folder, const char *name)
{
	char path[PATH_MAX + 128];
	void *handle = NULL;

	for (size_t i = 0; i < BESIDE && !handle; i++) {
		snprintf(path, sizeof(path), "%s%s%s", folder, beside[i], name);
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return handle;
}

static void *open_best(int driver_version)
{
	char folder[PATH_MAX] = "";
	void *handle = NULL;

	dl_iterate_phdr(find_runtime, folder);
	for (size_t i = 0; i < NAMES && !handle; i++) {
		if (driver_version && names[i].major > driver_version / 1000)
			continue;
		if (folder[0])
			handle = open_beside(folder, names[i].name);
		if (!handle)
			handle = dlopen(names[i].name, RTLD_NOW | RTLD_LOCAL);
	}
	if (!handle)
		handle = dlopen("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", RTLD_NOW);
	return handle;
}

/* *@handle may be NULL on success, too: RTLD_DEFAULT is NULL, the handle for the program's own libraries. */
static bool open_library(int driver_version, void **handle)
{
	const char *given = getenv("PROFBPF_CUPTI");

	*handle = RTLD_DEFAULT;
	if (dlsym(RTLD_DEFAULT, "cuptiActivityEnable"))
		return true;
	for (size_t i = 0; i < NAMES && !*handle; i++)
		*handle = dlopen(names[i].name, RTLD_NOW | RTLD_NOLOAD);
	if (!*handle && given && *given)
		*handle = dlopen(given, RTLD_NOW | RTLD_LOCAL);
	else if (!*handle)
		*handle = open_best(driver_version);
	if (!*handle)
		cupti_say(
			"no device times: cannot load libcupti: %s; set PROFBPF_CUPTI to its path",
			dlerror());
	return *handle;
}

static bool resolve(void *handle)
{
	const char *missing = NULL;

#define CUPTI_RESOLVE(name)  \
	cupti_library.name = \
		(__typeof__(cupti_library.name))(uintptr_t)dlsym(handle, "cupti" #name);
#define CUPTI_RESOLVE_NEEDED(name) \
	CUPTI_RESOLVE(name)        \
	if (!cupti_library.name)   \
		missing = "cupti" #name;
	CUPTI_NEEDED(CUPTI_RESOLVE_NEEDED)
	CUPTI_OPTIONAL(CUPTI_RESOLVE)
	if (missing)
		cupti_say("no device times: libcupti has no %s", missing);
	return !missing;
}

static void CUPTIAPI nothing(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			     const CUpti_CallbackData *info)
{
}

/* CUPTI has one client at a time: with two, a profiler in the program would lose its records to this shim. */
static bool is_free(void)
{
	CUpti_SubscriberHandle subscriber;
	CUptiResult result =
		cupti_library.Subscribe(&subscriber, (CUpti_CallbackFunc)nothing, NULL);

	if (result == CUPTI_SUCCESS)
		cupti_library.Unsubscribe(subscriber);
	else
		cupti_say("no device times: CUPTI refuses the subscription, error %d%s", result,
			  result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
				  ? ": another profiler uses it in this process"
				  : "");
	return result == CUPTI_SUCCESS;
}

bool cupti_library_load(int driver_version)
{
	uint32_t version = 0;
	CUptiResult result;
	void *handle;

	if (!open_library(driver_version, &handle) || !resolve(handle))
		return false;
	result = cupti_library.GetVersion(&version);
	if (result != CUPTI_SUCCESS || version < CUPTI_VERSION_MIN) {
		cupti_say(
			"no device times: its version is %u (error %d); at least %d (CUDA 11.0) is needed",
			version, result, CUPTI_VERSION_MIN);
		return false;
	}
	return is_free();
}
