/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzy.h - does a name have what somebody typed?
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_FUZZY_H
#define PROFBPF_ANALYZER_ANALYSE_FUZZY_H

#include <stdbool.h>

/*
 * text_fuzzy - has @text all words of @words, which are separated by blanks?
 *
 * In any order. Case does not count, nor does anything but letters and digits: "mat_mul" and
 * "matmul" are both in "BatchMatMulV2" and in "bmm/Mat-Mul_3". A NULL or empty @words is in
 * everything.
 */
bool text_fuzzy(const char *text, const char *words);

/*
 * text_in_list - is @text one of @list, which are separated by commas and may have * and ?
 *
 * Case does not count. NULL is a list of everything.
 */
bool text_in_list(const char *text, const char *list);

#endif /* PROFBPF_ANALYZER_ANALYSE_FUZZY_H */
