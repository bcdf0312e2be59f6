/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/translate.h"

#include <langinfo.h>
#include <libintl.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DOMAIN "profbpf"
#define UNTRANSLATED_ENV "PROFBPF_UNTRANSLATED" /* for tests: a file that texts without a translation are added to */

static bool begun;

/* Beside the program in a build, else where it is installed. */
static void bind_domain(void)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 64);
	struct stat st;
	char *slash;

	if (length <= 0)
		return;
	path[length] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return;
	strcpy(slash, "/locale");
	if (stat(path, &st))
		strcpy(slash, "/../share/locale");
	bindtextdomain(DOMAIN, path);
	bind_textdomain_codeset(DOMAIN, "UTF-8");
}

/* The requested language, in the C library's order of environment variables. */
static const char *wanted(void)
{
	static const char *const names[] = { "LC_ALL", "LC_MESSAGES", "LANG" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return value;
	}
	return "C";
}

void translate_begin(void)
{
	const char *language = wanted();

	if (!strcmp(language, "C") || !strcmp(language, "POSIX"))
		return;
	/* The machine may lack the user's locale. Any UTF-8 locale is enough, because only messages are translated. */
	if (!setlocale(LC_MESSAGES, "")) {
		if (!setlocale(LC_MESSAGES, "C.UTF-8"))
			return;
		setlocale(LC_CTYPE, "C.UTF-8");
		setenv("LANGUAGE", language, 0);
	}
	if (strcmp(nl_langinfo(CODESET), "UTF-8"))
		return;
	bind_domain();
	begun = true;
}

static void note_untranslated(const char *text)
{
	const char *path = getenv(UNTRANSLATED_ENV);
	FILE *file = path ? fopen(path, "ae") : NULL;

	if (!file)
		return;
	fprintf(file, "%s\n", text);
	fclose(file);
}

const char *tr(const char *text)
{
	const char *translated;

	if (!begun || !*text)
		return text;
	translated = dgettext(DOMAIN, text);
	if (translated == text)
		note_untranslated(text);
	return translated;
}
