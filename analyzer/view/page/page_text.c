/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/page/page_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/idle/idle.h"
#include "analyzer/view/page/page_tree.h"

void page_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("&<>\"'", *text))
			fprintf(out, "&#%d;", *text);
		else
			fputc(*text, out);
	}
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), size = strlen(end);

	return length >= size && strcmp(text + length - size, end) == 0;
}

/* Inserts a comma before each three digits of the whole part. */
static void put_thousands(const char *digits, char *into)
{
	size_t whole = strspn(digits[0] == '-' ? digits + 1 : digits, "0123456789");

	if (*digits == '-')
		*into++ = *digits++;
	for (; whole; whole--) {
		*into++ = *digits++;
		if (whole > 1 && whole % 3 == 1)
			*into++ = ',';
	}
	strcpy(into, digits);
}

/* Writes up to four significant digits. */
static void put_scaled(double value, const char *unit, char *into)
{
	double size = fabs(value);
	int decimals = size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3;
	char digits[PAGE_HUMAN_SIZE / 2];

	snprintf(digits, sizeof(digits), "%.*f", decimals, value);
	put_thousands(digits, into);
	strcat(into, unit);
}

static void put_time(double ns, char *into)
{
	double size = fabs(ns);

	if (size < 1e3)
		sprintf(into, "%.0f ns", ns);
	else if (size < 1e6)
		put_scaled(ns / 1e3, " µs", into);
	else if (size < 1e9)
		put_scaled(ns / 1e6, " ms", into);
	else
		put_scaled(ns / 1e9, " s", into);
}

static void put_bytes(double bytes, char *into)
{
	static const char *const units[] = { " B", " kB", " MB", " GB", " TB", " PB" };
	size_t i = 0;

	while (fabs(bytes) >= 1e3 && i + 1 < sizeof(units) / sizeof(units[0])) {
		bytes /= 1e3;
		i++;
	}
	if (i == 0)
		sprintf(into, "%.0f B", bytes);
	else
		put_scaled(bytes, units[i], into);
}

const char *page_human(const char *name, const char *number, char *into)
{
	double value = strtod(number, NULL);

	if (fabs(value) > 1e21 || strlen(number) > PAGE_HUMAN_SIZE / 2)
		snprintf(into, PAGE_HUMAN_SIZE, "%g", value);
	else if (ends_with(name, "_ns") || strcmp(name, "ns") == 0)
		put_time(value, into);
	else if (ends_with(name, "percent"))
		sprintf(into, "%.1f %%", value);
	else if (ends_with(name, "bytes"))
		put_bytes(value, into);
	else if (strchr(number, '.'))
		put_scaled(value, "", into);
	else
		put_thousands(number, into);
	return into;
}

/* Returns the text for display of a text in the report. */
static const char *word_of(const char *name, const char *text)
{
	for (uint8_t cause = 0; strcmp(name, "cause") == 0 && cause < IDLE_CAUSES; cause++)
		if (strcmp(idle_cause_name(cause), text) == 0)
			return idle_cause_text(cause);
	return text;
}

bool page_figure_begin(FILE *out, yajl_val report, const char *path)
{
	yajl_val value = page_tree_get(report, path);

	if (!YAJL_IS_NUMBER(value) && !YAJL_IS_STRING(value))
		return false;
	fprintf(out, "<span data-key=\"%s\" data-value=\"", path);
	page_escaped(out, YAJL_IS_NUMBER(value) ? YAJL_GET_NUMBER(value) : YAJL_GET_STRING(value));
	fputs("\">", out);
	return true;
}

void page_figure_as(FILE *out, yajl_val report, const char *path, const char *name)
{
	yajl_val value = page_tree_get(report, path);
	char human[PAGE_HUMAN_SIZE];

	if (!page_figure_begin(out, report, path))
		return;
	page_escaped(out, YAJL_IS_NUMBER(value) ? page_human(name, YAJL_GET_NUMBER(value), human)
						: word_of(name, YAJL_GET_STRING(value)));
	fputs("</span>", out);
}

void page_figure(FILE *out, yajl_val report, const char *path)
{
	const char *dot = strrchr(path, '.');

	page_figure_as(out, report, path, dot ? dot + 1 : path);
}
