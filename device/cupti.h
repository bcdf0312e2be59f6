/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti.h - internals of the CUPTI shim (libprofbpf-cupti.so), which the CUDA driver
 * loads into a program when CUDA_INJECTION64_PATH names it.
 *
 *   cupti.c          InitializeInjection(), the work while a reader listens
 *   cupti_library.c  finds libcupti and its functions
 *   cupti_apis.c     selects the API calls to record
 *   cupti_records.c  CUPTI's buffers: activity records become tasks of the stream
 *   cupti_device.c   devices, their names and clock
 *
 * CUPTI is loaded for the first reader, and records only while a reader listens. CUPTI
 * reports a kernel or a copy on the device in one record, and the API call that caused
 * it in another with the same correlation id; the latter has the calling thread and
 * the time of the call.
 *
 * Sources: cupti_activity.h, cupti_callbacks.h and cupti_version.h of CUDA 12.9 and 13.5.
 */
#ifndef PROFBPF_DEVICE_CUPTI_H
#define PROFBPF_DEVICE_CUPTI_H

#include <cupti.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/listener.h"
#include "device/stream_writer.h"

#define CUPTI_SOURCE "cupti"

/*
 * Records of CUDA 11.0 and later begin with the same fields; before, their offsets differ.
 * CUPTI_API_VERSION, see cupti_version.h.
 */
#define CUPTI_VERSION_MIN 13

/* Functions that every supported CUPTI has, then functions that may be missing (NULL). */
#define CUPTI_NEEDED(X)                 \
	X(GetVersion)                   \
	X(ActivityRegisterCallbacks)    \
	X(ActivityEnable)               \
	X(ActivityDisable)              \
	X(ActivityFlushAll)             \
	X(ActivityGetNextRecord)        \
	X(ActivityGetNumDroppedRecords) \
	X(GetTimestamp)                 \
	X(GetCallbackName)              \
	X(Subscribe)                    \
	X(Unsubscribe)
#define CUPTI_OPTIONAL(X)                    \
	X(SetThreadIdType)                   \
	X(ActivityRegisterTimestampCallback) \
	X(ActivityEnableRuntimeApi)          \
	X(ActivityEnableDriverApi)

struct cupti_library {
#define CUPTI_MEMBER(name) __typeof__(&cupti##name) name;
	CUPTI_NEEDED(CUPTI_MEMBER)
	CUPTI_OPTIONAL(CUPTI_MEMBER)
#undef CUPTI_MEMBER
};

/* Global, because CUPTI's callbacks have no parameter for it. Valid once cupti_library_load() succeeded. */
extern struct cupti_library cupti_library;
extern struct stream_writer *cupti_writer;

#define cupti_say(format, ...) listener_say("CUPTI: " format, ##__VA_ARGS__)

/*
 * Looks for libcupti: the copy that the program has loaded, the file that
 * PROFBPF_CUPTI names, then the newest that the driver (of CUDA version
 * driver_version, 12090 for 12.9; 0: unknown) supports, beside the CUDA runtime
 * library in use and in the dynamic loader's paths. Returns false, after
 * cupti_say(), if there is none, it is too old, or another tool uses it.
 */
bool cupti_library_load(int driver_version);

/*
 * Begins (true) or ends the recording of the API calls that cause work on a
 * device or wait for it. Returns false if CUPTI refuses all of them.
 */
bool cupti_apis_record(bool enable);

/*
 * Queries the devices of the CUDA driver. Returns false while the driver is not
 * initialised: the caller tries again later. driver_version as above. Succeeds once only.
 */
bool cupti_devices_ask(int *driver_version);

/*
 * Sets CUPTI's clock to CLOCK_MONOTONIC if CUPTI allows it, else finds out the clock that it uses.
 * Called before any recording; also makes records have the kernel's thread ids. Returns false if they
 * stay pthread_t values.
 */
bool cupti_clock_settle(void);

/* Compares CUPTI's clock with CLOCK_MONOTONIC. Called from one thread at intervals while recording. */
void cupti_clock_compare(void);

/* Converts an instant of CUPTI's clock to CLOCK_MONOTONIC; returns 0 if that is not possible. */
uint64_t cupti_clock_to_monotonic(uint64_t cupti_ns);

/* Returns the index in the stream of a CUDA device; -1 if the table is full. The caller does the locking. */
int cupti_device_index(uint32_t number);

/* The callbacks for cuptiActivityRegisterCallbacks(). */
void CUPTIAPI cupti_buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records);
void CUPTIAPI cupti_buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer,
				     size_t size, size_t valid);

/* Sets whether thread ids in records are the kernel's. Called before any recording. */
void cupti_records_threads(bool system_ids);

#endif /* PROFBPF_DEVICE_CUPTI_H */
