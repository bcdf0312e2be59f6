/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_device.c - CUDA devices by number, and the clock of CUPTI's records.
 *
 * CUPTI itself converts the times of a GPU to a clock of the host. From CUDA 11.6 on it can use
 * CLOCK_MONOTONIC, as this shim does; before, it uses CLOCK_REALTIME, which judge() detects.
 */
#include "device/cupti.h"

#include <dlfcn.h>
#include <stdio.h>

#include "device/clock_judge.h"
#include "device/clock_pair.h"

#define NAME_LEN STREAM_NAME_LEN

static char device_names[STREAM_DEVICES][NAME_LEN]; /* "" = the driver reported no name */
static int indexes[STREAM_DEVICES]; /* in the stream, plus 1 */

static enum stream_clock stream_clock;

bool cupti_devices_ask(int *driver_version)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	CUresult (*get_version)(int *);
	CUresult (*get_count)(int *);
	CUresult (*get_device)(CUdevice *, int);
	CUresult (*get_name)(char *, int, CUdevice);
	CUdevice device;
	int count = 0;

	get_version = (__typeof__(get_version))(uintptr_t)dlsym(driver, "cuDriverGetVersion");
	get_count = (__typeof__(get_count))(uintptr_t)dlsym(driver, "cuDeviceGetCount");
	get_device = (__typeof__(get_device))(uintptr_t)dlsym(driver, "cuDeviceGet");
	get_name = (__typeof__(get_name))(uintptr_t)dlsym(driver, "cuDeviceGetName");
	if (get_count && get_count(&count) == CUDA_ERROR_NOT_INITIALIZED)
		return false;
	if (!get_version || get_version(driver_version) != CUDA_SUCCESS)
		*driver_version = 0;
	for (int i = 0; get_device && get_name && i < count && i < STREAM_DEVICES; i++)
		if (get_device(&device, i) != CUDA_SUCCESS ||
		    get_name(device_names[i], NAME_LEN, device) != CUDA_SUCCESS)
			device_names[i][0] = '\0';
	return true;
}

int cupti_device_index(uint32_t number)
{
	char name[NAME_LEN];

	if (number >= STREAM_DEVICES)
		return -1;
	if (indexes[number])
		return indexes[number] - 1;
	snprintf(name, sizeof(name), "CUDA device %u", number);
	indexes[number] = stream_writer_add_device(
				  cupti_writer,
				  device_names[number][0] ? device_names[number] : name, "gpu") +
			  1;
	if (indexes[number])
		stream_writer_declare_clock(cupti_writer, indexes[number] - 1, stream_clock);
	return indexes[number] - 1;
}

/* Returns the host clock between whose readings, a few microseconds apart, CUPTI's time lies. */
static enum stream_clock judge(void)
{
	struct clock_reading before, after;
	struct clock_judge judgement = { 0 };
	uint64_t now = 0;

	while (!judgement.done && judgement.readings < CLOCK_JUDGE_MAX) {
		clock_reading_take(&before);
		if (cupti_library.GetTimestamp(&now) != CUPTI_SUCCESS)
			break;
		clock_reading_take(&after);
		clock_judge_add(&judgement, &before, &after, now);
	}
	return judgement.done ? judgement.clock : STREAM_CLOCK_UNDECLARED;
}

bool cupti_clock_settle(void)
{
	if (cupti_library.ActivityRegisterTimestampCallback &&
	    cupti_library.ActivityRegisterTimestampCallback(clock_pair_monotonic) == CUPTI_SUCCESS)
		stream_clock = STREAM_CLOCK_MONOTONIC;
	else
		stream_clock = judge();
	return cupti_library.SetThreadIdType &&
	       cupti_library.SetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) == CUPTI_SUCCESS;
}

static uint64_t read_cupti(void)
{
	uint64_t now;

	return cupti_library.GetTimestamp(&now) == CUPTI_SUCCESS ? now : 0;
}

void cupti_clock_compare(void)
{
	if (stream_clock != STREAM_CLOCK_MONOTONIC)
		clock_pair_compare(read_cupti);
}

uint64_t cupti_clock_to_monotonic(uint64_t cupti_ns)
{
	return stream_clock == STREAM_CLOCK_MONOTONIC ? cupti_ns
						      : clock_pair_to_monotonic(cupti_ns);
}
