/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of importers about a file: why it cannot be imported, and what was skipped in it (importer.h). */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
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
	new.example = example ? model_string(model, example) : 0;
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

int import_rounded(void *context, const char *place)
{
	return import_damage(context,
			     "entries whose times lost digits, as spreadsheets save them, were left out (export the "
			     "file again, and keep it out of spreadsheets)",
			     place);
}

int import_end_reading(struct import *import, int err, bool any, const char *damage)
{
	/* If a row was refused for another reason than memory, import->error has the reason. */
	if (err && import->error[0])
		return err == -ENOMEM ? -E2BIG : err;
	if (err == -EBADMSG && any)
		return import_damage(import, "damaged: what follows was not read", damage);
	return err ? import_fail(import, err, "%s", damage[0] ? damage : strerror(-err)) : 0;
}
