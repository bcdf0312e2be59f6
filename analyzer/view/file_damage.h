/* SPDX-License-Identifier: Apache-2.0 */
/* file_damage.h - which device files could be read only in part: the figures are not those of the whole. */
#ifndef PROFBPF_ANALYZER_VIEW_FILE_DAMAGE_H
#define PROFBPF_ANALYZER_VIEW_FILE_DAMAGE_H

#include "analyzer/view/view.h"

/*
 * text_file_damage - what is missing of a file, in a sentence: "trace.json: damaged: what follows was not read (byte 9)"
 *
 * Returns @into, safe for a terminal, or NULL if the finding is none of damage.
 */
char *text_file_damage(const struct model *model, const struct import_finding *finding, char *into,
		       size_t size);

/* Writes a line for each of them, or nothing; of many the first ones, and the number of the others. */
void tell_file_damage(const struct report *report);

#endif /* PROFBPF_ANALYZER_VIEW_FILE_DAMAGE_H */
