/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library_search.h - finds the files that a process would probably map if it loaded a library now. Used to place
 * probes before a dlopen; a miss loses a few calls at most, because files are also probed when they are
 * mapped.
 */
#ifndef PROFBPF_LIB_ELF_LIBRARY_SEARCH_H
#define PROFBPF_LIB_ELF_LIBRARY_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LIBRARY_SEARCH_MAX_FILES 4096

struct library_file {
	char *path; /* inside the root, absolute, as found (may end in a symbolic link) */
	dev_t dev; /* as fstat(2) tells them */
	ino_t inode;
};

struct library_files {
	struct library_file *file;
	size_t count;
};

/*
 * library_search - find files by glob in the standard places of a root
 *
 * @root_fd:      the root directory, for example an O_PATH descriptor of
 *                /proc/PID/root; symbolic links never lead out of it
 * @library_path: colon-separated directories searched first, as in
 *                LD_LIBRARY_PATH; relative entries and those with a $ are
 *                skipped; may be NULL
 * @globs:        @glob_count patterns (fnmatch): a file name (libOpenCL.so*) to
 *                look for in the directories, or an absolute path whose every
 *                component may be a pattern (/usr/local/cuda-1?/lib64/libcudart.so*)
 *
 * Directories: @library_path, those of etc/ld.so.conf and the files it includes,
 * and the usual ones (/lib64, /usr/lib64, /lib, /usr/lib, the multiarch ones,
 * /usr/local/lib). Regular files only, one entry per (dev, inode), at most
 * LIBRARY_SEARCH_MAX_FILES. Unreadable directories are skipped. Free the result
 * with library_files_free(). Returns 0, -ENOMEM, or -ENOSYS on a kernel without
 * openat2 (before 5.6).
 */
int library_search(int root_fd, const char *library_path, const char *const *globs,
		   size_t glob_count, struct library_files *found);
void library_files_free(struct library_files *files);

/*
 * library_open - open a found file for reading, inside its root
 *
 * Returns a close-on-exec descriptor (its /proc/self/fd/N serves where the
 * kernel wants a path) or a negative errno; -ESTALE if another file is there now.
 */
int library_open(int root_fd, const struct library_file *file);

#endif /* PROFBPF_LIB_ELF_LIBRARY_SEARCH_H */
