/* SPDX-License-Identifier: Apache-2.0 */
/* duration.h - durations as users write and read them: 10s, 200ms, 1m30s, 1.5m, 50us; 10 is seconds. */
#ifndef PROFBPF_LIB_BASE_DURATION_H
#define PROFBPF_LIB_BASE_DURATION_H

#include <stddef.h>
#include <stdint.h>

#define DURATION_MAX_NS (365ull * 24 * 3600 * 1000000000) /* a year */

/*
 * duration_parse - numbers with a unit, added up: ns us ms s m h; a number alone is seconds
 *
 * Digits below a nanosecond are refused, as is more than DURATION_MAX_NS. Returns 0 with the
 * nanoseconds in @ns, or -EINVAL or -ERANGE with a message that quotes @text in @error.
 */
int duration_parse(const char *text, uint64_t *ns, char *error, size_t error_size);

/*
 * duration_format - for people: "850 ns", "12.3 ms", "10.02 s", "3 min 20 s", "2 h 5 min"
 *
 * Writes to @text and returns it.
 */
char *duration_format(uint64_t ns, char *text, size_t size);

#endif /* PROFBPF_LIB_BASE_DURATION_H */
