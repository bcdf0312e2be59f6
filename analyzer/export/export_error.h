/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_error.h - error messages of exports.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_EXPORT_ERROR_H
#define PROFBPF_ANALYZER_EXPORT_EXPORT_ERROR_H

#include <stddef.h>

/* export_explain - @error (a negative errno) on @path, in words, with the remedy */
void export_explain(int error, const char *path, char *text, size_t size);

#endif /* PROFBPF_ANALYZER_EXPORT_EXPORT_ERROR_H */
