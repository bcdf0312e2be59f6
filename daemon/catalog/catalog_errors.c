/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/catalog/catalog.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void catalog_error_add(struct catalog_errors *errors, unsigned int line, unsigned int column,
		       const char *format, ...)
{
	struct catalog_error *error;
	va_list args;

	if (errors->count == CATALOG_ERRORS_MAX) {
		errors->more = true;
		return;
	}
	error = &errors->error[errors->count];
	va_start(args, format);
	if (vasprintf(&error->message, format, args) < 0)
		error->message = NULL;
	va_end(args);
	if (!error->message)
		return;
	error->line = line;
	error->column = column;
	errors->count++;
}

char *catalog_errors_text(const struct catalog_errors *errors, const char *name)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return NULL;
	for (size_t i = 0; i < errors->count; i++) {
		const struct catalog_error *error = &errors->error[i];

		if (error->line)
			fprintf(stream, "%s:%u:%u: %s\n", name, error->line, error->column,
				error->message);
		else
			fprintf(stream, "%s: %s\n", name, error->message);
	}
	if (errors->more)
		fprintf(stream, "%s: more errors follow\n", name);
	if (fclose(stream)) {
		free(text);
		return NULL;
	}
	return text;
}

void catalog_errors_free(struct catalog_errors *errors)
{
	for (size_t i = 0; i < errors->count; i++)
		free(errors->error[i].message);
	memset(errors, 0, sizeof(*errors));
}
