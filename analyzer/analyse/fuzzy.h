/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzy.h - match names against words that a user typed.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_FUZZY_H
#define PROFBPF_ANALYZER_ANALYSE_FUZZY_H

#include <stdbool.h>

/*
 * text_fuzzy - does @text contain all words of @words, which are separated by blanks?
 *
 * In any order. Case is ignored, and all characters but letters and digits: "mat_mul" and "matmul"
 * both match "BatchMatMulV2" and "bmm/Mat-Mul_3". A NULL or empty @words matches everything.
 */
bool text_fuzzy(const char *text, const char *words);

/*
 * text_in_list - does @text match an element of @list? Elements are separated by commas and may contain * and ?
 *
 * Case is ignored. A NULL list matches everything.
 */
bool text_in_list(const char *text, const char *list);

#endif /* PROFBPF_ANALYZER_ANALYSE_FUZZY_H */
