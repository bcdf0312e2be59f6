/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/duration.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "lib/decimal.h"

#define US 1000ull
#define MS (1000 * US)
#define S (1000 * MS)
#define MIN (60 * S)
#define HOUR (60 * MIN)

static const struct decimal_unit units[] = {
	{ "ns", 1 }, { "us", US }, { "ms", MS }, { "s", S }, { "m", MIN }, { "h", HOUR },
};

int duration_parse(const char *text, uint64_t *ns, char *error, size_t error_size)
{
	const char *unit;
	uint64_t value;
	int err = decimal_parse(text, units, sizeof(units) / sizeof(units[0]), DURATION_MAX_NS,
				&value, &unit);

	if (err == -ENOENT && !*unit) {
		const struct decimal_unit none = { "", 1 };

		/* Nought needs no unit. */
		if (!decimal_parse(text, &none, 1, 0, &value, &unit))
			err = 0;
		else
			snprintf(error, error_size,
				 "'%.40s' has no unit: write ns, us, ms, s, m or h after it", text);
	} else if (err == -ENOENT) {
		snprintf(error, error_size,
			 "'%.40s' has an unknown unit '%.20s': units are ns, us, ms, s, m and h",
			 text, unit);
	} else if (err == -EDOM) {
		snprintf(error, error_size, "'%.40s' is finer than a nanosecond", text);
	} else if (err == -ERANGE) {
		snprintf(error, error_size, "'%.40s' is longer than a year", text);
	} else if (err) {
		snprintf(error, error_size,
			 "'%.40s' is no duration: write for example 10s, 200ms or 1.5m", text);
	}
	if (err)
		return err == -ERANGE ? err : -EINVAL;
	*ns = value;
	return 0;
}

char *duration_format(uint64_t ns, char *text, size_t size)
{
	if (ns < US)
		snprintf(text, size, "%" PRIu64 " ns", ns);
	else if (ns < MS)
		snprintf(text, size, "%.1f us", (double)ns / US);
	else if (ns < S)
		snprintf(text, size, "%.1f ms", (double)ns / MS);
	else if (ns < 2 * MIN)
		snprintf(text, size, "%.2f s", (double)ns / S);
	else if (ns < HOUR)
		snprintf(text, size, "%llu min %llu s", ns / MIN, ns % MIN / S);
	else
		snprintf(text, size, "%llu h %llu min", ns / HOUR, ns % HOUR / MIN);
	return text;
}
