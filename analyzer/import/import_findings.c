/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of importers about a file: why it cannot be imported, and what was skipped in it (importer.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/importer.h"

int import_fail(struct import *import, int err, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(import->error, sizeof(import->error), format, arguments);
	va_end(arguments);
	return err;
}

/*
 * The example with its place: "line 12: MatMul", "traceEvents[5]: aten::mm", "agent_info.csv, line 2". The caller frees
 * it. Examples are of any length. Returns NULL without memory.
 */
static char *with_place(const struct import *import, const char *example)
{
	const struct reader_place *place = &import->place;
	const char *colon = example ? ": " : "", *name = "", *comma = "";
	char *text;
	int length;

	if (strcmp(place->path, import->path) != 0) {
		name = strrchr(place->path, '/');
		name = name ? name + 1 : place->path;
		comma = ", ";
	}
	example = example ? example : "";
	if (place->line)
		length = asprintf(&text, "%s%sline %" PRIu64 "%s%s", name, comma, place->line,
				  colon, example);
	else
		length = asprintf(&text, "%s%s%s[%" PRIu64 "]%s%s", name, comma, place->list,
				  place->object, colon, example);
	return length < 0 ? NULL : text;
}

/* Returns a string of the model, INDEX_NONE without memory. */
static uint32_t example_string(struct import *import, const char *example)
{
	char *text;
	uint32_t string;

	if (!import->place.line && !import->place.list)
		return example ? model_string(import->model, example) : 0;
	text = with_place(import, example);
	string = text ? model_string(import->model, text) : INDEX_NONE;
	free(text);
	return string;
}

static int add_finding(struct import *import, const char *what, const char *example, bool damage)
{
	struct model *model = import->model;
	struct import_finding new = { .file = import->file, .damage = damage, .count = 1 };

	new.what = model_string(model, what);
	if (new.what == INDEX_NONE)
		return -ENOMEM;
	for (uint32_t i = model->findings.count; i-- > 0;) {
		struct import_finding *finding = &model->findings.row[i];

		if (finding->file == new.file && finding->what == new.what) {
			finding->count++;
			return 0;
		}
	}
	new.example = example_string(import, example);
	if (new.example == INDEX_NONE || !MODEL_PUSH(&model->findings, new))
		return -ENOMEM;
	return 0;
}

int import_finding(struct import *import, const char *what, const char *example)
{
	return add_finding(import, what, example, false);
}

int import_damage(struct import *import, const char *what, const char *example)
{
	return add_finding(import, what, example, true);
}

int import_rounded(void *context, const char *what)
{
	return import_damage(context,
			     "entries whose times lost digits, as spreadsheets save them, were left out (export the "
			     "file again, and keep it out of spreadsheets)",
			     what);
}

int import_end_reading(struct import *import, int err, bool any, const char *damage)
{
	/* If a row was refused for another reason than memory, import->error has the reason. */
	if (err && import->error[0])
		return err == -ENOMEM ? -E2BIG : err;
	if (err == -EBADMSG && any)
		return import_damage(import, "damaged: what follows was not read; copy or export the file "
					     "again", damage);
	return err ? import_fail(import, err, "%s", damage[0] ? damage : strerror(-err)) : 0;
}
