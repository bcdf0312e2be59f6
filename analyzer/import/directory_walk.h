/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_walk.h - imports a directory of profilers' results, also of many ranks.
 *
 * Several files beside each other often contain the same tasks, so only the best files of each folder are imported:
 * all that match the first of the patterns that yields tasks. Subfolders of a folder whose files yielded tasks are
 * not read. The name of a compressed file matches as that of the plain file, which is preferred if it is there, too.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_DIRECTORY_WALK_H
#define PROFBPF_ANALYZER_IMPORT_DIRECTORY_WALK_H

#include <stdbool.h>

#include "analyzer/import/left_files.h"
#include "analyzer/import/own_export.h"
#include "lib/base/strings.h"

struct directory_walk {
	struct import *import;
	const char *const
		*patterns; /* file names, as for fnmatch(3) with +(); NULL-terminated, best first */
	/*
	 * Names of files with facts other than tasks: all files that match any of them are imported, too. May be
	 * NULL.
	 */
	const char *const *more;
	/* Names of files of known content that are not imported: each is a finding. May be NULL. */
	const char *const *left;
	/*
	 * Tables that complete the tasks of other files; they are read for that if the tasks came from files of
	 * other patterns. May be NULL.
	 */
	const char *const *tables;
	/*
	 * Returns true if a folder of this name is read after its siblings, and only for further facts if the
	 * siblings had the tasks. May be NULL.
	 */
	bool (*is_second)(const char *name);
	/*
	 * Returns true if a folder of this name holds one result, whose files describe the same devices. May be
	 * NULL.
	 */
	bool (*is_result)(const char *name);
	/*
	 * Returns true if folder @name of @path is to be skipped although no tasks were imported from files of
	 * @path. May be NULL.
	 */
	bool (*skip)(const struct directory_walk *walk, const char *path, const char *name);
	/*
	 * Called after a folder was imported; rows of devices from @first_device on are the folder's. Returns 0 or
	 * -ENOMEM. May be NULL.
	 */
	int (*done)(const struct directory_walk *walk, const char *path, uint32_t first_device);
	bool certain; /* no other program gives files the names of @patterns */
	bool exports; /* files superseded by a newer export (exports.h) are skipped: a finding for each */
	bool beside; /* valid during skip(): sibling folders had tasks */
	unsigned int taken; /* number of files that were to be imported */
	unsigned int imported; /* number of these files that were imported; each other file is a finding */
	struct own_exports own; /* skipped exports, unless import->own; findings if anything was imported */
	struct left_files lines; /* findings for files that were left out */
	struct string_table *seen; /* paths of files that were imported or have a finding, and of folders that are not to be read; NULL = none */
};

/*
 * directory_take - import everything below @path; with import->own only exports of profbpf
 *
 * A file that cannot be imported is a finding; the other files are imported. A file of unknown format is damage only
 * if the work of its folder did not come from files of another pattern, and if it is torn or @certain. Returns 0,
 * -ENOMEM, or -E2BIG with import->error. The caller calls directory_walk_free() in any case.
 */
int directory_take(struct directory_walk *walk, const char *path);
void directory_walk_free(struct directory_walk *walk);

/* directory_was_seen - is @path, as directory_take() composes it, in walk->seen? */
bool directory_was_seen(const struct directory_walk *walk, const char *path);

/*
 * directory_holds - is there a name that @wanted accepts in folder @path or up to @depth folders below?
 *
 * Reads at most 1000 folders, and exported folders of profbpf (own_export.h) only if @own.
 */
bool directory_holds(const char *path, bool (*wanted)(const char *name), unsigned int depth,
		     bool own);

/* directory_name - copies the last component of a path, without trailing slashes, into @name */
void directory_name(const char *path, char *name, size_t size);

#endif /* PROFBPF_ANALYZER_IMPORT_DIRECTORY_WALK_H */
