/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti.h - inside of the CUPTI shim (libprofbpf-cupti.so), which the CUDA driver
 * loads into a program when CUDA_INJECTION64_PATH names it.
 *
 *   cupti.c          InitializeInjection(), what is done while somebody listens
 *   cupti_library.c  finds libcupti and the functions used of it
 *   cupti_apis.c     which API calls are recorded
 *   cupti_records.c  CUPTI's buffers: activity records become tasks of the stream
 *   cupti_device.c   devices, their names and clock
 *
 * CUPTI is loaded when somebody listens for the first time, and records only while
 * somebody does. CUPTI tells of a kernel or a copy on the device in one record, and
 * of the API call that caused it in another one with the same correlation id; the
 * latter says which thread called and when.
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
 * Records of CUDA 11.0 and later begin alike; before, the fields read here are elsewhere.
 * CUPTI_API_VERSION, see cupti_version.h.
 */
#define CUPTI_VERSION_MIN 13

/* Functions that every CUPTI has that this works with, then those that may be missing (NULL). */
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

/* There is one: CUPTI's callbacks have no place to pass it. Valid once cupti_library_load() succeeded. */
extern struct cupti_library cupti_library;
extern struct stream_writer *cupti_writer;

#define cupti_say(format, ...) listener_say("CUPTI: " format, ##__VA_ARGS__)

/*
 * Looks for libcupti: the one that the program has loaded, the file that
 * PROFBPF_CUPTI names, then the newest that the driver (of CUDA version
 * driver_version, 12090 for 12.9; 0: unknown) can do, beside the CUDA runtime
 * library in use and where the dynamic loader looks. False, after
 * cupti_say(), if there is none, it is too old, or another tool uses it.
 */
bool cupti_library_load(int driver_version);

/*
 * Begins (true) or ends the recording of the API calls that cause work on a
 * device or wait for it. False if CUPTI refuses all of them.
 */
bool cupti_apis_record(bool enable);

/*
 * Asks the CUDA driver for its devices. False while it has not been initialised:
 * try again later. driver_version as above. Once only.
 */
bool cupti_devices_ask(int *driver_version);

/*
 * Settles CUPTI's clock: CLOCK_MONOTONIC if CUPTI can be told so, else what it is found to be.
 * Before any recording; sets the thread ids of records, too: false if they stay pthread_t's.
 */
bool cupti_clock_settle(void);

/* To be called now and then while recording, from one thread: compares CUPTI's clock with ours. */
void cupti_clock_compare(void);

/* An instant of CUPTI's clock in CLOCK_MONOTONIC, 0 if nobody knows. */
uint64_t cupti_clock_to_monotonic(uint64_t cupti_ns);

/* Index in the stream of a CUDA device by its number, -1 if there's no room. Not locked. */
int cupti_device_index(uint32_t number);

/* The callbacks for cuptiActivityRegisterCallbacks(). */
void CUPTIAPI cupti_buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records);
void CUPTIAPI cupti_buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer,
				     size_t size, size_t valid);

/* Are thread ids in records those of the kernel? Before any recording. */
void cupti_records_threads(bool system_ids);

#endif /* PROFBPF_DEVICE_CUPTI_H */
