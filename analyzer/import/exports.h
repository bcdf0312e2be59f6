/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exports.h - finds the files of a folder that are older exports of the data of a newer file.
 *
 * msprof puts the time of its export, to the second, into file names, "op_summary_20240102030405.csv", and keeps
 * the files of earlier exports: two files then contain the same tasks. Large files are cut into slices: "_slice_0",
 * "_slice_1" and so on.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_EXPORTS_H
#define PROFBPF_ANALYZER_IMPORT_EXPORTS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/map.h"

/* The parts of a file's name. */
struct export_name {
	char rest[256]; /* the name without time stamp and slice number; numbers of device, model, iteration stay */
	uint64_t stamp; /* 14 digits: year to second */
	uint32_t slice; /* UINT32_MAX = a whole file */
};

/*
 * export_name_read - splits @name; returns false if it has no time stamp, or is no name of a table, timeline or
 * database
 */
bool export_name_read(const char *name, struct export_name *of);

/*
 * exports_find_old - adds the index in @names (the files of folder @path) of each superseded file to @old, as a key
 *
 * Of names that differ only in their time stamps, the newest is kept. Slices with different stamps belong to one
 * export until a slice number repeats. An older file with tasks is also kept if the newer files have no tasks, or
 * none on the same device that overlap with more than half of the shorter time span: iterations can be exported
 * separately. Such files are read twice. Of more than 1,024 exports the oldest are dropped. Returns 0 or -ENOMEM;
 * the caller frees @old in both cases.
 */
int exports_find_old(const char *path, struct dirent **names, int count, struct map *old);

#endif /* PROFBPF_ANALYZER_IMPORT_EXPORTS_H */
