/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_places.h - the functions that ran, or slept, at the roots of idle time.
 *
 * They come from the samples of a trace: CPU samples for roots on a CPU; samples of Python's frames for roots asleep,
 * and for threads whose CPU samples contain no Python functions: Python samples are rarer, and are taken when the
 * daemon gets a CPU. A Python function is preferred to a native one. The word (function_words.h) that half of
 * a row's samples or more have is the row's word, if there are at least ROOT_WORD_SAMPLES CPU samples (ROOT_WORD_LOOKS
 * of Python's frames). If half or more are in the kernel, the work is the kernel's, under the name of the most frequent
 * system call or exception (root.entry). Then "reclaiming memory" needs a quarter of the CPU samples only: the process
 * lacks memory, and its other work in the kernel, as page faults, comes from that. Samples in interrupts do not count as
 * the thread's kernel work. If the function has no name, as in stripped files and in code that was made at run time,
 * root.caller is the nearest function around it that has one, if it called half of the place's
 * samples for certain.
 * root.generated is set if code of no file and without a name is on half of the row's stacks: a compiler at run time made it.
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
#define ROOT_WORD_KERNEL (-2) /* half of the samples or more are in the kernel */

/*
 * NULL without memory. Frames must have their names (join/symbols.h); the model must not change, and @words must
 * outlive the result.
 */
struct root_places *root_places_new(const struct model *model, const struct function_words *words);
void root_places_free(struct root_places *places);

/* root_place_is_named - has the function of a frame a name of its own, not only that of a mapping ("[vdso]")? */
bool root_place_is_named(const struct model *model, uint32_t frame);

/* root_places_look - counts the samples in a stretch of a row; false without memory */
bool root_places_look(struct root_places *places, uint32_t row, const struct root *root);

/*
 * root_places_choose - sets the place of a row to the function with most samples
 *
 * Without samples the place stays as it is. *word is a word of function_words.h, or ROOT_WORD_*. Returns the number of
 * samples.
 */
uint64_t root_places_choose(const struct root_places *places, uint32_t row, struct root *root,
			    int *word);

/* root_places_spins - returns the share of a row's CPU samples in which the thread waited for others without a sleep, 0 to 1 */
double root_places_spins(const struct root_places *places, uint32_t row);

/* root_places_ranks - the same share of waits for other ranks alone */
double root_places_ranks(const struct root_places *places, uint32_t row);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_ROOT_PLACES_H */
