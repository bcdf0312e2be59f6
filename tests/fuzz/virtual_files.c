/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/virtual_files.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/import/readers/input_file.h"

#define FOLDERS_OPEN 16

struct file {
	const char *path;
	struct input bytes;
};

/* An open folder. */
struct reading {
	bool open;
	char path[256];
	unsigned int next; /* file */
	struct dirent entry;
};

static struct file files[VIRTUAL_FILES_MAX];
static unsigned int file_count;
static const char *given_folder; /* exists even without files */
static size_t part_size;
static struct reading readings[FOLDERS_OPEN];

/* The C library's functions, as renamed by the linker. */
int __real_stat(const char *path, struct stat *status);
int __real_access(const char *path, int mode);
FILE *__real_fopen(const char *path, const char *mode);
DIR *__real_opendir(const char *path);
struct dirent *__real_readdir(DIR *folder);
int __real_closedir(DIR *folder);
long __real_sysconf(int name);
int __wrap_stat(const char *path, struct stat *status);
int __wrap_access(const char *path, int mode);
FILE *__wrap_fopen(const char *path, const char *mode);
DIR *__wrap_opendir(const char *path);
struct dirent *__wrap_readdir(DIR *folder);
void __wrap_rewinddir(DIR *folder);
int __wrap_closedir(DIR *folder);
int __wrap_scandir(const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
		   int (*order)(const struct dirent **, const struct dirent **));
int __wrap_glob(const char *pattern, int flags, int (*failed)(const char *, int), glob_t *found);
void __wrap_globfree(glob_t *found);
ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned int flags);
long __wrap_sysconf(int name);

void virtual_files_clear(const char *folder, size_t part)
{
	given_folder = folder;
	file_count = 0;
	part_size = part;
}

static struct file *find_file(const char *path)
{
	for (unsigned int i = 0; i < file_count; i++)
		if (strcmp(files[i].path, path) == 0)
			return &files[i];
	return NULL;
}

void virtual_files_put(const char *path, struct input bytes)
{
	struct file *file = find_file(path);

	if (!file) {
		check(file_count < VIRTUAL_FILES_MAX);
		file = &files[file_count++];
	}
	*file = (struct file){ path, bytes };
}

static bool is_virtual(const char *path)
{
	return strncmp(path, VIRTUAL_ROOT, sizeof(VIRTUAL_ROOT) - 1) == 0;
}

