/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/virtual_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define PROC "/proc/" TEXT(VIRTUAL_PID)

struct file {
	char name[96];
	int fd;
	ino_t inode;
	size_t size; /* size of the file on the file system */
	struct input bytes; /* content that is not written yet, if any */
	bool waits, stays;
};

static char folder[64];
static struct file files[VIRTUAL_FILES];
static unsigned int file_count;

/* The C library's functions, as renamed by the linker. */
int __real_open(const char *path, int flags, ...);
FILE *__real_fopen(const char *path, const char *mode);
DIR *__real_opendir(const char *path);
int __real_stat(const char *path, struct stat *status);
int __wrap_open(const char *path, int flags, ...);
FILE *__wrap_fopen(const char *path, const char *mode);
DIR *__wrap_opendir(const char *path);
int __wrap_stat(const char *path, struct stat *status);

/* Returns the real path of @path. Paths outside the process stay unchanged, such as libFuzzer's own. */
static const char *place_of(const char *path, char place[PATH_MAX])
{
	size_t length = sizeof(PROC) - 1;

	if (strncmp(path, PROC, length) != 0 || (path[length] && path[length] != '/'))
		return path;
	check(snprintf(place, PATH_MAX, "%s%s", folder, path + length) < PATH_MAX);
	return place;
}

/* Writes a file to the file system; most files are only read as streams and need no system call. */
static void write_file(struct file *file)
{
	const struct input *bytes = &file->bytes;

	if (!file->waits)
		return;
	check(!bytes->size ||
	      pwrite(file->fd, bytes->data, bytes->size, 0) == (ssize_t)bytes->size);
	check(bytes->size >= file->size || !ftruncate(file->fd, (off_t)bytes->size));
	file->size = bytes->size;
	file->waits = false;
}

static struct file *find_file(const char *name)
{
	for (unsigned int i = 0; i < file_count; i++)
		if (strcmp(files[i].name, name) == 0)
			return &files[i];
	return NULL;
}

/* Returns the process's file with this path below /proc; NULL if there is none. */
static struct file *file_at(const char *path)
{
	size_t length = sizeof(PROC) - 1;

	return strncmp(path, PROC "/", length + 1) == 0 ? find_file(path + length + 1) : NULL;
}

/* Called before a file or folder is opened by a function that is not wrapped. */
static void write_files(const char *path)
{
	struct file *file = file_at(path);

	if (file) {
		write_file(file);
		return;
	}
	if (strncmp(path, PROC, sizeof(PROC) - 1) == 0 ||
	    strncmp(path, folder, strlen(folder)) == 0)
		for (unsigned int i = 0; i < file_count; i++)
			write_file(&files[i]);
}

int __wrap_open(const char *path, int flags, ...)
{
	char place[PATH_MAX];

	if (folder[0])
		write_files(path);
	return __real_open(place_of(path, place), flags, 0600);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	struct file *file = file_at(path);
	char place[PATH_MAX];

	if (file && file->waits && file->bytes.size)
		return fmemopen((void *)file->bytes.data, file->bytes.size, "r");
	if (file)
		write_file(file);
	return __real_fopen(place_of(path, place), mode);
}

DIR *__wrap_opendir(const char *path)
{
	char place[PATH_MAX];

	return __real_opendir(place_of(path, place));
}

int __wrap_stat(const char *path, struct stat *status)
{
	char place[PATH_MAX];

	if (folder[0])
		write_files(path);
	return __real_stat(place_of(path, place), status);
}

static int remove_one(const char *name, const struct stat *status, int type, struct FTW *where)
{
	return remove(name);
}

static void remove_folder(void)
{
	check(!nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS));
}

const char *virtual_process_folder(void)
{
	bool shared;

	if (folder[0])
		return folder;
	shared = !access("/dev/shm", W_OK);
	snprintf(folder, sizeof(folder), "%s/profbpf-fuzz.XXXXXX", shared ? "/dev/shm" : "/tmp");
	check(mkdtemp(folder) != NULL);
	atexit(remove_folder);
	return folder;
}

static struct file *make_file(const char *name)
{
	struct file *file = &files[file_count];
	char path[PATH_MAX], *slash;
	struct stat status;

	check(file_count++ < VIRTUAL_FILES && strlen(name) < sizeof(file->name));
	strcpy(file->name, name);
	snprintf(path, sizeof(path), "%s/%s", virtual_process_folder(), name);
	for (slash = path + strlen(folder); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	file->fd = __real_open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	check(file->fd >= 0 && !fstat(file->fd, &status));
	file->inode = status.st_ino;
	return file;
}

ino_t virtual_process_put(const char *name, struct input bytes)
{
	struct file *file = find_file(name);

	if (!file)
		file = make_file(name);
	file->bytes = bytes;
	file->waits = true;
	file->stays = false;
	return file->inode;
}

ino_t virtual_process_text(const char *name, const char *text)
{
	ino_t inode =
		virtual_process_put(name, (struct input){ (const uint8_t *)text, strlen(text) });

	find_file(name)->stays = true;
	return inode;
}

void virtual_process_clear(void)
{
	virtual_process_folder();
	for (unsigned int i = 0; i < file_count; i++) {
		if (files[i].stays)
			continue;
		files[i].bytes = (struct input){ 0 };
		files[i].waits = files[i].size > 0;
	}
}
