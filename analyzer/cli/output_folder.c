/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/output_folder.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDERS_OPEN 8 /* limit of descriptors while removing */

static int fail(int err, const char *path, char *error, size_t error_size)
{
	if (err == ENOTEMPTY || err == EEXIST)
		snprintf(error, error_size,
			 "cannot write %s: it exists already; remove it or give another folder",
			 path);
	else
		snprintf(error, error_size, "cannot write %s: %s", path, strerror(err));
	return -err;
}

static int check_wanted(const char *path, char *error, size_t error_size)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return 0;
	if (!S_ISDIR(status.st_mode))
		return fail(EEXIST, path, error, error_size);
	/* Removes only an empty folder; the rename creates it again. */
	return rmdir(path) == 0 ? 0 : fail(errno, path, error, error_size);
}

/* mkdtemp() makes folders private; the output gets the usual mode. */
static void give_usual_mode(const char *path)
{
	mode_t mask = umask(0);

	umask(mask);
	if (chmod(path, 0777 & ~mask) != 0)
		return; /* a private folder is the safe result */
}

/* Creates the missing parents of @path; records the length of the first created one. */
static int make_parents(struct output_folder *folder, char *path)
{
	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		int err = 0;

		*at = '\0';
		if (mkdir(path, 0777) == 0)
			folder->made = folder->made ? folder->made : (size_t)(at - path);
		else if (errno != EEXIST)
			err = errno;
		*at = '/';
		if (err)
			return err;
	}
	return 0;
}

/* Removes only parents that were created here, and only if empty. */
static void remove_parents(const struct output_folder *folder)
{
	char *path = folder->made ? strdup(folder->path) : NULL, *slash;

	while (path && (slash = strrchr(path, '/')) && (size_t)(slash - path) >= folder->made) {
		*slash = '\0';
		if (slash[1] && rmdir(path) != 0)
			break;
	}
	free(path);
}

int output_folder_begin(struct output_folder *folder, const char *path, char *error,
			size_t error_size)
{
	char trimmed[PATH_MAX];
	size_t length = strlen(path);
	sigset_t block;
	int err;

	*folder = (struct output_folder){ .path = path };
	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigaddset(&block, SIGHUP);
	sigprocmask(SIG_BLOCK, &block, &folder->signals);
	while (length > 1 && path[length - 1] == '/')
		length--;
	if (length >= sizeof(trimmed))
		return fail(ENAMETOOLONG, path, error, error_size);
	snprintf(trimmed, sizeof(trimmed), "%.*s", (int)length, path);
	err = make_parents(folder, trimmed);
	if (err)
		return fail(err, path, error, error_size);
	err = check_wanted(trimmed, error, error_size);
	if (err)
		return err;
	if (asprintf(&folder->temporary, "%s.XXXXXX", trimmed) < 0) {
		folder->temporary = NULL;
		return fail(ENOMEM, path, error, error_size);
	}
	if (!mkdtemp(folder->temporary)) {
		err = errno;
		free(folder->temporary);
		folder->temporary = NULL;
		return fail(err, path, error, error_size);
	}
	give_usual_mode(folder->temporary);
	return 0;
}

int output_folder_mark(const struct output_folder *folder, const char *name, char *error, size_t error_size)
{
	char *path;
	FILE *file;
	int err = 0;

	if (asprintf(&path, "%s/%s", folder->temporary, name) < 0)
		return fail(ENOMEM, folder->path, error, error_size);
	file = fopen(path, "w");
	if (!file || fclose(file) != 0)
		err = errno;
	free(path);
	return err ? fail(err, folder->path, error, error_size) : 0;
}

int output_folder_commit(struct output_folder *folder, char *error, size_t error_size)
{
	if (rename(folder->temporary, folder->path) != 0)
		return fail(errno, folder->path, error, error_size);
	free(folder->temporary);
	folder->temporary = NULL;
	folder->made = 0;
	return 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	return remove(path) != 0 && errno != ENOENT ? -1 : 0;
}

void output_folder_end(struct output_folder *folder)
{
	if (folder->temporary)
		nftw(folder->temporary, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
	free(folder->temporary);
	folder->temporary = NULL;
	remove_parents(folder);
	sigprocmask(SIG_SETMASK, &folder->signals, NULL);
}
