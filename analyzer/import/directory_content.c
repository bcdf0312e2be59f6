/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/directory_content.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "analyzer/import/amd/rocprof_csv.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/left_files.h"

#define DEPTH_MAX 6
#define FOLDERS_MAX 1000
#define FILES_MAX 4096
#define COMPARED (64u << 10) /* bytes of two files compared at a time */

struct search {
	struct import *import;
	const struct directory_walk *walk;
	unsigned int folders, files; /* number of folders and files that were read */
	unsigned int taken;
	struct own_exports own; /* skipped exports */
	struct left_files left;
};

/* What tells most files from each other without a second look. */
struct file_facts {
	dev_t disk;
	ino_t number;
	off_t size;
	uLong begin; /* checksum of the first COMPARED bytes */
	bool known;
};

/* A folder's entries, in the order of their names. */
struct listing {
	const char *path;
	struct dirent **names;
	const struct importer **importers; /* by name; NULL = unknown format */
	struct file_facts *facts; /* by name, of the files that take_files() has come to */
	int count;
	bool *done; /* by name: imported before this search */
	const char *result; /* the folder of the result that contains it; NULL = none */
	bool inside_own; /* a folder that profbpf exported */
};

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static bool path_of(const struct listing *of, int at, char *path)
{
	return snprintf(path, PATH_MAX, "%s/%s", of->path, of->names[at]->d_name) < PATH_MAX;
}

/* Notes a file that the search by names has seen. */
static void note_seen(const struct search *search, struct listing *of, int at, const char *path)
{
	uint32_t row = import_before(search->import->model, path);

	of->done[at] = row != INDEX_NONE;
	of->importers[at] = of->done[at] ? import_of_format(search->import->model, row) : NULL;
}

/* Finds the format of each file. Files that are not regular are not opened. */
static int find_formats(struct search *search, struct listing *of)
{
	char path[PATH_MAX], error[512];
	struct stat status;
	int err = 0;

	for (int i = 0; i < of->count && !err; i++) {
		if (!path_of(of, i, path) || stat(path, &status) != 0 || !S_ISREG(status.st_mode))
			continue;
		if (directory_was_seen(search->walk, path)) {
			note_seen(search, of, i, path);
			continue;
		}
		if (search->files++ >= FILES_MAX)
			return left_too_many(&search->left, path);
		if ((of->inside_own || own_export_file(path)) != search->import->own) {
			/* Other files were read before the exports. */
			if (!search->import->own)
				own_export_leave(&search->own, path);
			continue;
		}
		err = import_find(path, &of->importers[i], error, sizeof(error));
		if (!err && !of->importers[i])
			err = left_is_helper(of->names[i]->d_name)
				      ? import_finding(search->import,
						       "files of settings, clocks or names: read where "
						       "other files need them",
						       of->names[i]->d_name)
				      : left_unknown(&search->left, path);
		else if (err && err != -ENOMEM)
			err = import_damage(search->import, "a file was not taken in", error);
	}
	return err;
}

/* The format of which files are imported: that of the files that were imported by their names, else the best. */
static const struct importer *best_of(const struct listing *of)
{
	const struct importer *best = NULL;

	for (int i = 0; i < of->count; i++) {
		if (of->done[i] && of->importers[i])
			return of->importers[i];
	}
	for (int i = 0; i < of->count; i++) {
		if (of->importers[i] &&
		    (!best || import_preference(of->importers[i]) < import_preference(best)))
			best = of->importers[i];
	}
	return best;
}

/* "results.db" and "results.json" belong to one run. */
static bool same_stem(const char *a, const char *b)
{
	size_t length = strcspn(a, ".");

	return length == strcspn(b, ".") && strncmp(a, b, length) == 0;
}

