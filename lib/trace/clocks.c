/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocks.c - take a snapshot of the host's clocks.
 */
#include <errno.h>
#include <time.h>

#include "lib/trace/clocks.h"

#define ATTEMPTS 8

static uint64_t read_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t value;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(value) : : "memory");
	return value;
#else
	return 0;
#endif
}

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts;

	if (clock_gettime(id, &ts) || ts.tv_sec < 0)
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

int clock_snapshot_take(struct clock_snapshot *snapshot)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < ATTEMPTS; i++) {
		struct clock_snapshot s = { 0 };
		uint64_t before = read_clock(CLOCK_MONOTONIC), after, width;

		s.monotonic_raw_ns = read_clock(CLOCK_MONOTONIC_RAW);
		s.counter = read_counter();
		s.realtime_ns = read_clock(CLOCK_REALTIME);
		s.boottime_ns = read_clock(CLOCK_BOOTTIME);
		after = read_clock(CLOCK_MONOTONIC);
		if (!before || after < before)
			return -EIO;
		width = after - before;
		if (width >= best)
			continue;
		best = width;
		s.monotonic_ns = before + width / 2;
		s.width_ns = width > UINT32_MAX ? UINT32_MAX : (uint32_t)width;
		*snapshot = s;
	}
	return 0;
}

uint64_t clock_snapshot_value(const struct clock_snapshot *snapshot, enum clock_kind kind)
{
	switch (kind) {
	case CLOCK_KIND_MONOTONIC: return snapshot->monotonic_ns;
	case CLOCK_KIND_MONOTONIC_RAW: return snapshot->monotonic_raw_ns;
	case CLOCK_KIND_BOOTTIME: return snapshot->boottime_ns;
	case CLOCK_KIND_REALTIME: return snapshot->realtime_ns;
	case CLOCK_KIND_COUNTER: return snapshot->counter;
	case CLOCK_KINDS: break;
	}
	return 0;
}

const char *clock_kind_name(enum clock_kind kind)
{
	switch (kind) {
	case CLOCK_KIND_MONOTONIC: return "CLOCK_MONOTONIC";
	case CLOCK_KIND_MONOTONIC_RAW: return "CLOCK_MONOTONIC_RAW";
	case CLOCK_KIND_BOOTTIME: return "CLOCK_BOOTTIME";
	case CLOCK_KIND_REALTIME: return "CLOCK_REALTIME";
	case CLOCK_KIND_COUNTER: return "CPU counter";
	case CLOCK_KINDS: break;
	}
	return "unknown clock";
}
