/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_folder.h - output folders that are either complete or absent.
 */
#ifndef PROFBPF_ANALYZER_CLI_OUTPUT_FOLDER_H
#define PROFBPF_ANALYZER_CLI_OUTPUT_FOLDER_H

#include <signal.h>
#include <stddef.h>

/*
 * Files are written into a folder with a temporary name beside the requested path, which is renamed
 * when they are complete. Signals that end the program are blocked between begin and end.
 */
struct output_folder {
	const char *path; /* requested path; not owned */
	char *temporary; /* path of the folder to write to; owned */
	size_t made; /* length of the path of the first parent folder that was created; 0 = none was */
	sigset_t signals; /* the signal mask before */
};

/*
 * output_folder_begin - create the temporary folder
 *
 * The requested folder may exist if it is empty; missing parent folders are created. Returns 0, or a negative errno
 * with @error (of @error_size bytes), which contains the path, the reason and a remedy.
 */
int output_folder_begin(struct output_folder *folder, const char *path, char *error,
			size_t error_size);

/* output_folder_mark - create the empty file that marks an export (import/own_export.h). Returns as commit. */
int output_folder_mark(const struct output_folder *folder, const char *name, char *error, size_t error_size);

/* Renames the folder to the requested path. Returns 0 or a negative errno with @error. */
int output_folder_commit(struct output_folder *folder, char *error, size_t error_size);

/* Removes an uncommitted folder, and frees. To be called once after begin, whatever begin returned. */
void output_folder_end(struct output_folder *folder);

#endif /* PROFBPF_ANALYZER_CLI_OUTPUT_FOLDER_H */
