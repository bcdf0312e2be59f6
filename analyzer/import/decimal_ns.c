/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/decimal_ns.h"

#include <string.h>

#define EXPONENT_MAX 400 /* no 64-bit number has that many digits */
#define ROUNDED_DIGITS 9 /* spreadsheets and printf show few; writers of exact numbers have more */
#define ROUNDED_POWER 3 /* the last digit of a time may stand for 10^3 ns */

static void trim(const char **text, size_t *length)
{
	while (*length && (**text == ' ' || **text == '\t' || **text == '"' || **text == '\r')) {
		(*text)++;
		(*length)--;
	}
	while (*length) {
		char c = (*text)[*length - 1];

		if (c != ' ' && c != '\t' && c != '"' && c != '\r' && c != '\n')
			break;
		(*length)--;
	}
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A number: its digits, without point and sign, and its exponent. */
struct decimal {
	uint64_t digits;
	int exponent; /* value = digits * 10^exponent */
	bool negative;
	bool half; /* the first digit that did not fit is 5 or more */
};

/* Adds a digit; digits that no longer fit are dropped, and count as zeros if they are before the point. */
static bool add_digit(struct decimal *number, char c, bool fraction, bool *full)
{
	uint64_t grown;

	if (!*full && (__builtin_mul_overflow(number->digits, 10, &grown) ||
		       __builtin_add_overflow(grown, (uint64_t)(c - '0'), &grown))) {
		*full = true;
		number->half = c >= '5';
		number->exponent += !fraction;
		return true;
	}
	if (*full) {
		number->exponent += !fraction;
		return number->exponent <= EXPONENT_MAX;
	}
	number->digits = grown;
	number->exponent -= fraction;
	return number->exponent >= -EXPONENT_MAX;
}

static bool read_exponent(const char *text, size_t length, int *exponent)
{
	bool negative = length && *text == '-';
	int value = 0;

	if (length && (*text == '-' || *text == '+')) {
		text++;
		length--;
	}
	if (!length)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (!is_digit(text[i]) || value > EXPONENT_MAX)
			return false;
		value = value * 10 + (text[i] - '0');
	}
	*exponent += negative ? -value : value;
	return true;
}

static bool read_decimal(const char *text, size_t length, struct decimal *number)
{
	bool fraction = false, any = false, full = false;
	size_t i = 0;

	*number = (struct decimal){ .negative = length && *text == '-' };
	if (length && (*text == '-' || *text == '+'))
		i++;
	for (; i < length; i++) {
		if (text[i] == '.' && !fraction) {
			fraction = true;
		} else if (is_digit(text[i])) {
			any = true;
			if (!add_digit(number, text[i], fraction, &full))
				return false;
		} else {
			break;
		}
	}
	if (!any)
		return false;
	if (i == length)
		return true;
	return (text[i] == 'e' || text[i] == 'E') &&
	       read_exponent(text + i + 1, length - i - 1, &number->exponent);
}

bool decimal_real(const char *text, size_t length, double *value)
{
	static const double SCALES[] = { 1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
					 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	uint64_t digits = 0;
	size_t point = length;

	if (!length || length > 16)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '.' && point == length)
			point = i;
		else if (!is_digit(text[i]))
			return false;
		else
			digits = digits * 10 + (uint64_t)(text[i] - '0');
	}
	length -= point < length;
	if (!length || length > 15)
		return false;
	*value = (double)digits / SCALES[point < length ? length - point : 0];
	return true;
}

bool decimal_scaled(const char *text, size_t length, int power, int64_t *value)
{
	struct decimal number;
	uint64_t result;

	trim(&text, &length);
	if (!read_decimal(text, length, &number))
		return false;
	number.exponent += power;
	result = number.digits;
	for (; number.exponent > 0 && result; number.exponent--) {
		if (__builtin_mul_overflow(result, 10, &result))
			return false;
		number.half = false;
	}
	for (; number.exponent < 0 && (result || number.half); number.exponent++) {
		number.half = result % 10 >= 5;
		result /= 10;
	}
	if (number.half)
		result++;
	if (result > INT64_MAX)
		return false;
	*value = number.negative ? -(int64_t)result : (int64_t)result;
	return true;
}

/* The number of digits before the exponent at @end, zeros at the end included. */
static size_t written_digits(const char *text, const char *end)
{
	size_t count = 0;

	for (; text < end; text++)
		count += is_digit(*text) && (count || *text != '0');
	return count;
}

bool decimal_is_rounded(const char *text, size_t length, int power)
{
	const char *exponent = memchr(text, 'e', length);
	struct decimal number;

	if (!exponent)
		exponent = memchr(text, 'E', length);
	if (!exponent || exponent + 1 == text + length || exponent[1] != '+' ||
	    written_digits(text, exponent) > ROUNDED_DIGITS)
		return false;
	trim(&text, &length);
	return read_decimal(text, length, &number) && number.digits &&
	       number.exponent + power > ROUNDED_POWER;
}

static bool read_hexadecimal(const char *text, size_t length, uint64_t *value)
{
	uint64_t result = 0;

	if (!length || length > 16)
		return false;
	for (size_t i = 0; i < length; i++) {
		char c = text[i] | 0x20;

		if (!is_digit(c) && !(c >= 'a' && c <= 'f'))
			return false;
		result = result << 4 | (uint64_t)(is_digit(c) ? c - '0' : c - 'a' + 10);
	}
	*value = result;
	return true;
}

bool decimal_unsigned(const char *text, size_t length, uint64_t *value)
{
	uint64_t result = 0;

	trim(&text, &length);
	if (length > 2 && text[0] == '0' && (text[1] | 0x20) == 'x')
		return read_hexadecimal(text + 2, length - 2, value);
	if (!length)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (!is_digit(text[i]) || __builtin_mul_overflow(result, 10, &result) ||
		    __builtin_add_overflow(result, (uint64_t)(text[i] - '0'), &result))
			return false;
	}
	*value = result;
	return true;
}
