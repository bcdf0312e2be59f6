/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/config_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *trim(char *text)
{
	size_t length;

	while (isspace((unsigned char)*text))
		text++;
	length = strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	return text;
}

/* Splits a line with content into name and value; returns false if it is no option. */
static bool split(char *line, char **name, char **value)
{
	char *equal = strchr(line, '=');

	if (!equal)
		return false;
	*equal = '\0';
	*name = trim(line);
	*value = trim(equal + 1);
	return **name && **value;
}

int config_file_read(const char *path,
		     int (*option)(void *context, const char *name, const char *value, unsigned int line),
		     void *context, char *error, size_t error_size)
{
	FILE *file = fopen(path, "re");
	char *text = NULL, *name, *value;
	size_t capacity = 0;
	unsigned int line = 0;
	int err = 0;

	if (!file) {
		err = -errno;
		snprintf(error, error_size, "%s: %s", path, strerror(errno));
		return err;
	}
	while (!err && getline(&text, &capacity, file) >= 0) {
		char *said = trim(text);

		line++;
		if (!*said || *said == '#')
			continue;
		if (split(said, &name, &value))
			err = option(context, name, value, line);
		else
			err = option(context, NULL, NULL, line);
	}
	if (!err && ferror(file)) {
		snprintf(error, error_size, "%s: cannot read the file", path);
		err = -EIO;
	}
	free(text);
	fclose(file);
	return err;
}
