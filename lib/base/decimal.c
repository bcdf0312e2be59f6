/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/decimal.h"

#include <errno.h>
#include <string.h>

#define DIGITS "0123456789"
#define FRACTION_DIGITS_MAX 18

static const struct decimal_unit *find_unit(const char *name, const struct decimal_unit *units,
					    size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(units[i].name, name))
			return &units[i];
	return NULL;
}

/* Digits to a number; -ERANGE if it does not fit. */
static int read_digits(const char *digits, size_t length, uint64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < length; i++)
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, (uint64_t)(digits[i] - '0'), number))
			return -ERANGE;
	return 0;
}

/* 0.DIGITS times @factor, which must come out whole. */
static int scale_fraction(const char *digits, size_t length, uint64_t factor, uint64_t *value)
{
	unsigned __int128 scaled;
	uint64_t number, divisor = 1;

	while (length && digits[length - 1] == '0')
		length--;
	if (length > FRACTION_DIGITS_MAX)
		return -EDOM;
	for (size_t i = 0; i < length; i++)
		divisor *= 10;
	read_digits(digits, length, &number);
	scaled = (unsigned __int128)number * factor;
	if (scaled % divisor)
		return -EDOM;
	*value = (uint64_t)(scaled / divisor);
	return 0;
}

int decimal_parse(const char *text, const struct decimal_unit *units, size_t unit_count,
		  uint64_t max, uint64_t *value, const char **unit)
{
	size_t whole_length = strspn(text, DIGITS), fraction_length = 0;
	const char *fraction = text + whole_length;
	const struct decimal_unit *found;
	uint64_t whole, part = 0;
	int err;

	*unit = fraction;
	if (*fraction == '.') {
		fraction++;
		fraction_length = strspn(fraction, DIGITS);
		*unit = fraction + fraction_length;
		if (!fraction_length)
			return -EINVAL;
	}
	if (!whole_length)
		return -EINVAL;
	found = find_unit(*unit, units, unit_count);
	if (!found)
		return -ENOENT;
	err = read_digits(text, whole_length, &whole);
	if (!err)
		err = scale_fraction(fraction, fraction_length, found->factor, &part);
	if (err)
		return err;
	if (__builtin_mul_overflow(whole, found->factor, &whole) ||
	    __builtin_add_overflow(whole, part, &whole) || whole > max)
		return -ERANGE;
	*value = whole;
	return 0;
}
