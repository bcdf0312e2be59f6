/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti.c - the shim's entry point for the CUDA driver, and its work while a reader listens.
 *
 * The program's own threads do no work for the shim except at exit: CUPTI must not be called
 * from within cuInit(), which calls InitializeInjection().
 */
#include "device/cupti.h"

#include <stdatomic.h>

#include "device/correlated.h"

#define EXPORT __attribute__((visibility("default")))

struct stream_writer *cupti_writer;

static int driver_version; /* of CUDA */
static bool loaded;

static const CUpti_ActivityKind kinds[] = {
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
	CUPTI_ACTIVITY_KIND_MEMCPY2,	       CUPTI_ACTIVITY_KIND_MEMSET,
	CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
};

static bool ready(void)
{
	return cupti_devices_ask(&driver_version);
}

static bool load(void)
{
	CUptiResult result;

	if (!cupti_library_load(driver_version))
		return false;
	result = cupti_library.ActivityRegisterCallbacks(cupti_buffer_requested,
							 cupti_buffer_completed);
	if (result != CUPTI_SUCCESS) {
		cupti_say("no device times: it does not accept buffers, error %d", result);
		return false;
	}
	cupti_records_threads(cupti_clock_settle());
	return true;
}

static bool begin(void)
{
	unsigned int enabled = 0;
	CUptiResult result = CUPTI_SUCCESS;

	loaded = loaded || load();
	if (!loaded)
		return false;
	cupti_clock_compare();
	/* Calls are recorded before tasks, so that each task has its call. */
	if (!cupti_apis_record(true))
		cupti_say("tasks cannot be joined to their calls: it does not record API calls");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		CUptiResult one = cupti_library.ActivityEnable(kinds[i]);

		enabled += one == CUPTI_SUCCESS;
		if (one != CUPTI_SUCCESS)
			result = one;
	}
	if (!enabled)
		cupti_say("no device times: it records nothing, error %d%s", result,
			  result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
				  ? ": the driver allows profiling by root only (NVreg_RestrictProfilingToAdminUsers)"
				  : "");
	return enabled > 0;
}

static void deliver(bool last)
{
	cupti_clock_compare();
	cupti_library.ActivityFlushAll(last ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
	correlated_settle(cupti_writer, last);
}

static void end(void)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		cupti_library.ActivityDisable(kinds[i]);
	cupti_apis_record(false);
	deliver(true);
}

static const struct listener listener = { "profbpf-cupti", ready, begin, deliver, end };

EXPORT int InitializeInjection(void);

/* Called by the driver within cuInit(). Returns 1 (success); the driver ignores the value. */
EXPORT int InitializeInjection(void)
{
	static atomic_flag once = ATOMIC_FLAG_INIT;

	if (atomic_flag_test_and_set(&once))
		return 1;
	cupti_writer = stream_writer_create(CUPTI_SOURCE, STREAM_WRITER_SLOTS);
	if (!cupti_writer)
		cupti_say("no device times: cannot create shared memory (check ulimit -f and free memory)");
	else if (listener_start(cupti_writer, &listener) != 0)
		cupti_say("no device times: cannot create a thread");
	return 1;
}
