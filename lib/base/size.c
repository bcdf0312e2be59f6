/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/size.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "lib/base/decimal.h"

#define K 1024ull
#define M (K * K)
#define G (K * M)

static const struct decimal_unit units[] = {
	{ "", 1 }, { "K", K }, { "KiB", K }, { "M", M }, { "MiB", M }, { "G", G }, { "GiB", G },
};

int size_parse(const char *text, uint64_t *bytes, char *error, size_t error_size)
{
	const char *unit;
	int err = decimal_parse(text, units, sizeof(units) / sizeof(units[0]), SIZE_MAX_BYTES,
				bytes, &unit);

	if (err == -ENOENT)
		snprintf(error, error_size,
			 "'%.40s' has an unknown unit '%.20s': units are K, M and G", text, unit);
	else if (err == -EDOM)
		snprintf(error, error_size, "'%.40s' is not a whole number of bytes", text);
	else if (err == -ERANGE)
		snprintf(error, error_size, "'%.40s' is more than 1024G", text);
	else if (err)
		snprintf(error, error_size, "'%.40s' is not a size: write for example 64M or 512K",
			 text);
	if (err && err != -ERANGE)
		err = -EINVAL;
	return err;
}

char *size_format(uint64_t bytes, char *text, size_t size)
{
	if (bytes < K)
		snprintf(text, size, "%" PRIu64 " bytes", bytes);
	else if (bytes < M)
		snprintf(text, size, "%.1f KiB", (double)bytes / K);
	else if (bytes < G)
		snprintf(text, size, "%.1f MiB", (double)bytes / M);
	else
		snprintf(text, size, "%.2f GiB", (double)bytes / G);
	return text;
}
