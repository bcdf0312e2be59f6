/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/readers/csv_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/readers/input_file.h"

#define WIDTH_MAX 4096 /* maximum number of columns of a file */
#define NOT_WANTED UINT8_MAX

/* A field of the current row, in the buffer. */
struct field {
	char *start;
	char *end;
	bool escaped; /* contains doubled quotes */
};

struct table {
	const struct csv_reader *reader;
	const char *path;
	uint8_t target[WIDTH_MAX]; /* the wanted column of each column of the file */
	uint8_t rank[CSV_COLUMNS]; /* which of a wanted column's names was found; 0 = none yet */
	uint32_t named; /* number of the reader's columns[] */
	uint32_t wanted; /* including the columns of more() */
	uint32_t column; /* index of the next field */
	bool in_header;
	bool any; /* the row has a field that is not empty */
	struct field fields[CSV_COLUMNS]; /* start NULL = missing in this row */
	/* Passed to row(); columns that more() wanted only in an earlier reading of the header stay empty. */
	struct csv_value values[CSV_COLUMNS];
	uint64_t before; /* bytes of the file before the buffer */
	uint64_t line; /* of the current row's begin, from 0 */
	char ended; /* the character that ended the previous line, if nothing follows it yet */
	char *buffer; /* rows that were not passed on yet, and one spare byte */
	size_t used, capacity;
	size_t part; /* bytes to read at a time */
};

static size_t trimmed(const char **text, size_t length)
{
	while (length && (**text == ' ' || **text == '\t')) {
		(*text)++;
		length--;
	}
	while (length && ((*text)[length - 1] == ' ' || (*text)[length - 1] == '\t'))
		length--;
	return length;
}

/* The position in @list (separated by |) of a name that equals the text, from 1; 0 = none. */
static unsigned int name_rank(const char *list, const char *text, size_t length)
{
	for (unsigned int rank = 1; *list; rank++) {
		size_t end = strcspn(list, "|");

		if (end == length && memcmp(list, text, length) == 0)
			return rank;
		list += end;
		list += *list == '|';
	}
	return 0;
}

static void header_field(struct table *table, uint32_t column, const char *text, size_t length)
{
	if (column >= WIDTH_MAX)
		return;
	table->target[column] = NOT_WANTED;
	/* Excel writes a byte order mark before UTF-8. */
	if (column == 0 && length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		length -= 3;
	}
	length = trimmed(&text, length);
	for (uint32_t i = 0; i < table->named; i++) {
		unsigned int rank = name_rank(table->reader->columns[i], text, length);

		if (!rank || (table->rank[i] && table->rank[i] <= rank))
			continue;
		for (uint32_t other = 0; other < column; other++) {
			if (table->target[other] == i)
				table->target[other] = NOT_WANTED;
		}
		table->rank[i] = (uint8_t)rank;
		table->target[column] = (uint8_t)i;
		return;
	}
	if (table->reader->more && table->wanted < CSV_COLUMNS &&
	    table->reader->more(table->reader->context, table->wanted - table->named, text, length))
		table->target[column] = (uint8_t)table->wanted++;
}

static int end_header(struct table *table)
{
	bool found[CSV_COLUMNS];

	if (table->column < WIDTH_MAX)
		memset(table->target + table->column, NOT_WANTED, WIDTH_MAX - table->column);
	for (uint32_t i = 0; i < table->named; i++)
		found[i] = table->rank[i] != 0;
	table->in_header = false;
	return table->reader->header ? table->reader->header(table->reader->context, found) : 0;
}

