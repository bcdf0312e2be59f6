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
	size_t size;
};

static char folder[64];
static struct file files[VIRTUAL_FILES];
static unsigned int file_count;

/* What the linker makes of the C library's names. */
int __real_open(const char *path, int flags, ...);
FILE *__real_fopen(const char *path, const char *mode);
DIR *__real_opendir(const char *path);
int __real_stat(const char *path, struct stat *status);
int __wrap_open(const char *path, int flags, ...);
FILE *__wrap_fopen(const char *path, const char *mode);
DIR *__wrap_opendir(const char *path);
int __wrap_stat(const char *path, struct stat *status);

/* Where @path is really. Others than those of the process are as they are: libFuzzer's own, too. */
static const char *place_of(const char *path, char place[PATH_MAX])
{
	size_t length = sizeof(PROC) - 1;

	if (strncmp(path, PROC, length) != 0 || (path[length] && path[length] != '/'))
		return path;
	check(snprintf(place, PATH_MAX, "%s%s", folder, path + length) < PATH_MAX);
	return place;
}

int __wrap_open(const char *path, int flags, ...)
{
	char place[PATH_MAX];

	return __real_open(place_of(path, place), flags, 0600);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	char place[PATH_MAX];

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
	bool shared = !access("/dev/shm", W_OK);

	if (folder[0])
		return folder;
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
	struct file *file = NULL;

	for (unsigned int i = 0; i < file_count && !file; i++)
		if (strcmp(files[i].name, name) == 0)
			file = &files[i];
	if (!file)
		file = make_file(name);
	check(!bytes.size || pwrite(file->fd, bytes.data, bytes.size, 0) == (ssize_t)bytes.size);
	check(bytes.size >= file->size || !ftruncate(file->fd, (off_t)bytes.size));
	file->size = bytes.size;
	return file->inode;
}

ino_t virtual_process_text(const char *name, const char *text)
{
	return virtual_process_put(name, (struct input){ (const uint8_t *)text, strlen(text) });
}
