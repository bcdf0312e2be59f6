/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/directory_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/import/exports.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/unknown_file.h"

#define DEPTH_MAX 6 /* folders below the given one */
#define FOLDERS_MAX 1000 /* folders that are searched for a name */
#define FILES_MAX 4096 /* files imported from one directory */

/* A folder that is being imported. */
struct folder {
	const char *path;
	struct dirent **names;
	int count;
	int depth;
	bool second; /* its sibling folders had the tasks */
	struct map old; /* indices of superseded names */
	struct map own; /* indices of exports of profbpf; with import->own, of all other files */
	struct map unknown; /* indices of files of unknown format; the value is their pattern's */
	bool inside_own; /* it is in a folder exported by profbpf */
	struct import_result result; /* the result that contains it */
};

static bool is_directory(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_regular(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

void directory_name(const char *path, char *name, size_t size)
{
	size_t length = strlen(path), start;

	while (length > 1 && path[length - 1] == '/')
		length--;
	for (start = length; start && path[start - 1] != '/';)
		start--;
	snprintf(name, size, "%.*s", (int)(length - start), path + start);
}

static bool holds(const char *path, bool (*wanted)(const char *name), unsigned int depth,
		  unsigned int *budget, bool own)
{
	const struct dirent *entry;
	char inner[PATH_MAX];
	bool found = false;
	DIR *directory;

	if (!*budget)
		return false;
	(*budget)--;
	directory = opendir(path);
	while (directory && !found && (entry = readdir(directory)))
		found = entry->d_name[0] != '.' && wanted(entry->d_name);
	if (directory && !found && depth)
		rewinddir(directory);
	while (directory && !found && depth && (entry = readdir(directory))) {
		if (entry->d_name[0] == '.' ||
		    (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		if (snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name) <
			    (int)sizeof(inner) &&
		    (own || !own_export_folder(inner)))
			found = holds(inner, wanted, depth - 1, budget, own);
	}
	if (directory)
		closedir(directory);
	return found;
}

bool directory_holds(const char *path, bool (*wanted)(const char *name), unsigned int depth,
		     bool own)
{
	unsigned int budget = FOLDERS_MAX;

	return holds(path, wanted, depth, &budget, own);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static bool inside(const struct folder *folder, int index, char *path)
{
	return snprintf(path, PATH_MAX, "%s/%s", folder->path, folder->names[index]->d_name) <
	       PATH_MAX;
}

static int see(struct directory_walk *walk, const char *path)
{
	if (!walk->seen)
		walk->seen = string_table_new();
	return walk->seen && string_table_add_text(walk->seen, path) != STRING_NONE ? 0 : -ENOMEM;
}

bool directory_was_seen(const struct directory_walk *walk, const char *path)
{
	return walk->seen && string_table_find(walk->seen, path, strlen(path)) != STRING_NONE;
}

void directory_walk_free(struct directory_walk *walk)
{
	string_table_free(walk->seen);
}

/* Copies a name without the suffix of compressed files into @plain; returns false if it has none. */
static bool plain_name(const char *name, char *plain)
{
	const char *dot = strrchr(name, '.');

	if (!dot || (strcmp(dot, ".gz") != 0 && strcmp(dot, ".zst") != 0) || strlen(name) > NAME_MAX)
		return false;
	snprintf(plain, NAME_MAX + 1, "%.*s", (int)(dot - name), name);
	return true;
}

static bool fits(const char *pattern, const char *name)
{
	char plain[NAME_MAX + 1];

	return fnmatch(pattern, name, FNM_EXTMATCH) == 0 ||
	       (plain_name(name, plain) && fnmatch(pattern, plain, FNM_EXTMATCH) == 0);
}

/* The plain file beside a compressed one; NULL = none. */
static const char *plain_of(const struct folder *folder, int index)
{
	char plain[NAME_MAX + 1];

	if (!plain_name(folder->names[index]->d_name, plain))
		return NULL;
	for (int i = 0; i < folder->count; i++) {
		if (strcmp(folder->names[i]->d_name, plain) == 0)
			return folder->names[i]->d_name;
	}
	return NULL;
}

static int leave_packed(struct directory_walk *walk, const char *path, const char *plain)
{
	char words[NAME_MAX + 64];

	snprintf(words, sizeof(words), "left out: %s is beside it, unpacked", plain);
	return left_file(&walk->lines, path, words);
}

/* Returns -ENOMSG if the file's format is unknown. */
static int take_file(struct directory_walk *walk, const struct folder *folder, const char *path,
		     bool complete)
{
	char error[512];
	int err;

	if (!complete && import_before(walk->import->model, path) != INDEX_NONE) {
		walk->taken++;
		walk->imported++;
		return left_file(&walk->lines, path, "given more than once: counted once");
	}
	if (walk->taken++ >= FILES_MAX)
		return import_fail(walk->import, -E2BIG, "more than %d files of results",
				   FILES_MAX);
	err = import_part(walk->import, path, &folder->result, complete, error, sizeof(error));
	walk->imported += err == 0;
	walk->taken -= err == -ENOMSG;
	/* One damaged rank of many is a finding; the other ranks are imported. */
	if (err && err != -ENOMEM && err != -ENOMSG)
		err = import_damage(walk->import, "a file was not taken in", error);
	return err;
}

static int take_named(struct directory_walk *walk, struct folder *folder, int at, const char *path,
		      uint32_t pattern, bool complete)
{
	const char *plain = plain_of(folder, at);
	int err;

	if (map_get(&folder->old, (uint64_t)at) != MAP_NONE)
		return import_finding(walk->import, "left out: a newer export has the same",
				      folder->names[at]->d_name);
	if (plain)
		return leave_packed(walk, path, plain);
	/* Opening a pipe would wait for its writer. */
	if (!is_regular(path))
		return left_file(&walk->lines, path, "not a regular file");
	err = take_file(walk, folder, path, complete);
	if (err != -ENOMSG)
		return err;
	return map_put(&folder->unknown, (uint64_t)at, pattern) ? 0 : -ENOMEM;
}

#define NO_TASKS (MAP_NONE - 1) /* the number of all patterns whose files have no tasks */

static int take_pattern(struct directory_walk *walk, struct folder *folder, const char *pattern,
			uint32_t number, bool complete, bool *found)
{
	char path[PATH_MAX];
	int err = 0;

	for (int i = 0; i < folder->count && !err; i++) {
		if (!fits(pattern, folder->names[i]->d_name) ||
		    map_get(&folder->own, (uint64_t)i) != MAP_NONE || !inside(folder, i, path) ||
		    is_directory(path))
			continue;
		*found = true;
		err = see(walk, path);
		if (!err)
			err = take_named(walk, folder, i, path, number, complete);
	}
	return err;
}

static bool is_table(const struct directory_walk *walk, const char *pattern)
{
	for (size_t i = 0; walk->tables && walk->tables[i]; i++) {
		if (strcmp(walk->tables[i], pattern) == 0)
			return true;
	}
	return false;
}

static bool has_tasks(const struct directory_walk *walk, const struct folder *folder)
{
	return walk->import->model->tasks.count > folder->result.first_task;
}

/* Adds details from tables to the tasks of other files. */
static int take_tables(struct directory_walk *walk, struct folder *folder)
{
	bool found;
	int err = 0;

	for (size_t p = 0; walk->tables && walk->tables[p] && !err; p++)
		err = take_pattern(walk, folder, walk->tables[p], NO_TASKS, true, &found);
	return err;
}

/* Adds findings for known files that are not imported, by kind: "memory_usage_*.pb: 4 times (memory_usage_0.pb)". */
static int tell_left(struct directory_walk *walk, const struct folder *folder)
{
	char what[128], path[PATH_MAX];
	int err = 0;

	for (size_t p = 0; walk->left && walk->left[p] && !err; p++) {
		for (int i = 0; i < folder->count && !err; i++) {
			if (!fits(walk->left[p], folder->names[i]->d_name) ||
			    left_is_helper(folder->names[i]->d_name) ||
			    !inside(folder, i, path) || directory_was_seen(walk, path))
				continue;
			err = see(walk, path);
			snprintf(what, sizeof(what), "known, but not taken in: %s", walk->left[p]);
			if (!err)
				err = import_finding(walk->import, what, folder->names[i]->d_name);
		}
	}
	return err;
}

/* Adds a finding for each file of unknown format. @given: the pattern whose files had the tasks; NO_TASKS = none. */
static int tell_unknown(struct directory_walk *walk, const struct folder *folder, uint32_t given)
{
	char path[PATH_MAX];
	int err = 0;

	for (int i = 0; i < folder->count && !err; i++) {
		uint32_t pattern = map_get(&folder->unknown, (uint64_t)i);
		bool elsewhere = pattern == NO_TASKS || (given != NO_TASKS && given != pattern) ||
				 (given == NO_TASKS && has_tasks(walk, folder));

		if (pattern == MAP_NONE || !inside(folder, i, path))
			continue;
		if (elsewhere || (!walk->certain && !unknown_file_is_torn(path))) {
			err = left_unknown(&walk->lines, path);
		} else {
			walk->taken++;
			err = left_damaged(&walk->lines, path);
		}
	}
	return err;
}

static int take_files(struct directory_walk *walk, struct folder *folder, bool *found)
{
	const struct model *model = walk->import->model;
	uint32_t tasks = model->tasks.count, calls = model->calls.count;
	bool tables = folder->second, given = folder->second;
	uint32_t from = NO_TASKS;
	int err = 0;

	*found = false;
	/*
	 * If a pattern's files have no tasks or cannot be read, the next pattern is used; calls are not imported
	 * twice.
	 */
	for (uint32_t p = 0; walk->patterns[p] && !given && !err; p++) {
		bool table = is_table(walk, walk->patterns[p]);

		if (model->calls.count > calls && !table)
			continue;
		err = take_pattern(walk, folder, walk->patterns[p], p, false, found);
		given = model->tasks.count > tasks;
		from = given ? p : from;
		tables |= given && !table;
	}
	if (!err && tables && has_tasks(walk, folder))
		err = take_tables(walk, folder);
	for (size_t p = 0; walk->more && walk->more[p] && !err; p++)
		err = take_pattern(walk, folder, walk->more[p], NO_TASKS, false, found);
	if (!err)
		err = tell_unknown(walk, folder, from);
	return err || folder->inside_own != walk->import->own ? err : tell_left(walk, folder);
}

/* MindSpore's data profiler writes into the same folder as its device profiler, or alone. */
static int take_data_profile(struct directory_walk *walk, const char *path)
{
	char error[512];
	int err = import_folder_part(walk->import, path, &import_minddata, error, sizeof(error));

	if (err == -ENOENT)
		return 0;
	walk->taken++;
	walk->imported += err == 0;
	return err && err != -ENOMEM
		       ? import_damage(walk->import, "a folder was not taken in", error)
		       : err;
}

static int walk_folder(struct directory_walk *walk, const char *path, const struct folder *outer,
		       bool second);

static int leave_folder(struct directory_walk *walk, const char *path, const char *why)
{
	int err = see(walk, path);

	return err ? err : left_file(&walk->lines, path, why);
}

/* The files of the folder had its tasks. */
static int leave_folders(struct directory_walk *walk, const struct folder *folder)
{
	char path[PATH_MAX];
	int err = 0;

	for (int i = 0; i < folder->count && !err; i++) {
		if (map_get(&folder->own, (uint64_t)i) == MAP_NONE && inside(folder, i, path) &&
		    is_directory(path))
			err = leave_folder(walk, path,
					   "not searched: files beside it had the tasks; give it "
					   "itself if it has others");
	}
	return err;
}

static int take_some_folders(struct directory_walk *walk, const struct folder *folder, bool second,
			     uint32_t tasks)
{
	char path[PATH_MAX];
	int err = 0;

	for (int i = 0; i < folder->count && !err; i++) {
		const char *name = folder->names[i]->d_name;

		walk->beside = walk->import->model->tasks.count > tasks;
		if ((walk->is_second && walk->is_second(name)) != second ||
		    map_get(&folder->own, (uint64_t)i) != MAP_NONE ||
		    !inside(folder, i, path) || !is_directory(path))
			continue;
		if (walk->skip && walk->skip(walk, folder->path, name))
			err = leave_folder(walk, path, "not searched: what was made of it is beside it");
		else
			err = walk_folder(walk, path, folder,
					  second && walk->import->model->tasks.count > tasks);
	}
	return err;
}

static int take_folders(struct directory_walk *walk, const struct folder *folder)
{
	uint32_t tasks = walk->import->model->tasks.count;
	int err = take_some_folders(walk, folder, false, tasks);

	return err ? err : take_some_folders(walk, folder, true, tasks);
}

static bool is_timeline(const char *name)
{
	return fnmatch("*.@(json|pftrace|perfetto-trace|trace|pb)", name, FNM_EXTMATCH) == 0;
}

static int find_own(struct directory_walk *walk, struct folder *folder)
{
	char path[PATH_MAX];

	for (int i = 0; !folder->inside_own && i < folder->count; i++) {
		bool directory, own;

		if (!inside(folder, i, path))
			continue;
		directory = is_directory(path);
		own = directory ? own_export_folder(path)
				: is_timeline(folder->names[i]->d_name) && own_export_file(path);
		/* Exports may be in any folder. */
		if (own == walk->import->own || (walk->import->own && directory))
			continue;
		if (own)
			own_export_leave(&walk->own, path);
		if ((own && see(walk, path)) || !map_put(&folder->own, (uint64_t)i, 1))
			return -ENOMEM;
	}
	return 0;
}

static int walk_folder(struct directory_walk *walk, const char *path, const struct folder *outer,
		       bool second)
{
	struct import_identities own = { 0 };
	struct folder folder = { .path = path,
				 .depth = outer ? outer->depth + 1 : 0,
				 .second = second,
				 .inside_own = walk->import->own && outer &&
					       (outer->inside_own || own_export_folder(path)),
				 .result = { .first_device = walk->import->model->devices.count,
					     .first_task = walk->import->model->tasks.count } };
	uint32_t tasks = walk->import->model->tasks.count;
	char name[NAME_MAX + 1];
	bool found = false;
	int err;

	folder.count = scandir(path, &folder.names, is_visible, versionsort);
	if (folder.count < 0)
		return errno == ENOMEM ? -ENOMEM
				       : import_finding(walk->import, strerror(errno), path);
	directory_name(path, name, sizeof(name));
	if (outer && (outer->result.shared || second))
		folder.result = outer->result;
	else if (walk->is_result && walk->is_result(name))
		folder.result.shared = &own;
	err = find_own(walk, &folder);
	if (!err && walk->exports)
		err = exports_find_old(path, folder.names, folder.count, &folder.old);
	if (!err)
		err = take_files(walk, &folder, &found);
	if (!err && folder.inside_own == walk->import->own)
		err = take_data_profile(walk, path);
	/* Files without tasks may be beside folders with tasks. */
	if (!err && found && walk->import->model->tasks.count > tasks)
		err = leave_folders(walk, &folder);
	else if (!err && folder.depth < DEPTH_MAX)
		err = take_folders(walk, &folder);
	if (!err && walk->done)
		err = walk->done(walk, path, folder.result.first_device);
	for (int i = 0; i < folder.count; i++)
		free(folder.names[i]);
	free(folder.names);
	map_free(&folder.old);
	map_free(&folder.own);
	map_free(&folder.unknown);
	import_identities_free(&own);
	return err;
}

int directory_take(struct directory_walk *walk, const char *path)
{
	int err;

	walk->lines.import = walk->import;
	err = walk_folder(walk, path, NULL, false);

	return !err && walk->imported ? own_export_tell(&walk->own, walk->import) : err;
}