/* Ends of a field without quotes. */
static bool is_end(char c)
{
	return c == ',' || c == '\n' || c == '\r';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * Reads the quoted field whose first quote is before @at. Returns the position after it (the comma, the line's end
 * or @end), or NULL if it continues beyond @end. Quotes that are neither doubled nor the end are kept.
 */
static char *quoted_field(char *at, char *end, struct field *field)
{
	field->start = at;
	for (;;) {
		char *quote = memchr(at, '"', (size_t)(end - at)), *after;

		if (!quote)
			return NULL;
		for (after = quote + 1; after < end && is_blank(*after);)
			after++;
		/* At @end the caller decides whether the quote ends the field or is doubled in the next part. */
		if (after == end || is_end(*after)) {
			field->end = quote;
			return after;
		}
		field->escaped |= quote[1] == '"';
		at = quote + 1 + (quote[1] == '"');
	}
}

static char *plain_field(char *at, char *end, struct field *field)
{
	field->start = at;
	while (at < end && !is_end(*at))
		at++;
	field->end = at;
	while (field->end > field->start && is_blank(field->end[-1]))
		field->end--;
	return at;
}

/* Replaces doubled quotes by single ones. */
static void unescape(struct field *field)
{
	char *to = field->start;

	for (const char *from = field->start; from < field->end; from++) {
		*to++ = *from;
		if (*from == '"' && from + 1 < field->end && from[1] == '"')
			from++;
	}
	field->end = to;
}

static void keep_field(struct table *table, const struct field *field)
{
	uint32_t column = table->column++;

	table->any |= field->end > field->start;
	/* No wanted name contains quotes; the field stays unchanged, as the header may be read again. */
	if (table->in_header)
		header_field(table, column, field->start, (size_t)(field->end - field->start));
	else if (column < WIDTH_MAX && table->target[column] != NOT_WANTED)
		table->fields[table->target[column]] = *field;
}

/* The name of a column in the file, one of a wanted column's names, which ends at its | or at the text's end. */
static const char *column_name(const struct table *table, uint32_t column)
{
	const char *name = table->reader->columns[column];

	for (unsigned int rank = 1; rank < table->rank[column]; rank++)
		name += strcspn(name, "|") + 1;
	return name;
}

/* Tells the caller of the first rounded time of a row. Returns false if there is none. */
static bool refuse_rounded(struct table *table, int *err)
{
	const struct csv_reader *reader = table->reader;
	const char *name;
	char what[160];

	for (uint32_t i = 0; reader->units && i < table->named; i++) {
		const struct csv_value *value = &table->values[i];

		if (!reader->units[i] || !value->text ||
		    !decimal_is_rounded(value->text, value->length, reader->units[i] - 1))
			continue;
		name = column_name(table, i);
		snprintf(what, sizeof(what), "%.*s: %.40s", (int)strcspn(name, "|"), name,
			 value->text);
		*err = reader->rounded(reader->rounded_context, what);
		return true;
	}
	return false;
}

/* Passes a complete row to the caller; the bytes after its fields may be overwritten. */
static int end_row(struct table *table)
{
	int err;

	if (!table->any)
		return 0;
	if (table->in_header)
		return end_header(table);
	for (uint32_t i = 0; i < table->wanted; i++) {
		struct field *field = &table->fields[i];

		table->values[i] = (struct csv_value){ 0 };
		if (!field->start)
			continue;
		if (field->escaped)
			unescape(field);
		*field->end = '\0';
		table->values[i].text = field->start;
		table->values[i].length = (size_t)(field->end - field->start);
	}
	if (table->reader->place)
		*table->reader->place =
			(struct reader_place){ .path = table->path, .line = table->line + 1 };
	if (refuse_rounded(table, &err))
		return err;
	return table->reader->row(table->reader->context, table->values);
}

/* The end of the row at @at (its line's end, or @end); NULL if it continues beyond @end. */
static char *read_row(struct table *table, char *at, char *end, bool last)
{
	table->column = 0;
	table->any = false;
	memset(table->fields, 0, sizeof(table->fields[0]) * table->wanted);
	for (;; at++) {
		struct field field = { 0 };

		while (at < end && is_blank(*at))
			at++;
		at = at < end && *at == '"' ? quoted_field(at + 1, end, &field)
					    : plain_field(at, end, &field);
		if (!at || (at == end && !last))
			return NULL;
		keep_field(table, &field);
		if (at == end || *at != ',')
			return at;
	}
}

/*
 * The end of the line at @at if it is a message; @at if it is a row; NULL if it continues beyond @end, or cannot be
 * told from a row yet.
 */
static char *pass_message(const struct table *table, char *at, char *end, bool last)
{
	const char *message = table->reader->message;
	size_t length = message ? strlen(message) : 0, there = (size_t)(end - at);
	char *line;

	if (!length || memcmp(at, message, there < length ? there : length) != 0)
		return at;
	line = memchr(at, '\n', there);
	if (line)
		return there < length ? at : line;
	return last ? (there < length ? at : end) : NULL;
}

/* Counts a line's end: LF, CR or CR LF. */
static void end_line(struct table *table, char c)
{
	table->line += c != '\n' || table->ended != '\r';
	table->ended = c;
}

/* The number of lines that end in a row's quoted fields. */
static uint64_t lines_in_row(const char *at, const char *end)
{
	uint64_t lines = 0;

	for (; (at = memchr(at, '\n', (size_t)(end - at))); at++)
		lines++;
	return lines;
}

/* Passes all complete rows to the caller; the incomplete last one moves to the buffer's begin. */
static int read_rows(struct table *table, bool last)
{
	char *at = table->buffer, *end = table->buffer + table->used, *next, ended;
	uint64_t lines;
	int err = 0;

	while (!err && at < end) {
		if (*at == '\n' || *at == '\r') {
			end_line(table, *at++);
			continue;
		}
		next = pass_message(table, at, end, last);
		if (next != at) {
			if (!next)
				break;
			table->ended = '\0';
			at = next;
			continue;
		}
		/* The header is read again if it is incomplete. */
		if (table->in_header) {
			memset(table->rank, 0, sizeof(table->rank));
			table->wanted = table->named;
		}
		next = read_row(table, at, end, last);
		if (!next)
			break;
		/* The row's texts are changed in place. */
		ended = next < end ? *next : '\0';
		lines = lines_in_row(at, next);
		err = end_row(table);
		table->line += lines;
		table->ended = '\0';
		if (ended)
			end_line(table, ended);
		at = next + (next < end);
	}
	table->before += (uint64_t)(at - table->buffer);
	table->used = (size_t)(end - at);
	memmove(table->buffer, at, table->used);
	return err;
}

/* Number of bytes to read next: a long row is doubled, because it is then scanned again. */
static size_t next_part(const struct table *table)
{
	return table->used > table->part ? table->used : table->part;
}

/* Makes room for the next part and a NUL. */
static int grow(struct table *table, char *error, size_t error_size)
{
	size_t want = table->capacity ? table->capacity : 2 * table->part;
	char *grown;

	if (table->used + next_part(table) < table->capacity)
		return 0;
	if (table->used > CSV_ROW_BYTES) {
		snprintf(error, error_size,
			 "byte %" PRIu64 ": a row of more than %u MiB, which no profiler writes; is a quote "
			 "missing?",
			 table->before, CSV_ROW_BYTES >> 20);
		return -EBADMSG;
	}
	while (want <= table->used + next_part(table))
		want *= 2;
	grown = realloc(table->buffer, want);
	if (!grown)
		return -ENOMEM;
	table->buffer = grown;
	table->capacity = want;
	return 0;
}

static int feed(struct table *table, struct input_file *file, char *error, size_t error_size)
{
	int length = 1, err = 0;

	while (!err && length > 0) {
		err = grow(table, error, error_size);
		if (err)
			break;
		length = input_file_read(file, table->buffer + table->used, next_part(table), error,
					 error_size);
		if (length < 0)
			return length;
		table->used += (size_t)length;
		err = read_rows(table, length == 0);
	}
	if (!err && table->used) {
		snprintf(error, error_size, "the file ends inside quotes");
		err = -EBADMSG;
	}
	return err;
}

int csv_table_read(const char *path, const struct csv_reader *reader, char *error,
		   size_t error_size)
{
	struct table *table = calloc(1, sizeof(*table));
	struct input_file file;
	int err;

	snprintf(error, error_size, "%s", strerror(ENOMEM));
	if (!table)
		return -ENOMEM;
	table->reader = reader;
	table->path = path;
	table->in_header = true;
	while (table->named < CSV_COLUMNS && reader->columns[table->named])
		table->named++;
	table->wanted = table->named;
	err = input_file_open(&file, path, error, error_size);
	if (!err) {
		table->part = input_file_part(&file);
		err = feed(table, &file, error, error_size);
		input_file_close(&file);
	}
	if (reader->place)
		*reader->place = (struct reader_place){ 0 };
	free(table->buffer);
	free(table);
	return err;
}

static bool has_name(const char *line, size_t length, const char *list)
{
	while (length) {
		const char *end = memchr(line, ',', length), *name = line;
		size_t field = end ? (size_t)(end - line) : length, size = field;

		size -= size && name[size - 1] == '"';
		if (size && *name == '"') {
			name++;
			size--;
		}
		if (name_rank(list, name, trimmed(&name, size)))
			return true;
		if (!end)
			return false;
		line += field + 1;
		length -= field + 1;
	}
	return false;
}

bool csv_has_columns(const char *text, const char *const *columns)
{
	size_t length;

	if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	text += strspn(text, "\r\n");
	length = strcspn(text, "\r\n");
	for (; *columns; columns++) {
		if (!has_name(text, length, *columns))
			return false;
	}
	return true;
}
