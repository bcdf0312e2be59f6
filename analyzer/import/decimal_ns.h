/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decimal_ns.h - converts decimal text of device files to integer nanoseconds.
 *
 * Floating point is not used: microseconds since 1970 with three decimals do not fit into a double.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_DECIMAL_NS_H
#define PROFBPF_ANALYZER_IMPORT_DECIMAL_NS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * decimal_scaled - the number in @text times 10^@power, rounded half away from zero
 *
 * Accepts "12", "-0.5", "1699529622790614.812", "5.477e-05", with blanks, tabs and double quotes around the number.
 * Returns false if the text is not a number ("N/A", "", "nan"), or if the result exceeds 64 bits. Microseconds to
 * nanoseconds: power 3.
 */
bool decimal_scaled(const char *text, size_t length, int power, int64_t *value);

/*
 * decimal_real - a number of up to 15 digits without sign and exponent, "0.125", as a double
 *
 * A fast path for values that files contain by the million. Returns false for any other text, including other valid
 * numbers.
 */
bool decimal_real(const char *text, size_t length, double *value);

/*
 * Unit of a table's or an object's column of times: 1 + the power of ten that makes it nanoseconds; 0 = no time.
 * Readers (csv_table.h, json_objects.h) have one for each column.
 */
enum decimal_unit { DECIMAL_NO_TIME = 0, DECIMAL_NS = 1, DECIMAL_US = 4, DECIMAL_MS = 7, DECIMAL_S = 10 };

/*
 * decimal_is_rounded - were digits of the time in @text, in units of 10^@power ns, rounded away?
 *
 * Spreadsheets write what they show: 1699529622790614.8 becomes "1.70E+15". A number is taken for rounded if it has at
 * most 9 digits, an exponent with a plus sign, as spreadsheets and printf write it, and a last digit that stands for more
 * than a microsecond. Others cannot be told from exact ones: writers of the shortest exact form leave zeros at the end
 * out ("1.2E2", "1.69952962279061e+15"), and a number without an exponent may be rounded, too (C++ streams write
 * 123456.789 as "123457").
 */
bool decimal_is_rounded(const char *text, size_t length, int power);

/* decimal_unsigned - a whole number of up to 64 bits, decimal or 0x-hexadecimal; returns false for other text */
bool decimal_unsigned(const char *text, size_t length, uint64_t *value);

#endif /* PROFBPF_ANALYZER_IMPORT_DECIMAL_NS_H */
