/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_folder.h - output folders that are either complete or not there.
 */
#ifndef PROFBPF_ANALYZER_CLI_OUTPUT_FOLDER_H
#define PROFBPF_ANALYZER_CLI_OUTPUT_FOLDER_H

#include <signal.h>
#include <stddef.h>

/*
 * Files are written into a folder with a temporary name beside the wanted one, which is
 * renamed when all are there. Between begin and end signals that end the program wait.
 */
struct output_folder {
	const char *path; /* wanted; not owned */
	char *temporary; /* where to write; owned */
	size_t made; /* length of the path of the first folder that was made for it to lie in; 0 = none was */
	sigset_t signals; /* as they were */
};

/*
 * output_folder_begin - make the temporary folder
 *
 * The wanted one may be there if it is empty; folders that it lies in are made. Returns 0, or a negative errno with @error
 * (of @error_size bytes), which names the path and says why and what to do.
 */
int output_folder_begin(struct output_folder *folder, const char *path, char *error,
			size_t error_size);

/* output_folder_mark - an empty file in it by which it is known for an export (import/own_export.h). As commit. */
int output_folder_mark(const struct output_folder *folder, const char *name, char *error, size_t error_size);

/* Make it visible under its name. Returns 0 or a negative errno with @error. */
int output_folder_commit(struct output_folder *folder, char *error, size_t error_size);

/* Remove what was not committed, and free. To be called once after begin, whatever it returned. */
void output_folder_end(struct output_folder *folder);

#endif /* PROFBPF_ANALYZER_CLI_OUTPUT_FOLDER_H */
