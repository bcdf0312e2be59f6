/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/exports.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/import/importer.h"
#include "analyzer/model/model.h"

#define STAMP_DIGITS 14
#define SLICE "_slice_"
#define DEVICES_MAX 16 /* devices of an export that are compared */
#define EXPORTS_MAX 1024 /* exports of a folder that are compared; older ones are dropped */

/* From the first to the last task of a device. */
struct export_span {
	uint64_t from_ns;
	uint64_t to_ns; /* exclusive */
	uint32_t device; /* the file's number */
};

/* A file of an export. */
struct part {
	struct export_name name;
	int place;
};

/* The parts written by one export: index of the first, and count. */
struct export {
	int first;
	int count;
	struct export_span spans[DEVICES_MAX];
	int span_count;
	bool read;
	bool old;
};

/* Parts whose names differ only in stamp and slice, newest first. */
struct group {
	const char *folder;
	struct dirent **names;
	const struct part *part;
	int count;
	struct map slices; /* slice numbers of the newest export */
};

static bool is_kind(const char *name)
{
	static const char *const ENDS[] = { ".csv", ".csv.gz", ".csv.zst", ".json", ".json.gz", ".json.zst", ".db" };
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(ENDS) / sizeof(ENDS[0]); i++) {
		size_t end = strlen(ENDS[i]);

		if (length >= end && strcmp(name + length - end, ENDS[i]) == 0)
			return true;
	}
	return false;
}

/* The first run of exactly as many digits as a time stamp has; NULL if there is none. */
static const char *find_stamp(const char *name)
{
	while (*name) {
		size_t digits = strspn(name, "0123456789");

		if (digits == STAMP_DIGITS)
			return name;
		name += digits ? digits : 1;
	}
	return NULL;
}

static void cut(char *text, size_t at, size_t length)
{
	memmove(text + at, text + at + length, strlen(text + at + length) + 1);
}

/* A compressed table is an export of the same data as a plain one. */
static void cut_packing(char *name)
{
	char *dot = strrchr(name, '.');

	if (dot && (strcmp(dot, ".gz") == 0 || strcmp(dot, ".zst") == 0))
		*dot = '\0';
}

bool export_name_read(const char *name, struct export_name *of)
{
	const char *stamp = find_stamp(name);
	char *slice, *end;
	unsigned long number;

	if (!stamp || !is_kind(name) || strlen(name) >= sizeof(of->rest))
		return false;
	*of = (struct export_name){ .slice = UINT32_MAX };
	strcpy(of->rest, name);
	cut_packing(of->rest);
	of->stamp = strtoull(stamp, NULL, 10);
	cut(of->rest, (size_t)(stamp - name), STAMP_DIGITS);
	slice = strstr(of->rest, SLICE);
	if (!slice || !isdigit((unsigned char)slice[sizeof(SLICE) - 1]))
		return true;
	number = strtoul(slice + sizeof(SLICE) - 1, &end, 10);
	of->slice = number < UINT32_MAX - 1 ? (uint32_t)number : UINT32_MAX - 1;
	/* Wherever the slice number was, the rest equals that of an export without slices. */
	cut(of->rest, (size_t)(slice - of->rest), (size_t)(end - slice));
	return true;
}

/* Newest first; equal stamps in the folder's order. */
static int by_stamp(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	int order = strcmp(x->name.rest, y->name.rest);

	if (order)
		return order;
	if (x->name.stamp != y->name.stamp)
		return x->name.stamp > y->name.stamp ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void widen(struct export *export, uint32_t device, const struct device_task *task)
{
	uint64_t end = task->end_ns > task->start_ns ? task->end_ns : task->start_ns + 1;

	for (int i = 0; i < export->span_count; i++) {
		struct export_span *span = &export->spans[i];

		if (span->device != device)
			continue;
		span->from_ns = task->start_ns < span->from_ns ? task->start_ns : span->from_ns;
		span->to_ns = end > span->to_ns ? end : span->to_ns;
		return;
	}
	if (export->span_count < DEVICES_MAX)
		export->spans[export->span_count++] = (struct export_span){ task->start_ns, end, device };
}

static int read_part(const char *path, struct export *export)
{
	struct model *model;
	char ignored[512];
	struct stat status;
	int err;

	/* Folders are skipped: a folder may contain itself. */
	if (stat(path, &status) != 0 || S_ISDIR(status.st_mode))
		return 0;
	model = model_new();
	if (!model)
		return -ENOMEM;
	err = import_device_file(model, path, true, ignored, sizeof(ignored));
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];

		if (task->start_ns && task->device < model->devices.count)
			widen(export, model->devices.row[task->device].id, task);
	}
	model_free(model);
	return err == -ENOMEM ? err : 0;
}

