/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_places.h - which function ran, or slept, at the roots of idle time.
 *
 * By the samples of a trace, if it has any: those of the CPU for roots that were on one, looks at
 * Python's frames for those that slept, and for threads whose samples have no functions of Python's themselves: looks are
 * rarer, and come where the daemon gets a CPU. A function of Python is preferred to a native one. What half of
 * a row's samples or more are for, by function_words.h, is its word, if there are ROOT_WORD_SAMPLES (of looks ROOT_WORD_LOOKS); what they do in
 * the kernel is the kernel's, under the name of the system call or exception that they are in most (root.entry).
 * What an interrupt does is not the thread's.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_ROOT_PLACES_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_ROOT_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/idle/function_words.h"
#include "analyzer/analyse/idle/root_walk.h"
#include "analyzer/model/model.h"

struct root_places;

#define ROOT_WORD_SAMPLES 4
#define ROOT_WORD_LOOKS 2
#define ROOT_WORD_NONE (-1)
#define ROOT_WORD_KERNEL (-2) /* in the kernel for half of the samples or more */

/*
 * NULL without memory. Frames must have their names (join/symbols.h); the model must not change, and @words must
 * outlive it.
 */
struct root_places *root_places_new(const struct model *model, const struct function_words *words);
void root_places_free(struct root_places *places);

/* root_places_look - count the samples in a stretch of a row; false without memory */
bool root_places_look(struct root_places *places, uint32_t row, const struct root *root);

/*
 * root_places_choose - set the place of a row to the function that was seen most
 *
 * Without samples it stays as it is. *word is that of function_words.h, or ROOT_WORD_*. Returns how many there were.
 */
uint64_t root_places_choose(const struct root_places *places, uint32_t row, struct root *root,
			    int *word);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_ROOT_PLACES_H */