/* Returns the part of @path below @folder; NULL if @path is not below it. */
static const char *below(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

static bool is_folder(const char *path)
{
	for (unsigned int i = 0; i < file_count; i++)
		if (below(files[i].path, path))
			return true;
	return given_folder && strcmp(path, given_folder) == 0;
}

int __wrap_stat(const char *path, struct stat *status)
{
	const struct file *file;

	if (!is_virtual(path))
		return __real_stat(path, status);
	file = find_file(path);
	memset(status, 0, sizeof(*status));
	status->st_mode = file ? S_IFREG | 0600 : S_IFDIR | 0700;
	status->st_size = file ? (off_t)file->bytes.size : 0;
	if (file || is_folder(path))
		return 0;
	errno = ENOENT;
	return -1;
}

int __wrap_access(const char *path, int mode)
{
	if (!is_virtual(path))
		return __real_access(path, mode);
	if (find_file(path) || is_folder(path))
		return 0;
	errno = ENOENT;
	return -1;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	const struct file *file;

	if (!is_virtual(path))
		return __real_fopen(path, mode);
	file = find_file(path);
	if (file)
		return fmemopen((void *)file->bytes.data, file->bytes.size, "r");
	errno = ENOENT;
	return NULL;
}

/* Sets *@name to the entry of @folder on the path to a file. Returns its length; 0 if an earlier file has it, too. */
static size_t name_in(const char *folder, unsigned int file, const char **name)
{
	size_t length;

	*name = below(files[file].path, folder);
	if (!*name)
		return 0;
	length = strcspn(*name, "/");
	for (unsigned int i = 0; i < file; i++) {
		const char *other = below(files[i].path, folder);

		if (other && strcspn(other, "/") == length && strncmp(other, *name, length) == 0)
			return 0;
	}
	return length;
}

static void set_entry(struct dirent *entry, const char *name, size_t length)
{
	entry->d_type = name[length] == '/' ? DT_DIR : DT_REG;
	memcpy(entry->d_name, name, length);
	entry->d_name[length] = '\0';
}

static struct reading *reading_of(DIR *folder)
{
	struct reading *reading = (struct reading *)folder;

	return reading >= readings && reading < readings + FOLDERS_OPEN ? reading : NULL;
}

DIR *__wrap_opendir(const char *path)
{
	unsigned int i = 0;

	if (!is_virtual(path))
		return __real_opendir(path);
	if (find_file(path) || !is_folder(path)) {
		errno = find_file(path) ? ENOTDIR : ENOENT;
		return NULL;
	}
	while (i < FOLDERS_OPEN && readings[i].open)
		i++;
	check(i < FOLDERS_OPEN && strlen(path) < sizeof(readings[i].path));
	strcpy(readings[i].path, path);
	readings[i].open = true;
	readings[i].next = 0;
	return (DIR *)&readings[i];
}

struct dirent *__wrap_readdir(DIR *folder)
{
	struct reading *reading = reading_of(folder);
	const char *name;

	if (!reading)
		return __real_readdir(folder);
	while (reading->next < file_count) {
		size_t length = name_in(reading->path, reading->next++, &name);

		if (!length)
			continue;
		set_entry(&reading->entry, name, length);
		return &reading->entry;
	}
	return NULL;
}

void __wrap_rewinddir(DIR *folder)
{
	struct reading *reading = reading_of(folder);

	check(reading != NULL);
	reading->next = 0;
}

int __wrap_closedir(DIR *folder)
{
	struct reading *reading = reading_of(folder);

	if (!reading)
		return __real_closedir(folder);
	reading->open = false;
	return 0;
}

/* Returns a copy of the least size, so that reads beyond the name are detected. */
static struct dirent *copy_entry(const struct dirent *entry)
{
	size_t size = offsetof(struct dirent, d_name) + strlen(entry->d_name) + 1;
	struct dirent *copy = malloc(size);

	check(copy != NULL);
	memcpy(copy, entry, size);
	return copy;
}

int __wrap_scandir(const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
		   int (*order)(const struct dirent **, const struct dirent **))
{
	DIR *folder = __wrap_opendir(path);
	const struct dirent *entry;
	int count = 0;

	if (!folder)
		return -1;
	*names = malloc(VIRTUAL_FILES_MAX * sizeof(**names));
	check(is_virtual(path) && *names);
	while ((entry = __wrap_readdir(folder)))
		if (!filter || filter(entry))
			(*names)[count++] = copy_entry(entry);
	if (order)
		qsort(*names, (size_t)count, sizeof(**names),
		      (int (*)(const void *, const void *))order);
	__wrap_closedir(folder);
	return count;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Finds files in the virtual folders only, where importers look. */
int __wrap_glob(const char *pattern, int flags, int (*failed)(const char *, int), glob_t *found)
{
	*found = (glob_t){ 0 };
	for (unsigned int i = 0; i < file_count; i++) {
		if (fnmatch(pattern, files[i].path, FNM_PATHNAME | FNM_PERIOD) != 0)
			continue;
		if (!found->gl_pathv)
			found->gl_pathv = malloc(VIRTUAL_FILES_MAX * sizeof(*found->gl_pathv));
		check(found->gl_pathv != NULL);
		found->gl_pathv[found->gl_pathc] = strdup(files[i].path);
		check(found->gl_pathv[found->gl_pathc++] != NULL);
	}
	if (!found->gl_pathc)
		return GLOB_NOMATCH;
	qsort(found->gl_pathv, found->gl_pathc, sizeof(*found->gl_pathv), by_name);
	return 0;
}

void __wrap_globfree(glob_t *found)
{
	for (size_t i = 0; i < found->gl_pathc; i++)
		free(found->gl_pathv[i]);
	free(found->gl_pathv);
	*found = (glob_t){ 0 };
}

ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned int flags)
{
	memset(bytes, 0x5a, size);
	return (ssize_t)size;
}

long __wrap_sysconf(int name)
{
	static long pages;

	if (name != _SC_PHYS_PAGES)
		return __real_sysconf(name);
	if (!pages)
		pages = __real_sysconf(name);
	return pages;
}

int input_file_open(struct input_file *file, const char *path, char *error, size_t error_size)
{
	const struct file *found = find_file(path);

	/* The pointer identifies the file, the number is the position in it. */
	*file = (struct input_file){ .packed = (gzFile)found, .open = found, .part = part_size };
	if (found)
		return 0;
	snprintf(error, error_size, "%s", strerror(ENOENT));
	return -ENOENT;
}

size_t input_file_part(const struct input_file *file)
{
	return file->part;
}

int input_file_read(struct input_file *file, void *bytes, size_t size, char *error,
		    size_t error_size)
{
	const struct file *from = (const struct file *)file->packed;
	size_t left = from->bytes.size - (size_t)file->fd;

	if (size > left)
		size = left;
	if (size)
		memcpy(bytes, from->bytes.data + file->fd, size);
	file->fd += (int)size;
	return (int)size;
}

void input_file_close(struct input_file *file)
{
	*file = (struct input_file){ 0 };
}
