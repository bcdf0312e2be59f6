/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exports.h - which files of a folder are an older export of what a newer one has.
 *
 * msprof puts the second of its export into names, "op_summary_20240102030405.csv", and leaves what an export
 * before wrote: the same tasks then stand in two files. Large ones are cut: "_slice_0", "_slice_1" and so on.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_EXPORTS_H
#define PROFBPF_ANALYZER_IMPORT_EXPORTS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/map.h"

/* A file's name, taken apart. */
struct export_name {
	char rest[256]; /* without the stamp and the number of the slice; with those of device, model, iteration */
	uint64_t stamp; /* 14 digits: year to second */
	uint32_t slice; /* UINT32_MAX = the whole */
};

/* export_name_read - false if there is no stamp in @name, or it is no table, timeline or database */
bool export_name_read(const char *name, struct export_name *of);

/*
 * exports_find_old - the places in @names, files of folder @path, of those that newer ones supersede, as keys of @old
 *
 * Of names that differ in their stamps only, the newest counts. Slices with stamps of their own are of one export as
 * long as no number comes again. A file with tasks counts also if newer ones have none, or not at the same times on
 * the same device, for more than half of the shorter: iterations can be exported one by one. Such files are
 * read twice. Of more than 1,024 exports the oldest do not count. Returns 0 or -ENOMEM; the caller frees @old in both
 * cases.
 */
int exports_find_old(const char *path, struct dirent **names, int count, struct map *old);

#endif /* PROFBPF_ANALYZER_IMPORT_EXPORTS_H */