/* Do both files have the same bytes? They are of equal size. */
static bool have_same_bytes(const char *a, const char *b)
{
	static char left[COMPARED], right[COMPARED];
	FILE *x = fopen(a, "re"), *y = fopen(b, "re");
	bool same = x && y;
	size_t length = 1;

	while (same && length) {
		length = fread(left, 1, sizeof(left), x);
		same = fread(right, 1, sizeof(right), y) == length && memcmp(left, right, length) == 0;
	}
	if (x)
		fclose(x);
	if (y)
		fclose(y);
	return same;
}

static struct file_facts facts_of(const char *path)
{
	static unsigned char bytes[COMPARED];
	struct file_facts facts = { 0 };
	FILE *file = fopen(path, "re");
	struct stat status;

	if (!file)
		return facts;
	if (fstat(fileno(file), &status) == 0)
		facts = (struct file_facts){
			.disk = status.st_dev,
			.number = status.st_ino,
			.size = status.st_size,
			.begin = crc32(0, bytes, (uInt)fread(bytes, 1, sizeof(bytes), file)),
			.known = true,
		};
	fclose(file);
	return facts;
}

/* An earlier file of the folder that is the same: a link to it, or a copy. -1 = none. */
static int same_file(const struct listing *of, int at, const char *path)
{
	const struct file_facts *own = &of->facts[at];
	char earlier[PATH_MAX];

	of->facts[at] = facts_of(path);
	for (int i = 0; i < of->count && own->known; i++) {
		const struct file_facts *other = &of->facts[i];

		if (i == at || (i > at && !of->done[i]))
			continue;

		if (other->known && of->importers[i] == of->importers[at] && own->size == other->size &&
		    own->begin == other->begin && path_of(of, i, earlier) &&
		    ((own->number == other->number && own->disk == other->disk) ||
		     have_same_bytes(earlier, path)))
			return i;
	}
	return -1;
}

static bool is_repeated(const struct listing *of, int at)
{
	for (int i = 0; i < of->count; i++) {
		if ((i < at || (of->done[i] && i != at)) &&
		    of->importers[i] == of->importers[at] &&
		    same_stem(of->names[i]->d_name, of->names[at]->d_name))
			return true;
	}
	return false;
}

/* Tables of one run describe the same devices; other files of a folder are one rank each. */
static bool is_of_one_run(const struct importer *importer)
{
	return importer == &import_rocprof_csv || importer == &import_ascend_csv;
}

static int take(struct search *search, const char *path, const struct importer *importer,
		const struct import_result *result)
{
	struct import *import = search->import;
	char error[512];
	int err = is_of_one_run(importer)
			  ? import_part(import, path, result, false, error, sizeof(error))
			  : import_as(importer, import->model, path, import->alone, error,
				      sizeof(error));

	search->taken += err == 0;
	return err && err != -ENOMEM ? import_damage(import, "a file was not taken in", error)
				     : err;
}

static int leave_same(struct search *search, const char *path, const char *name)
{
	char words[NAME_MAX + 64];

	snprintf(words, sizeof(words), "left out: the same as %s", name);
	return left_file(&search->left, path, words);
}

/* A file that was given itself before its folder, or is a link to one of another folder. It is there: all is well. */
static int leave_given(struct search *search, const char *path)
{
	search->taken++;
	return left_file(&search->left, path, "given more than once: counted once");
}

/* Has the work of the folder's result been imported? */
static bool is_covered(const struct search *search, const struct listing *of)
{
	const struct model *model = search->import->model;
	const char *folder = of->result ? of->result : of->path;
	size_t length = strlen(folder);

	for (uint32_t i = search->import->file + 1;
	     i < model->imports.count && (of->result || search->walk->certain); i++) {
		const char *path = model_text(model, model->imports.row[i].path);

		if (model->imports.row[i].tasks && strncmp(path, folder, length) == 0 &&
		    path[length] == '/')
			return true;
	}
	return false;
}

/* Is the file a table that is read with the trace of kernels beside it? */
static bool is_read_with(const struct listing *of, int at)
{
	for (int i = 0; i < of->count && of->importers[at] == &import_rocprof_csv; i++) {
		if (i != at && rocprof_csv_reads(of->names[i]->d_name, of->names[at]->d_name))
			return true;
	}
	return false;
}

