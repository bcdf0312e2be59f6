/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - the trace in other tools' formats.
 *
 * Every writer gets the complete model (joined and indexed) and the analyses of
 * the devices (NULL when the trace has none), and writes one new file at @path,
 * which does not exist before: the caller takes care of the temporary name,
 * of renaming it when the writer succeeded and of removing it when not.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_EXPORT_H
#define PROFBPF_ANALYZER_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/model.h"

struct device_results;
struct device_step_results;

struct export_options {
	uint64_t start_ns; /* window; what lies outside is left out or cut */
	uint64_t end_ns;
	bool part; /* is that only a part of the trace? Then tables hold no rows of other times */
	const uint32_t *pids; /* only these processes; all if pid_count is 0 */
	uint32_t pid_count;
	const struct device_step_results *steps; /* of devices; NULL = none are shown */
	uint32_t scope_depth; /* levels of scopes that timelines show */
};

/*
 * Return 0 or a negative errno; then @error (of @error_size bytes) says what
 * failed and what to do.
 */
int write_perfetto(const struct model *model, const struct device_results *devices,
		   const char *path, const struct export_options *options, char *error,
		   size_t error_size);
int write_chrome(const struct model *model, const struct device_results *devices, const char *path,
		 const struct export_options *options, char *error, size_t error_size);

#endif /* PROFBPF_ANALYZER_EXPORT_EXPORT_H */
