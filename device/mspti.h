/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mspti.h - the parts of CANN's libmspti.so that the MSPTI shim uses, as its documentation defines them
 * (MindStudio "MSPTI C API", 2026): no package has its headers.
 *
 * Times are nanoseconds of CLOCK_REALTIME. Records are packed, and aligned to 8 bytes.
 */
#ifndef PROFBPF_DEVICE_MSPTI_H
#define PROFBPF_DEVICE_MSPTI_H

#include <stddef.h>
#include <stdint.h>

#define MSPTI_RECORD __attribute__((packed, aligned(8)))

/* msptiActivityKind */
enum mspti_kind {
	MSPTI_KERNEL = 2,
	MSPTI_API = 3,
	MSPTI_MEMSET = 6,
	MSPTI_MEMCPY = 7,
	MSPTI_COMMUNICATION = 9,
};

/* msptiActivityMemcpyKind */
enum mspti_copy_kind {
	MSPTI_HTOH = 1,
	MSPTI_HTOD = 2,
	MSPTI_DTOH = 3,
	MSPTI_DTOD = 4,
};

/* mspti_copy_name - returns static text, without a direction if it is not known (0, or 5: chosen by the runtime) */
static inline const char *mspti_copy_name(int32_t kind)
{
	switch (kind) {
	case MSPTI_HTOH: return "Memcpy HtoH";
	case MSPTI_HTOD: return "Memcpy HtoD";
	case MSPTI_DTOH: return "Memcpy DtoH";
	case MSPTI_DTOD: return "Memcpy DtoD";
	default: return "Memcpy";
	}
}

/* msptiResult; 0 is success */
#define MSPTI_MULTIPLE_SUBSCRIBERS 2
#define MSPTI_MAX_LIMIT_REACHED 3
#define MSPTI_WITHOUT_LD_PRELOAD 6

struct mspti_record {
	int32_t kind;
} MSPTI_RECORD;

struct mspti_api {
	int32_t kind;
	uint64_t start, end;
	uint32_t process, thread;
	uint64_t correlation; /* 0 = none */
	const char *name;
} MSPTI_RECORD;

struct mspti_kernel {
	int32_t kind;
	uint64_t start, end;
	uint32_t device, stream;
	uint64_t correlation;
	const char *type, *name;
} MSPTI_RECORD;

struct mspti_memset {
	int32_t kind;
	uint32_t value;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, stream;
	uint64_t correlation;
	uint8_t is_async;
} MSPTI_RECORD;

struct mspti_memcpy {
	int32_t kind, copy_kind;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, stream;
	uint64_t correlation;
	uint8_t is_async;
} MSPTI_RECORD;

struct mspti_communication {
	int32_t kind, data_type;
	uint64_t count; /* elements */
	uint32_t device, stream;
	uint64_t start, end;
	const char *algorithm, *name, *communicator;
	uint64_t correlation;
} MSPTI_RECORD;

typedef void (*mspti_request)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*mspti_complete)(uint8_t *buffer, size_t size, size_t valid);
typedef void (*mspti_callback)(void *data, int domain, uint32_t id, const void *info);

int msptiSubscribe(void **subscriber, mspti_callback callback, void *data);
int msptiUnsubscribe(void *subscriber);
int msptiActivityRegisterCallbacks(mspti_request request, mspti_complete complete);
int msptiActivityEnable(int kind);
int msptiActivityDisable(int kind);
int msptiActivityFlushAll(uint32_t flag);
int msptiActivityGetNextRecord(uint8_t *buffer, size_t valid, struct mspti_record **record);

#endif /* PROFBPF_DEVICE_MSPTI_H */