/* Reads the time span of each device; files that are missing, or are no device files, have none. */
static int read_spans(const struct group *group, struct export *export)
{
	char path[PATH_MAX];
	int err = 0;

	for (int i = 0; !export->read && i < export->count && !err; i++) {
		const struct part *part = &group->part[export->first + i];

		if (snprintf(path, sizeof(path), "%s/%s", group->folder,
			     group->names[part->place]->d_name) < (int)sizeof(path))
			err = read_part(path, export);
	}
	export->read = true;
	return err;
}

/* The spans overlap by more than half of the shorter one: iterations may touch each other. */
static bool is_same_time(const struct export_span *x, const struct export_span *y)
{
	uint64_t from = x->from_ns > y->from_ns ? x->from_ns : y->from_ns;
	uint64_t to = x->to_ns < y->to_ns ? x->to_ns : y->to_ns;
	uint64_t a = x->to_ns - x->from_ns, b = y->to_ns - y->from_ns;

	return x->device == y->device && to > from && to - from > (a < b ? a : b) / 2;
}

/*
 * Returns true if @x has the data of the older @y. If @y has no tasks, the equal name decides; an incomplete @x has
 * no tasks, and supersedes none.
 */
static bool supersedes(const struct export *x, const struct export *y)
{
	if (!y->span_count)
		return true;
	for (int i = 0; i < x->span_count; i++) {
		for (int k = 0; k < y->span_count; k++) {
			if (is_same_time(&x->spans[i], &y->spans[k]))
				return true;
		}
	}
	return false;
}

/* Marks an export as old, and adds its files to @old, if a newer export that is kept has the same data. */
static int judge(const struct group *group, struct export *exports, int at, struct map *old)
{
	struct export *export = &exports[at];
	int err = read_spans(group, export);

	for (int i = 0; i < at && !err && !export->old; i++) {
		if (exports[i].old)
			continue;
		err = read_spans(group, &exports[i]);
		export->old = at >= EXPORTS_MAX || supersedes(&exports[i], export);
	}
	for (int i = 0; export->old && i < export->count && !err; i++) {
		if (!map_put(old, (uint64_t)group->part[export->first + i].place, 1))
			err = -ENOMEM;
	}
	return err;
}

static int stamp_length(const struct group *group, int first)
{
	int count = 1;

	while (first + count < group->count &&
	       group->part[first + count].name.stamp == group->part[first].name.stamp)
		count++;
	return count;
}

/*
 * Returns true if the parts with this stamp start another export: a slice number repeats, or either is a whole
 * file.
 */
static bool comes_again(const struct group *group, int first, int count)
{
	for (int i = first; i < first + count; i++) {
		uint32_t slice = group->part[i].name.slice;

		if (slice == UINT32_MAX || group->part[first - 1].name.slice == UINT32_MAX ||
		    map_get(&group->slices, slice) != MAP_NONE)
			return true;
	}
	return false;
}

/*
 * Groups parts to exports: the newest may have slices of several stamps. Returns the number of exports, or -ENOMEM.
 */
static int find_exports(struct group *group, struct export *exports)
{
	int found = 0, length;

	for (int at = 0; at < group->count; at += length) {
		length = stamp_length(group, at);
		if (!found || found > 1 || comes_again(group, at, length)) {
			exports[found++] = (struct export){ .first = at, .count = length };
		} else {
			exports[0].count += length;
		}
		for (int i = at; i < at + length && found == 1; i++) {
			if (!map_put(&group->slices, group->part[i].name.slice, 1))
				return -ENOMEM;
		}
	}
	return found;
}

static int judge_group(struct group *group, struct map *old)
{
	struct export *exports;
	int found, err = 0;

	if (stamp_length(group, 0) == group->count)
		return 0;
	exports = calloc((size_t)group->count, sizeof(*exports));
	if (!exports)
		return -ENOMEM;
	found = find_exports(group, exports);
	for (int i = 1; i < found && !err; i++)
		err = judge(group, exports, i, old);
	map_free(&group->slices);
	free(exports);
	return found < 0 ? found : err;
}

int exports_find_old(const char *path, struct dirent **names, int count, struct map *old)
{
	struct part *parts = calloc((size_t)(count > 0 ? count : 0) + 1, sizeof(*parts));
	int found = 0, err = parts ? 0 : -ENOMEM, end;

	for (int i = 0; parts && i < count; i++) {
		if (export_name_read(names[i]->d_name, &parts[found].name))
			parts[found++].place = i;
	}
	if (found)
		qsort(parts, (size_t)found, sizeof(*parts), by_stamp);
	for (int start = 0; start < found && !err; start = end) {
		struct group group = { .folder = path, .names = names, .part = &parts[start] };

		for (end = start + 1; end < found && strcmp(parts[start].name.rest,
							    parts[end].name.rest) == 0;)
			end++;
		group.count = end - start;
		err = judge_group(&group, old);
	}
	free(parts);
	return err;
}
