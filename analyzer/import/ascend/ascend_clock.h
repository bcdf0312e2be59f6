/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_clock.h - reads the clock offset of Ascend's profiles.
 *
 * msprof takes all times in CLOCK_MONOTONIC_RAW and writes them as wall-clock time, by a single pair of readings of
 * both clocks at its start. The wall clock is adjusted later; the pair, which is in start_info of the profile,
 * gives the raw times back.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_CLOCK_H
#define PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * ascend_clock_shift - ns to subtract from a profile's wall-clock times to get CLOCK_MONOTONIC_RAW
 *
 * Looks for host/start_info* and device_*\/start_info* in the folder of @path (a file of an exported profile) and
 * the two above it, and in PROF_* of a folder called *_ascend_pt or *_ascend_ms. Returns 0 if there is no valid
 * pair: the times are wall-clock times then.
 */
int64_t ascend_clock_shift(const char *path);

#endif /* PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_CLOCK_H */
