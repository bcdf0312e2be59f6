/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/library_search.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Bounds on what a hostile root can make us read. */
#define MAX_DIRECTORIES 512
#define MAX_ENTRIES 400000 /* directory entries looked at in all */
#define MAX_INCLUDE_DEPTH 4
#define MAX_INCLUDES \
	64 /* lines that include others, in all: a file may include itself many times */
#define MAX_CONF_FILES 256
#define MAX_CONF_SIZE (256u << 10) /* of all of them */

static const char *const usual_directories[] = {
	"/lib64",
	"/usr/lib64",
	"/lib",
	"/usr/lib",
	"/usr/local/lib",
	"/usr/local/lib64",
#if defined(__x86_64__)
	"/lib/x86_64-linux-gnu",
	"/usr/lib/x86_64-linux-gnu",
	"/usr/local/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
	"/lib/aarch64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu",
	"/usr/local/lib/aarch64-linux-gnu",
#endif
};

struct search {
	int root_fd;
	char **directory;
	size_t directory_count;
	size_t entries; /* looked at so far */
	size_t includes, conf_files, conf_size; /* likewise */
	struct library_files *found;
	size_t capacity;
};

/* Opens @path as a process with this root would see it. */
static int open_in_root(int root_fd, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

static int add_directory(struct search *search, const char *path, size_t length)
{
	char **grown, *copy;

	while (length > 1 && path[length - 1] == '/')
		length--;
	if (!length || path[0] != '/' || length >= PATH_MAX || memchr(path, '$', length) ||
	    search->directory_count == MAX_DIRECTORIES)
		return 0;
	for (size_t i = 0; i < search->directory_count; i++) {
		if (strlen(search->directory[i]) == length &&
		    memcmp(search->directory[i], path, length) == 0)
			return 0;
	}
	grown = reallocarray(search->directory, search->directory_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	search->directory = grown;
	copy = strndup(path, length);
	if (!copy)
		return -ENOMEM;
	grown[search->directory_count++] = copy;
	return 0;
}

static int add_library_path(struct search *search, const char *library_path)
{
	int err = 0;

	while (!err && library_path && *library_path) {
		size_t length = strcspn(library_path, ":;");

		err = add_directory(search, library_path, length);
		library_path += length;
		if (*library_path)
			library_path++;
	}
	return err;
}

static int add_file(struct search *search, const char *path, const struct stat *st)
{
	struct library_files *found = search->found;
	char *copy;

	for (size_t i = 0; i < found->count; i++) {
		if (found->file[i].dev == st->st_dev && found->file[i].inode == st->st_ino)
			return 0;
	}
	if (found->count == LIBRARY_SEARCH_MAX_FILES)
		return 0;
	if (found->count == search->capacity) {
		size_t capacity = search->capacity ? search->capacity * 2 : 16;
		void *grown = reallocarray(found->file, capacity, sizeof(*found->file));

		if (!grown)
			return -ENOMEM;
		found->file = grown;
		search->capacity = capacity;
	}
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	found->file[found->count++] = (struct library_file){ copy, st->st_dev, st->st_ino };
	return 0;
}

/* Adds the file at @path, if there is one. O_PATH: opening must have no effect. */
static int consider(struct search *search, const char *path)
{
	int fd = open_in_root(search->root_fd, path, O_PATH), err = 0;
	struct stat st;

	if (fd < 0)
		return fd == -ENOSYS || fd == -ENOMEM ? fd : 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		err = add_file(search, path, &st);
	close(fd);
	return err;
}

typedef int entry_visitor(struct search *search, const char *path, const void *context);

/*
 * Calls @visit with the path of each entry of @directory whose name matches
 * @glob. Unreadable directories count as empty.
 */
static int visit_matching(struct search *search, const char *directory, const char *glob,
			  entry_visitor *visit, const void *context)
{
	int fd = open_in_root(search->root_fd, directory, O_RDONLY | O_DIRECTORY), err = 0;
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (fd < 0)
		return fd == -ENOSYS || fd == -ENOMEM ? fd : 0;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while (!err && search->entries < MAX_ENTRIES && (entry = readdir(dir))) {
		search->entries++;
		if (fnmatch(glob, entry->d_name, FNM_PERIOD) != 0)
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", strcmp(directory, "/") ? directory : "",
			     entry->d_name) < (int)sizeof(path))
			err = visit(search, path, context);
	}
	closedir(dir);
	return err;
}

struct file_globs {
	const char *const *glob;
	size_t count;
};

static int visit_file(struct search *search, const char *path, const void *context)
{
	const char *name = strrchr(path, '/') + 1;
	const struct file_globs *globs = context;

	for (size_t i = 0; i < globs->count; i++) {
		if (globs->glob[i][0] != '/' && fnmatch(globs->glob[i], name, 0) == 0)
			return consider(search, path);
	}
	return 0;
}

