/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_walk.h - takes in a directory of results that profilers wrote, of many ranks as well.
 *
 * The same tasks often stand in several files beside each other, so of each folder only the best
 * ones are taken: all that match the first pattern of which files tell tasks. Folders inside one
 * of which files with tasks were taken are not looked into.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_DIRECTORY_WALK_H
#define PROFBPF_ANALYZER_IMPORT_DIRECTORY_WALK_H

#include <stdbool.h>

#include "analyzer/import/own_export.h"

struct directory_walk {
	struct import *import;
	const char *const
		*patterns; /* of names, as fnmatch(3) with +(); NULL-terminated, best ones first */
	/* What files tell besides the tasks: all that match any of them are taken, too. May be NULL. */
	const char *const *more;
	/* What is known to say something, but not taken in: a finding for each. May be NULL. */
	const char *const *left;
	/*
	 * Tables that say more of the tasks of other files: taken so where tasks came from files that are
	 * none of these. May be NULL.
	 */
	const char *const *tables;
	/*
	 * Is a folder of this name looked into after those beside it, and, if these had the tasks, only for
	 * what it says besides? May be NULL.
	 */
	bool (*is_second)(const char *name);
	/* Does a folder of this name hold one result, whose files tell of the same devices? May be NULL. */
	bool (*is_result)(const char *name);
	/* Is folder @name of @path to be left out, though no tasks were taken from files of @path? May be NULL. */
	bool (*skip)(const struct directory_walk *walk, const char *path, const char *name);
	/*
	 * After all of a folder was taken; rows of devices from @first_device on are its own. 0 or -ENOMEM. May
	 * be NULL.
	 */
	int (*done)(const struct directory_walk *walk, const char *path, uint32_t first_device);
	bool exports; /* files that a newer export supersedes (exports.h) are left out: a finding for each */
	bool beside; /* while skip() is asked: folders beside that one had tasks */
	unsigned int taken; /* files */
	struct own_exports own; /* that were left out, but for import->own; findings if anything was taken */
};

/*
 * directory_take - all below @path; with import->own what profbpf exported, and nothing else
 *
 * A file that cannot be taken in is a finding; the others count. Returns 0, -ENOMEM, or -E2BIG
 * with import->error.
 */
int directory_take(struct directory_walk *walk, const char *path);

/*
 * directory_holds - is there a name that @wanted accepts in folder @path or @depth folders below?
 *
 * Looks into at most 1000 folders; into those that profbpf exported (own_export.h) only if @own.
 */
bool directory_holds(const char *path, bool (*wanted)(const char *name), unsigned int depth,
		     bool own);

/* directory_name - the last part of a path, without slashes at its end, into @name */
void directory_name(const char *path, char *name, size_t size);

#endif /* PROFBPF_ANALYZER_IMPORT_DIRECTORY_WALK_H */
