/* SPDX-License-Identifier: Apache-2.0 */
/* decimal.h - decimal numbers with a unit, exactly: no floating point, no locale. */
#ifndef PROFBPF_LIB_BASE_DECIMAL_H
#define PROFBPF_LIB_BASE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

struct decimal_unit {
	const char *name; /* as written; "" = a number without a unit */
	uint64_t factor;
};

/*
 * decimal_parse - NUMBER or NUMBER.NUMBER followed by one of @units
 *
 * Blanks are not allowed. Returns 0 with number times factor in @value, or:
 * -EINVAL no number, -ENOENT unknown or missing unit (*@unit points at it),
 * -EDOM the result is no whole number, -ERANGE it is larger than @max.
 */
int decimal_parse(const char *text, const struct decimal_unit *units, size_t unit_count,
		  uint64_t max, uint64_t *value, const char **unit);

#endif /* PROFBPF_LIB_BASE_DECIMAL_H */