/*
 * Walks down a pattern that is a whole path; @context is what is left of it.
 * Only components that are patterns need their directory to be read.
 */
static int visit_component(struct search *search, const char *path, const void *context)
{
	const char *rest = context;
	char component[NAME_MAX + 1], next[PATH_MAX];
	size_t length;

	rest += strspn(rest, "/");
	if (!*rest)
		return consider(search, path);
	length = strcspn(rest, "/");
	if (length > NAME_MAX)
		return 0;
	memcpy(component, rest, length);
	component[length] = 0;
	if (strpbrk(component, "*?[\\"))
		return visit_matching(search, path, component, visit_component, rest + length);
	if (snprintf(next, sizeof(next), "%s/%s", strcmp(path, "/") ? path : "", component) >=
	    (int)sizeof(next))
		return 0;
	return visit_component(search, next, rest + length);
}

/* Contents of a small text file, NUL-terminated; NULL if it cannot be read. */
static char *read_conf(struct search *search, const char *path)
{
	size_t size = 0, left = MAX_CONF_SIZE - search->conf_size;
	struct stat st;
	ssize_t n = 0;
	char *text;
	int fd;

	if (!left || search->conf_files++ >= MAX_CONF_FILES)
		return NULL;
	fd = open_in_root(search->root_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	text = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? malloc(left + 1) : NULL;
	while (text && size < left) {
		n = read(fd, text + size, left - size);
		if (n <= 0)
			break;
		size += n;
	}
	close(fd);
	if (text)
		text[size] = 0;
	search->conf_size += size;
	return text;
}

static int parse_conf(struct search *search, const char *path, int depth);

static int visit_conf(struct search *search, const char *path, const void *context)
{
	return parse_conf(search, path, *(const int *)context);
}

/* "include GLOB", relative to /etc; the last component may be a pattern */
static int parse_include(struct search *search, const char *glob, int depth)
{
	char path[PATH_MAX], *slash;
	int n = snprintf(path, sizeof(path), "%s%s", *glob == '/' ? "" : "/etc/", glob);

	if (n >= (int)sizeof(path) || depth == MAX_INCLUDE_DEPTH ||
	    search->includes++ >= MAX_INCLUDES)
		return 0;
	depth++;
	slash = strrchr(path, '/');
	*slash = 0;
	return visit_matching(search, slash == path ? "/" : path, slash + 1, visit_conf, &depth);
}

static int parse_conf(struct search *search, const char *path, int depth)
{
	char *text = read_conf(search, path), *save = NULL;
	int err = 0;

	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line && !err;
	     line = strtok_r(NULL, "\n", &save)) {
		line[strcspn(line, "#")] = 0;
		line += strspn(line, " \t");
		for (size_t i = strlen(line); i && strchr(" \t\r", line[i - 1]); i--)
			line[i - 1] = 0;
		if (strncmp(line, "include", 7) == 0 && strchr(" \t", line[7]) && line[7])
			err = parse_include(search, line + 7 + strspn(line + 7, " \t"), depth);
		else if (*line == '/')
			err = add_directory(search, line, strcspn(line, " \t=,:"));
	}
	free(text);
	return err;
}

static int search_globs(struct search *search, const char *const *globs, size_t glob_count)
{
	const struct file_globs names = { globs, glob_count };
	int err = 0;

	for (size_t i = 0; i < search->directory_count && !err; i++)
		err = visit_matching(search, search->directory[i], "*", visit_file, &names);
	for (size_t i = 0; i < glob_count && !err; i++) {
		if (globs[i][0] == '/')
			err = visit_component(search, "/", globs[i]);
	}
	return err;
}

int library_search(int root_fd, const char *library_path, const char *const *globs,
		   size_t glob_count, struct library_files *found)
{
	struct search search = { .root_fd = root_fd, .found = found };
	int err;

	*found = (struct library_files){ 0 };
	err = add_library_path(&search, library_path);
	if (!err)
		err = parse_conf(&search, "/etc/ld.so.conf", 0);
	for (size_t i = 0; i < sizeof(usual_directories) / sizeof(usual_directories[0]); i++) {
		const char *directory = usual_directories[i];

		if (!err)
			err = add_directory(&search, directory, strlen(directory));
	}
	if (!err)
		err = search_globs(&search, globs, glob_count);
	for (size_t i = 0; i < search.directory_count; i++)
		free(search.directory[i]);
	free(search.directory);
	if (err)
		library_files_free(found);
	return err;
}

void library_files_free(struct library_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->file[i].path);
	free(files->file);
	*files = (struct library_files){ 0 };
}

int library_open(int root_fd, const struct library_file *file)
{
	int fd = open_in_root(root_fd, file->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_dev == file->dev &&
	    st.st_ino == file->inode)
		return fd;
	close(fd);
	return -ESTALE;
}
