/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/left_files.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>

#include "analyzer/import/unknown_file.h"

#define SAID_MAX 100

bool left_is_helper(const char *name)
{
	static const char *const NAMES[] = {
		"profiler_info*.json", "profiler_metadata*.json", "info.json*", "sample.json*",
		"start_info*", "end_info*", "host_start.log*", "dev_start.log*", "*.done",
		"framework_raw_*.csv", "aicpu_intermediate_*.csv", "flops_[0-9]*.txt",
		"Framework.host.vm.task_desc_info.*", "pipeline_profiling_*.json",
		"minddata_cpu_utilization_*.json", "minddata_aicpu_*.txt",
		"minddata_getnext_profiling_*.txt", "dataset_iterator_profiling_*.txt",
		"device_queue_profiling_*.txt", "*agent_info.csv",
	};

	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
		if (fnmatch(NAMES[i], name, 0) == 0)
			return true;
	}
	return false;
}

int left_too_many(struct left_files *left, const char *path)
{
	if (left->told)
		return 0;
	left->told = true;
	return import_finding(left->import, "more files and folders than are looked into", path);
}

int left_file(struct left_files *left, const char *path, const char *why)
{
	char words[PATH_MAX + 512];

	if (left->said++ >= SAID_MAX)
		return import_finding(left->import, "more files that were left out", path);
	snprintf(words, sizeof(words), "%s: %s", path, why);
	return import_finding(left->import, words, NULL);
}

static void say_unknown(const char *path, char *words, size_t size)
{
	static const char UNKNOWN[] = "no device file of a known format";
	char why[320];

	if (unknown_file_why(path, why, sizeof(why)))
		snprintf(words, size, "%s: %s", UNKNOWN, why);
	else
		snprintf(words, size, "%s", UNKNOWN);
}

int left_unknown(struct left_files *left, const char *path)
{
	char words[384];

	say_unknown(path, words, sizeof(words));
	return left_file(left, path, words);
}

int left_damaged(struct left_files *left, const char *path)
{
	char why[384], words[PATH_MAX + sizeof(why)];

	say_unknown(path, why, sizeof(why));
	snprintf(words, sizeof(words), "%s: %s", path, why);
	return import_damage(left->import, "a file was not taken in", words);
}