static int take_files(struct search *search, struct listing *of)
{
	struct import_identities own = { 0 };
	const struct import_result result = { .shared = &own,
					      .first_device = search->import->model->devices.count,
					      .first_task = search->import->model->tasks.count };
	const struct importer *best = best_of(of);
	bool covered = is_covered(search, of);
	char path[PATH_MAX];
	int err = 0, same;

	for (int i = 0; i < of->count; i++) {
		if (of->done[i] && path_of(of, i, path))
			of->facts[i] = facts_of(path);
	}
	for (int i = 0; i < of->count && !err; i++) {
		if (!of->importers[i] || of->done[i] || !path_of(of, i, path))
			continue;
		if (is_read_with(of, i)) {
			err = import_finding(search->import,
					     "tables read with the trace of kernels beside them",
					     of->names[i]->d_name);
			continue;
		}
		same = of->importers[i] == best ? same_file(of, i, path) : -1;
		if (same >= 0)
			err = leave_same(search, path, of->names[same]->d_name);
		else if (covered || of->importers[i] != best || is_repeated(of, i))
			err = left_file(&search->left, path,
					"left out: a file beside it may have the same");
		else if (import_before(search->import->model, path) != INDEX_NONE)
			err = leave_given(search, path);
		else
			err = take(search, path, best, &result);
	}
	import_identities_free(&own);
	return err;
}

/* The folder of the result that contains folder @path; @outer is that of the folder around it. */
static const char *result_of(const struct search *search, const char *path, const char *outer)
{
	char name[NAME_MAX + 1];

	if (outer || !search->walk->is_result)
		return outer;
	directory_name(path, name, sizeof(name));
	return search->walk->is_result(name) ? path : NULL;
}

static int search_folder(struct search *search, const char *path, unsigned int depth,
			 bool inside_own, const char *result)
{
	struct listing of = { .path = path,
			      .inside_own = inside_own,
			      .result = result_of(search, path, result) };
	char inner[PATH_MAX];
	struct stat status;
	int err;

	if (depth > DEPTH_MAX || search->folders++ >= FOLDERS_MAX)
		return left_too_many(&search->left, path);
	of.count = scandir(path, &of.names, is_visible, versionsort);
	if (of.count < 0)
		return errno == ENOMEM ? -ENOMEM
				       : import_finding(search->import, strerror(errno), path);
	of.importers = calloc((size_t)of.count + 1, sizeof(*of.importers));
	of.facts = calloc((size_t)of.count + 1, sizeof(*of.facts));
	of.done = calloc((size_t)of.count + 1, sizeof(*of.done));
	err = of.importers && of.facts && of.done ? find_formats(search, &of) : -ENOMEM;
	if (!err)
		err = take_files(search, &of);
	for (int i = 0; i < of.count && !err; i++) {
		/* Symbolic links are not followed: they may form a loop. */
		if (!path_of(&of, i, inner) || lstat(inner, &status) != 0 || !S_ISDIR(status.st_mode) ||
		    directory_was_seen(search->walk, inner))
			continue;
		if (!search->import->own && own_export_folder(inner))
			own_export_leave(&search->own, inner);
		else
			err = search_folder(search, inner, depth + 1,
					    inside_own || own_export_folder(inner), of.result);
	}
	for (int i = 0; i < of.count; i++)
		free(of.names[i]);
	free(of.names);
	free(of.importers);
	free(of.facts);
	free(of.done);
	return err;
}

int directory_take_content(struct import *import, const struct directory_walk *walk)
{
	struct search search = { .import = import, .walk = walk, .left = { .import = import } };
	int err = search_folder(&search, import->path, 0, false, NULL);

	if (!err && search.taken)
		err = own_export_tell(&search.own, import);
	if (err || search.taken)
		return err;
	if (search.own.count)
		return -ENODATA;
	return import_fail(
		import, -EBADMSG,
		"none of the %u files in it is a device file that can be read; `analyzer "
		"info --help` lists the formats",
		search.files);
}
