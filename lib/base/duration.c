/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/duration.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/decimal.h"

#define US 1000ull
#define MS (1000 * US)
#define S (1000 * MS)
#define MIN (60 * S)
#define HOUR (60 * MIN)

#define PART_SIZE 48 /* the longest number with its unit; a longer one is refused */

static const struct decimal_unit units[] = {
	{ "ns", 1 }, { "us", US }, { "ms", MS }, { "s", S }, { "m", MIN }, { "h", HOUR },
};

/* A number without a unit. */
static const struct decimal_unit seconds[] = { { "", S } };

/* One number and its unit, which begin @text; *@length is theirs. Errors as decimal_parse()'s. */
static int parse_part(const char *text, bool alone, uint64_t *ns, size_t *length, char *part,
		      const char **unit)
{
	size_t number = strspn(text, "0123456789.");

	*length = number + strcspn(text + number, "0123456789.");
	*unit = part;
	if (*length >= PART_SIZE)
		return -EINVAL;
	memcpy(part, text, *length);
	part[*length] = '\0';
	if (alone && *length == number)
		return decimal_parse(part, seconds, 1, DURATION_MAX_NS, ns, unit);
	return decimal_parse(part, units, sizeof(units) / sizeof(units[0]), DURATION_MAX_NS, ns,
			     unit);
}

static void explain(int err, const char *text, const char *unit, char *error, size_t error_size)
{
	if (err == -ENOENT && !*unit)
		snprintf(
			error, error_size,
			"'%.40s' has a number without a unit: write ns, us, ms, s, m or h after it",
			text);
	else if (err == -ENOENT)
		snprintf(error, error_size,
			 "'%.40s' has an unknown unit '%.20s': units are ns, us, ms, s, m and h",
			 text, unit);
	else if (err == -EDOM)
		snprintf(error, error_size, "'%.40s' is finer than a nanosecond", text);
	else if (err == -ERANGE)
		snprintf(error, error_size, "'%.40s' is longer than a year", text);
	else
		snprintf(error, error_size,
			 "'%.40s' is not a duration: write for example 10s, 200ms or 1m30s", text);
}

int duration_parse(const char *text, uint64_t *ns, char *error, size_t error_size)
{
	char part[PART_SIZE];
	const char *unit = "", *at = text;
	uint64_t sum = 0;
	int err;

	do {
		uint64_t value = 0;
		size_t length;

		err = parse_part(at, at == text, &value, &length, part, &unit);
		at += length;
		sum += value;
		if (!err && sum > DURATION_MAX_NS)
			err = -ERANGE;
	} while (!err && *at);
	if (err) {
		explain(err, text, unit, error, error_size);
		return err == -ERANGE ? err : -EINVAL;
	}
	*ns = sum;
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
