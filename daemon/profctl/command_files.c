/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/command_files.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/profctl/dynamic_loader.h"

#define SCRIPT_DEPTH_MAX 5 /* interpreters that are scripts themselves; the kernel's own limit */
#define FILES_MAX (CONTROL_FDS_MAX - 1) /* the output goes with them */
#define HEAD_MAX 256 /* bytes of a script's first line that the kernel reads */

static int try_command(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || access(path, X_OK))
		return -EACCES;
	return 0;
}

/* Like execvp: searches PATH for a command without a slash. */
static int find_command(const char *command, char *path, size_t size)
{
	const char *search = getenv("PATH");
	int best = -ENOENT;

	if (strchr(command, '/')) {
		if ((size_t)snprintf(path, size, "%s", command) >= size)
			return -ENAMETOOLONG;
		return try_command(path);
	}
	if (!*command)
		return -ENOENT;
	if (!search)
		search = "/bin:/usr/bin";
	for (const char *p = search;; p++) {
		size_t length = strcspn(p, ":");
		int err = -ENOENT;

		if ((size_t)snprintf(path, size, "%.*s%s%s", (int)length, p, length ? "/" : "./",
				     command) < size)
			err = try_command(path);
		if (!err)
			return 0;
		if (err == -EACCES)
			best = err;
		p += length;
		if (!*p)
			return best;
	}
}

static void keep(struct control_fds *files, int fd)
{
	if (files->count < FILES_MAX)
		files->fd[files->count++] = fd;
	else
		close(fd);
}

/* The interpreter that the first line of a script names; false if there is none. */
static bool read_interpreter(const char *head, ssize_t size, char *path)
{
	const char *start = head + 2, *end;

	if (size < 3 || head[0] != '#' || head[1] != '!')
		return false;
	start += strspn(start, " \t");
	end = start + strcspn(start, " \t\r\n");
	memcpy(path, start, (size_t)(end - start));
	path[end - start] = '\0';
	return end > start;
}

/* The program loader that an ELF executable names; false if it is static or not ours to read. */
static bool read_loader(int fd, char *path, size_t size)
{
	Elf64_Ehdr header;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_phentsize != sizeof(Elf64_Phdr))
		return false;
	for (unsigned int i = 0; i < header.e_phnum; i++) {
		off_t at = (off_t)(header.e_phoff + i * sizeof(Elf64_Phdr));
		Elf64_Phdr segment;

		if (at < 0 || pread(fd, &segment, sizeof(segment), at) != sizeof(segment))
			return false;
		if (segment.p_type != PT_INTERP)
			continue;
		if (segment.p_filesz < 2 || segment.p_filesz > size || (off_t)segment.p_offset < 0)
			return false;
		if (pread(fd, path, segment.p_filesz, (off_t)segment.p_offset) !=
		    (ssize_t)segment.p_filesz)
			return false;
		path[segment.p_filesz - 1] = '\0';
		return true;
	}
	return false;
}

/* Does a catalog expect functions in a library of this name? */
static bool is_hinted(const struct catalogs *catalogs, const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	for (size_t i = 0; catalogs && i < catalogs_count(catalogs); i++) {
		const struct catalog *catalog = catalogs_get(catalogs, i);

		for (size_t k = 0; k < catalog->library_count; k++) {
			const char *glob = catalog->libraries[k];

			if (!fnmatch(glob, *glob == '/' ? path : name, 0))
				return true;
		}
	}
	return false;
}

static void keep_libraries(const char *loader, const char *path, const struct catalogs *catalogs,
			   struct control_fds *files)
{
	struct words libraries = { 0 };

	loader_list(loader, path, &libraries);
	for (int hinted = 1; hinted >= 0; hinted--)
		for (size_t i = 0; i < libraries.count && files->count < FILES_MAX; i++) {
			int fd;

			if (is_hinted(catalogs, libraries.word[i]) != hinted)
				continue;
			fd = open(libraries.word[i], O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
			if (fd >= 0)
				keep(files, fd);
		}
	words_free(&libraries);
}

int command_files_open(const char *command, const struct catalogs *catalogs,
		       struct control_fds *files)
{
	char path[PATH_MAX], loader[PATH_MAX], head[HEAD_MAX + 1];
	int err = find_command(command, path, sizeof(path));

	for (int depth = 0; !err && depth <= SCRIPT_DEPTH_MAX; depth++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		ssize_t n;

		if (fd < 0)
			return 0;
		n = pread(fd, head, HEAD_MAX, 0);
		head[n > 0 ? n : 0] = '\0';
		if (read_interpreter(head, n, path)) {
			close(fd);
			continue;
		}
		keep(files, fd);
		if (read_loader(fd, loader, sizeof(loader)))
			keep_libraries(loader, path, catalogs, files);
		return 0;
	}
	return err;
}
