/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/catalog_texts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/catalog/catalog.h"
#include "daemon/profctl/message.h"

#define SUFFIX ".catalog"

char *read_text(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	int err = 0;

	if (!f)
		return NULL;
	text = malloc(CATALOG_TEXT_MAX + 1);
	if (text) {
		size = fread(text, 1, CATALOG_TEXT_MAX + 1, f);
		if (ferror(f))
			err = errno ? errno : EIO;
		else if (size > CATALOG_TEXT_MAX)
			err = EFBIG;
		else if (memchr(text, '\0', size))
			err = EINVAL;
	} else {
		err = ENOMEM;
	}
	fclose(f);
	if (err) {
		free(text);
		errno = err;
		return NULL;
	}
	text[size] = '\0';
	return text;
}

/* Takes @text over. */
static int add(struct catalog_texts *texts, const char *path, char *text)
{
	Profbpf__Control__CatalogText **larger =
		reallocarray(texts->text, texts->count + 1, sizeof(*larger));
	Profbpf__Control__CatalogText *entry = calloc(1, sizeof(*entry));
	char *name = strdup(path);

	if (larger)
		texts->text = larger;
	if (!larger || !entry || !name) {
		free(entry);
		free(name);
		free(text);
		message("out of memory");
		return -ENOMEM;
	}
	profbpf__control__catalog_text__init(entry);
	entry->name = name;
	entry->text = text;
	texts->text[texts->count++] = entry;
	return 0;
}

static int add_file(struct catalog_texts *texts, struct catalogs *checked, const char *path)
{
	char *text = read_text(path), *error = NULL;
	int err;

	if (!text) {
		err = -errno;
		message("cannot read catalog %s: %s", path,
			err == -EINVAL ? "it is not a text file" : strerror(-err));
		return err;
	}
	/* The daemon checks it too, but a typo should not cost the file of an earlier trace. */
	err = catalogs_add_text(checked, path, text, strlen(text), &error);
	if (err) {
		message("%s", error ? error : "out of memory");
		free(error);
		free(text);
		return err;
	}
	return add(texts, path, text);
}

static int is_catalog(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), suffix = strlen(SUFFIX);

	return length > suffix && !strcmp(entry->d_name + length - suffix, SUFFIX);
}

static int add_directory(struct catalog_texts *texts, struct catalogs *checked, const char *path)
{
	struct dirent **entries;
	int err = 0, count = scandir(path, &entries, is_catalog, alphasort);

	if (count < 0) {
		err = -errno;
		message("cannot read the catalogs of %s: %s", path, strerror(-err));
		return err;
	}
	if (!count) {
		message("there is no *" SUFFIX " file in %s", path);
		err = -ENOENT;
	}
	for (int i = 0; i < count; i++) {
		char *file = NULL;

		if (!err && asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0) {
			file = NULL;
			err = -ENOMEM;
		}
		if (!err)
			err = add_file(texts, checked, file);
		free(file);
		free(entries[i]);
	}
	free(entries);
	return err;
}

int catalog_texts_read(const struct words *directories, struct catalog_texts *texts)
{
	struct catalogs *checked = catalogs_new();
	int err = checked ? 0 : -ENOMEM;

	memset(texts, 0, sizeof(*texts));
	if (err)
		message("out of memory");
	for (size_t i = 0; i < directories->count && !err; i++)
		err = add_directory(texts, checked, directories->word[i]);
	catalogs_free(checked);
	return err;
}

void catalog_texts_free(struct catalog_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		free(texts->text[i]->name);
		free(texts->text[i]->text);
		free(texts->text[i]);
	}
	free(texts->text);
	memset(texts, 0, sizeof(*texts));
}
