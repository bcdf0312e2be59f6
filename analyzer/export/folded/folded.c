/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/folded/folded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/export/export_error.h"
#include "analyzer/export/export_filter.h"
#include "lib/base/map.h"
#include "analyzer/view/render/utf8.h"

#define NAME_SIZE 1024

struct fold {
	uint32_t name; /* of the thread */
	uint32_t stack;
	uint64_t sum;
};

struct folding {
	const struct model *model;
	enum folded_what what;
	struct export_window window;
	bool *chosen;
	struct map map; /* name << 32 | stack -> folds */
	MODEL_ARRAY(struct fold) folds;
};

static bool add(struct folding *f, const struct stack_sample *sample)
{
	uint32_t name = f->model->threads.row[sample->thread].name;
	uint64_t key = (uint64_t)name << 32 | sample->stack;
	struct fold new = { .name = name, .stack = sample->stack };
	uint32_t index = map_get(&f->map, key);

	if (index == MAP_NONE) {
		index = f->folds.count;
		if (!map_put(&f->map, key, index) || !MODEL_PUSH(&f->folds, new))
			return false;
	}
	f->folds.row[index].sum += f->what == FOLDED_BLOCKED ? sample->dur_ns : 1;
	return true;
}

static int collect(struct folding *f)
{
	const struct model *model = f->model;
	uint8_t flags = f->what == FOLDED_BLOCKED ? MODEL_SAMPLE_BLOCK : 0;

	for (uint32_t i = 0; i < model->stack_samples.count; i++) {
		const struct stack_sample *sample = &model->stack_samples.row[i];

		if ((sample->flags & (MODEL_SAMPLE_BLOCK | MODEL_SAMPLE_PYTHON | MODEL_SAMPLE_SHORT)) !=
			    flags ||
		    !export_instant(&f->window, sample->ts_ns) || !f->chosen[sample->thread])
			continue;
		if (!add(f, sample))
			return -ENOMEM;
	}
	return 0;
}

static void put_name(FILE *out, const char *name)
{
	char safe[NAME_SIZE];

	printable(name, safe, sizeof(safe));
	for (char *c = safe; *c; c++)
		if (*c == ';' || *c == '\n')
			*c = '_';
	fputs(safe, out);
}

static void put_frame(FILE *out, const struct model *model, const struct code_frame *frame)
{
	const char *name = model_text(model, frame->name), *path, *slash;

	fputc(';', out);
	if (*name) {
		put_name(out, name);
		return;
	}
	if (frame->file >= model->code_files.count) {
		fputs("[unknown]", out);
		return;
	}
	path = model_text(model, model->code_files.row[frame->file].path);
	slash = strrchr(path, '/');
	fputc('[', out);
	put_name(out, slash ? slash + 1 : path);
	fputc(']', out);
}

static void put_fold(FILE *out, const struct model *model, const struct fold *fold)
{
	const char *name = model_text(model, fold->name);

	put_name(out, *name ? name : "unknown");
	if (fold->stack < model->code_stacks.count) {
		const struct code_stack *stack = &model->code_stacks.row[fold->stack];

		for (uint32_t i = stack->depth; i > 0; i--) {
			uint32_t row = model->stack_frames.row[stack->first + i - 1];

			put_frame(out, model, &model->code_frames.row[row]);
		}
	} else {
		fputs(";[unknown]", out);
	}
	fprintf(out, " %" PRIu64 "\n", fold->sum);
}

static int put_all(const struct folding *f, const char *path)
{
	FILE *out = fopen(path, "w");
	int err = 0;

	if (!out)
		return -errno;
	for (uint32_t i = 0; i < f->folds.count; i++)
		put_fold(out, f->model, &f->folds.row[i]);
	errno = 0;
	if (ferror(out))
		err = errno ? -errno : -EIO;
	if (fclose(out) != 0 && !err)
		err = -errno;
	return err;
}

int write_folded(const struct model *model, enum folded_what what, const char *path,
		 const struct export_options *options, char *error, size_t error_size)
{
	struct folding f = { .model = model, .what = what };
	int err = 0;

	export_window_init(&f.window, model, options);
	f.chosen = export_threads(model, options);
	err = f.chosen ? collect(&f) : -ENOMEM;
	if (!err)
		err = put_all(&f, path);
	if (err)
		export_explain(err, path, error, error_size);
	map_free(&f.map);
	free(f.folds.row);
	free(f.chosen);
	return err;
}
