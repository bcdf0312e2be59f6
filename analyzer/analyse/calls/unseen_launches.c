/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/calls/unseen_launches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bisect.h"
#include "lib/base/map.h"
#include "lib/base/sort_rows.h"
#include "proto/trace.pb-c.h"

/* The launching functions of a file. */
struct launching {
	uint32_t file;
	uint32_t family;
	uint32_t functions;
};

struct finder {
	const struct model *model;
	struct unseen_launches *unseen;
	MODEL_ARRAY(struct launching) files; /* sorted by file */
	struct map rows; /* process and family -> row of unseen */
	struct map launched; /* process and family */
	struct map seen; /* process and file */
	struct map everywhere; /* family: launched by an unknown process */
};

static uint64_t pair(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

static uint32_t family_of(const struct function *function)
{
	return function->family ? function->family : function->runtime;
}

/*
 * Function whose pointers lead directly into the driver, past the exports of libvulkan.so: Vulkan's specification,
 * "Command Function Pointers".
 */
static const char *pointers_of(const char *family)
{
	return strcmp(family, "vulkan") == 0 ? "vkGetDeviceProcAddr" : NULL;
}

/* Library without which a family's functions can launch nothing, because they load it for that; NULL = none is known. */
static const char *driver_of(const char *family)
{
	return strcmp(family, "cuda") == 0 ? "libcuda.so" : NULL;
}

static int by_file(const void *a, const void *b)
{
	const struct launching *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->family < y->family ? -1 : x->family > y->family;
}

/* One row for each file and family. */
static bool find_files(struct finder *f)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < f->model->functions.count; i++) {
		const struct function *function = &f->model->functions.row[i];
		const struct launching row = { function->file, family_of(function), 1 };

		if (function->kind == PROFBPF__FUNCTION__KIND__LAUNCH && function->name &&
		    row.file && row.family && !MODEL_PUSH(&f->files, row))
			return false;
	}
	SORT_ARRAY(&f->files, by_file);
	for (uint32_t i = 0; i < f->files.count; i++) {
		if (kept && !by_file(&f->files.row[kept - 1], &f->files.row[i]))
			f->files.row[kept - 1].functions++;
		else
			f->files.row[kept++] = f->files.row[i];
	}
	f->files.count = kept;
	return true;
}

static bool launch(struct finder *f, uint32_t process, uint32_t function)
{
	const struct function *row = &f->model->functions.row[function];

	if (row->kind != PROFBPF__FUNCTION__KIND__LAUNCH)
		return true;
	f->unseen->any_launch = true;
	return process == INDEX_NONE ? map_put(&f->everywhere, family_of(row), 0)
				     : map_put(&f->launched, pair(process, family_of(row)), 0);
}

static bool find_launches(struct finder *f)
{
	const struct model *model = f->model;
	uint32_t thread = INDEX_NONE, function = INDEX_NONE;

	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];

		/* Calls are sorted by thread, and often repeat. */
		if (call->thread == thread && call->function == function)
			continue;
		thread = call->thread;
		function = call->function;
		if (!launch(f, model->threads.row[thread].process, function))
			return false;
	}
	for (uint32_t i = 0; i < model->launch_callers.count; i++)
		if (!launch(f, model->launch_callers.row[i].process,
			    model->launch_callers.row[i].function))
			return false;
	for (uint32_t i = 0; i < model->short_calls.count; i++)
		if (!launch(f, model->short_calls.row[i].process,
			    model->short_calls.row[i].function))
			return false;
	return true;
}

static bool add(struct finder *f, const struct unseen_launch *row)
{
	struct unseen_launches *unseen = f->unseen;
	struct unseen_launch *grown;

	if ((unseen->count & (unseen->count + 1)) == 0) {
		grown = reallocarray(unseen->row, 2 * ((size_t)unseen->count + 1), sizeof(*grown));
		if (!grown)
			return false;
		unseen->row = grown;
	}
	unseen->row[unseen->count++] = *row;
	return true;
}

static bool is_library(const char *path, const char *library)
{
	const char *slash = strrchr(path, '/');

	return !strncmp(slash ? slash + 1 : path, library, strlen(library));
}

/* Names are compared last: each process with a driver's users asks, and there are rows for all files of all processes. */
static bool maps(const struct model *model, uint32_t process, const char *library)
{
	for (uint32_t i = 0; i < model->coverage.count; i++) {
		const struct coverage *row = &model->coverage.row[i];

		if (row->process == process && row->state != PROFBPF__COVERAGE__STATE__PROBED &&
		    is_library(model_text(model, row->file), library))
			return true;
	}
	return false;
}

static bool can_launch(const struct model *model, uint32_t process, uint32_t family)
{
	const char *driver = driver_of(model_text(model, family));

	return !driver || maps(model, process, driver);
}

static bool add_file(struct finder *f, uint32_t process, const struct launching *file)
{
	const uint64_t key = pair(process, file->family);
	uint32_t at = map_get(&f->rows, key);
	const struct unseen_launch row = {
		.process = process,
		.family = file->family,
		.file = file->file,
		.functions = file->functions,
		.pointers = pointers_of(model_text(f->model, file->family)),
	};

	if (map_get(&f->launched, key) != MAP_NONE ||
	    map_get(&f->everywhere, file->family) != MAP_NONE ||
	    (at == MAP_NONE && !can_launch(f->model, process, file->family)))
		return true;
	if (at != MAP_NONE) {
		f->unseen->row[at].functions += file->functions;
		return true;
	}
	return map_put(&f->rows, key, f->unseen->count) && add(f, &row);
}

/* A file of a process may have several rows. */
static bool seen_before(struct finder *f, const struct coverage *row)
{
	const uint64_t key = pair(row->process, row->file);

	return map_get(&f->seen, key) != MAP_NONE || !map_put(&f->seen, key, 0);
}

static bool find_unseen(struct finder *f)
{
	const struct coverage *rows = f->model->coverage.row;

	for (uint32_t i = 0; i < f->model->coverage.count; i++) {
		const uint32_t file = rows[i].file;
		uint32_t k = BISECT(at, 0, f->files.count, f->files.row[at].file < file);

		if (rows[i].state == PROFBPF__COVERAGE__STATE__PROBED || seen_before(f, &rows[i]))
			continue;
		if (rows[i].state == PROFBPF__COVERAGE__STATE__NO_SYMBOLS &&
		    !add(f, &(struct unseen_launch){ .process = rows[i].process, .file = file }))
			return false;
		for (; k < f->files.count && f->files.row[k].file == file; k++)
			if (!add_file(f, rows[i].process, &f->files.row[k]))
				return false;
	}
	return true;
}

/* By the strings' ids, which follow the order of their first use: the same for the same recording. */
static int by_family(const void *a, const void *b)
{
	const struct unseen_launch *x = a, *y = b;

	if (!x->family != !y->family)
		return x->family ? -1 : 1;
	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

int unseen_launches_find(const struct model *model, struct unseen_launches *unseen)
{
	struct finder f = { .model = model, .unseen = unseen };
	bool done;

	*unseen = (struct unseen_launches){ 0 };
	done = find_files(&f) && find_launches(&f) && find_unseen(&f);
	if (done && unseen->count)
		qsort(unseen->row, unseen->count, sizeof(*unseen->row), by_family);
	free(f.files.row);
	map_free(&f.rows);
	map_free(&f.launched);
	map_free(&f.seen);
	map_free(&f.everywhere);
	return done ? 0 : -ENOMEM;
}

void unseen_launches_free(struct unseen_launches *unseen)
{
	free(unseen->row);
	*unseen = (struct unseen_launches){ 0 };
}
