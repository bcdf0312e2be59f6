/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_clock.h - what Ascend's profiles say about their clock.
 *
 * msprof takes all times in CLOCK_MONOTONIC_RAW and writes them as wall-clock time by a single pair
 * of the two, taken when it began. The wall clock is adjusted meanwhile; the pair, which stands in
 * start_info of the profile, gives the raw times back.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_CLOCK_H
#define PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * ascend_clock_shift - ns to subtract from a profile's wall-clock times for CLOCK_MONOTONIC_RAW
 *
 * Looks for host/start_info* and device_*\/start_info* in the folder of @path (a file of an
 * exported profile) and the two above it, and in PROF_* of one that is called *_ascend_pt or
 * *_ascend_ms. Returns 0 if there is none that makes sense: then they
 * are wall-clock times.
 */
int64_t ascend_clock_shift(const char *path);

#endif /* PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_CLOCK_H */
