/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decimal_ns.h - decimal text of device files to integer nanoseconds.
 *
 * Never through floating point: microseconds since 1970 with three decimals do
 * not fit into a double.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_DECIMAL_NS_H
#define PROFBPF_ANALYZER_IMPORT_DECIMAL_NS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * decimal_scaled - the number in @text times 10^@power, rounded half away from zero
 *
 * Takes "12", "-0.5", "1699529622790614.812", "5.477e-05", with blanks, tabs and double quotes
 * around it. False if it is no number ("N/A", "", "nan"), or if the result exceeds 64 bits.
 * Microseconds to nanoseconds: power 3.
 */
bool decimal_scaled(const char *text, size_t length, int power, int64_t *value);

/*
 * decimal_real - a number of up to 15 digits without sign and exponent, "0.125", as a double
 *
 * For what needs no more, and is read by the million: others are false, whatever they are.
 */
bool decimal_real(const char *text, size_t length, double *value);

/* decimal_unsigned - a whole number of up to 64 bits, decimal or 0x-hexadecimal */
bool decimal_unsigned(const char *text, size_t length, uint64_t *value);

#endif /* PROFBPF_ANALYZER_IMPORT_DECIMAL_NS_H */
