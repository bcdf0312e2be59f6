/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/tables/parquet_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "analyzer/export/tables/parquet_encode.h"
#include "analyzer/view/render/utf8.h"
#include "lib/base/strings.h"

#define MAGIC "PAR1"
#define GROUP_ROWS 32768u /* memory: 13 bytes per row and column */
#define ZSTD_LEVEL 1 /* higher levels gain little, because the encodings compress already */
#define CREATED_BY "profbpf " PROFBPF_VERSION

/* Numbers of the format. */
enum { TYPE_INT32 = 1, TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTE_ARRAY = 6 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { CODEC_ZSTD = 6, OPTIONAL = 1, CONVERTED_UTF8 = 0, FORMAT_VERSION = 2 };

/* The values of a column in the current row group. */
struct chunk {
	enum column_type type;
	bool narrow; /* INT32 */
	bool *there; /* by row: the value is not null */
	int64_t *number; /* the values that are not null; for DOUBLE their bits */
	uint32_t *text; /* used instead for texts: their ids, less 1 */
	struct string_table *texts;
	uint32_t count;
};

struct parquet_file {
	const struct data_table *table;
	FILE *out;
	uint64_t offset; /* bytes written */
	int err; /* first error */
	uint32_t rows; /* rows of the group */
	uint64_t all_rows;
	uint32_t group_count;
	struct bytes groups; /* descriptions of the groups, for the footer */
	struct bytes page;
	struct bytes packed;
	struct bytes header;
	ZSTD_CCtx *zstd;
	struct chunk chunks[TABLE_COLUMNS_MAX];
};

/* The position of a chunk's pages, for its description. */
struct place {
	uint64_t dictionary; /* 0 = no dictionary */
	uint64_t data;
	uint64_t size; /* size of both, with their headers */
	uint64_t plain_size; /* before compression */
};

static void note(struct parquet_file *file, int err)
{
	if (!file->err)
		file->err = err;
}

static void put(struct parquet_file *file, const void *data, size_t size)
{
	errno = 0;
	if (!file->err && size && fwrite(data, 1, size, file->out) != size)
		note(file, errno ? -errno : -EIO);
	file->offset += size;
}

static bool open_chunk(struct chunk *chunk, const struct column *column)
{
	chunk->type = column_type(column);
	chunk->there = malloc(GROUP_ROWS * sizeof(*chunk->there));
	if (chunk->type == COLUMN_TEXT) {
		chunk->text = malloc(GROUP_ROWS * sizeof(*chunk->text));
		chunk->texts = string_table_new();
	} else {
		chunk->number = malloc(GROUP_ROWS * sizeof(*chunk->number));
	}
	return chunk->there && (chunk->number || (chunk->text && chunk->texts));
}

int parquet_open(struct parquet_file **made, const char *path, const struct data_table *table,
		 const char *narrow)
{
	struct parquet_file *file = *made = calloc(1, sizeof(*file));

	if (!file)
		return -ENOMEM;
	file->table = table;
	file->out = fopen(path, "we");
	if (!file->out) {
		note(file, -errno);
		return file->err;
	}
	file->zstd = ZSTD_createCCtx();
	if (!file->zstd)
		note(file, -ENOMEM);
	for (unsigned int i = 0; i < table->column_count; i++) {
		if (!open_chunk(&file->chunks[i], &table->columns[i]))
			note(file, -ENOMEM);
		file->chunks[i].narrow = narrow && !strcmp(table->columns[i].name, narrow);
	}
	put(file, MAGIC, strlen(MAGIC));
	return file->err;
}

/* Makes the header of a page with the compressed size @size. */
static void make_header(struct parquet_file *file, int type, uint32_t values,
			enum parquet_encoding encoding, size_t size)
{
	struct bytes *header = &file->header;
	int last = 0, inner = 0;

	header->size = 0;
	thrift_i32(header, &last, 1, type);
	thrift_i32(header, &last, 2, (int32_t)file->page.size);
	thrift_i32(header, &last, 3, (int32_t)size);
	thrift_struct(header, &last, type == PAGE_DATA ? 5 : 7);
	thrift_i32(header, &inner, 1, (int32_t)values);
	thrift_i32(header, &inner, 2, encoding);
	if (type == PAGE_DATA) {
		thrift_i32(header, &inner, 3, PARQUET_RLE);
		thrift_i32(header, &inner, 4, PARQUET_RLE);
	}
	thrift_end(header);
	thrift_end(header);
}

/* Compresses file->page and writes it with its header. */
static void put_page(struct parquet_file *file, int type, uint32_t values,
		     enum parquet_encoding encoding, struct place *place)
{
	size_t bound = ZSTD_compressBound(file->page.size), size;
	uint8_t *to;

	file->packed.size = 0;
	to = bytes_more(&file->packed, bound);
	size = to && !file->page.failed ? ZSTD_compressCCtx(file->zstd, to, bound, file->page.data,
							    file->page.size, ZSTD_LEVEL)
					: 0;
	if (!size || ZSTD_isError(size)) {
		note(file, -ENOMEM);
		return;
	}
	make_header(file, type, values, encoding, size);
	if (file->header.failed)
		note(file, -ENOMEM);
	put(file, file->header.data, file->header.size);
	put(file, to, size);
	place->size += file->header.size + size;
	place->plain_size += file->header.size + file->page.size;
}

/* Writes texts in the order of their ids: the length and the bytes of each. */
static void put_dictionary(struct parquet_file *file, const struct chunk *chunk,
			   struct place *place)
{
	uint32_t count = string_table_count(chunk->texts);

	file->page.size = 0;
	for (uint32_t id = 1; id < count; id++) {
		size_t length = string_table_length(chunk->texts, id);

		bytes_u32(&file->page, (uint32_t)length);
		bytes_put(&file->page, string_table_get(chunk->texts, id), length);
	}
	place->dictionary = file->offset;
	put_page(file, PAGE_DICTIONARY, count - 1, PARQUET_PLAIN, place);
}

static enum parquet_encoding encoding_of(const struct chunk *chunk)
{
	static const enum parquet_encoding encodings[] = {
		[COLUMN_INTEGER] = PARQUET_DELTA_BINARY_PACKED,
		[COLUMN_REAL] = PARQUET_PLAIN,
		[COLUMN_TEXT] = PARQUET_RLE_DICTIONARY,
	};

	return encodings[chunk->type];
}

static void put_values(struct parquet_file *file, const struct chunk *chunk, struct place *place)
{
	struct bytes *page = &file->page;

	page->size = 0;
	parquet_levels(page, chunk->there, file->rows);
	if (chunk->type == COLUMN_TEXT) {
		parquet_indices(page, chunk->text, chunk->count,
				string_table_count(chunk->texts) - 1);
	} else if (chunk->type == COLUMN_INTEGER) {
		parquet_deltas(page, chunk->number, chunk->count);
	} else {
		for (uint32_t i = 0; i < chunk->count; i++)
			bytes_u64(page, (uint64_t)chunk->number[i]);
	}
	place->data = file->offset;
	put_page(file, PAGE_DATA, file->rows, encoding_of(chunk), place);
}

static double real_of(int64_t bits)
{
	double real;

	memcpy(&real, &bits, sizeof(real));
	return real;
}

static bool is_less(const struct chunk *chunk, int64_t a, int64_t b)
{
	return chunk->type == COLUMN_REAL ? real_of(a) < real_of(b) : a < b;
}

/* The number of missing values, and the minimum and maximum of numbers. */
static void describe_values(const struct parquet_file *file, const struct chunk *chunk,
			    struct bytes *to, int *last)
{
	size_t width = chunk->narrow ? sizeof(int32_t) : sizeof(int64_t); /* little endian: the first bytes of both */
	int64_t least, greatest;
	struct bytes bound = { 0 };
	int inner = 0;

	thrift_struct(to, last, 12);
	thrift_i64(to, &inner, 3, file->rows - chunk->count);
	if (chunk->type != COLUMN_TEXT && chunk->count) {
		least = greatest = chunk->number[0];
		for (uint32_t i = 1; i < chunk->count; i++) {
			if (is_less(chunk, chunk->number[i], least))
				least = chunk->number[i];
			if (is_less(chunk, greatest, chunk->number[i]))
				greatest = chunk->number[i];
		}
		bytes_u64(&bound, (uint64_t)greatest);
		bytes_u64(&bound, (uint64_t)least);
		if (bound.failed)
			to->failed = true;
		else
			thrift_binary(to, &inner, 5, bound.data, width);
		if (!bound.failed)
			thrift_binary(to, &inner, 6, bound.data + 8, width);
		bytes_free(&bound);
	}
	thrift_end(to);
}

static int parquet_type(const struct chunk *chunk)
{
	static const int types[] = { [COLUMN_INTEGER] = TYPE_INT64,
				     [COLUMN_REAL] = TYPE_DOUBLE,
				     [COLUMN_TEXT] = TYPE_BYTE_ARRAY };

	return chunk->narrow ? TYPE_INT32 : types[chunk->type];
}

static void describe_chunk(struct parquet_file *file, unsigned int column,
			   const struct place *place)
{
	const struct chunk *chunk = &file->chunks[column];
	const char *name = file->table->columns[column].name;
	struct bytes *to = &file->groups;
	int last = 0, inner = 0;

	thrift_i64(to, &last, 2, 0);
	thrift_struct(to, &last, 3);
	thrift_i32(to, &inner, 1, parquet_type(chunk));
	thrift_list(to, &inner, 2, THRIFT_I32, 2);
	bytes_zigzag(to, PARQUET_RLE);
	bytes_zigzag(to, encoding_of(chunk));
	thrift_list(to, &inner, 3, THRIFT_BINARY, 1);
	bytes_varint(to, strlen(name));
	bytes_put(to, name, strlen(name));
	thrift_i32(to, &inner, 4, CODEC_ZSTD);
	thrift_i64(to, &inner, 5, file->rows);
	thrift_i64(to, &inner, 6, (int64_t)place->plain_size);
	thrift_i64(to, &inner, 7, (int64_t)place->size);
	thrift_i64(to, &inner, 9, (int64_t)place->data);
	if (place->dictionary)
		thrift_i64(to, &inner, 11, (int64_t)place->dictionary);
	describe_values(file, chunk, to, &inner);
	thrift_end(to);
	thrift_end(to);
}

static void put_chunk(struct parquet_file *file, unsigned int column, uint64_t *size)
{
	struct chunk *chunk = &file->chunks[column];
	struct place place = { 0 };

	if (chunk->type == COLUMN_TEXT)
		put_dictionary(file, chunk, &place);
	put_values(file, chunk, &place);
	describe_chunk(file, column, &place);
	*size += place.plain_size;
	chunk->count = 0;
	if (chunk->texts)
		string_table_clear(chunk->texts);
}

static void put_group(struct parquet_file *file)
{
	uint64_t size = 0;
	int last = 0;

	thrift_list(&file->groups, &last, 1, THRIFT_STRUCT, file->table->column_count);
	for (unsigned int i = 0; i < file->table->column_count && !file->err; i++)
		put_chunk(file, i, &size);
	thrift_i64(&file->groups, &last, 2, (int64_t)size);
	thrift_i64(&file->groups, &last, 3, file->rows);
	thrift_end(&file->groups);
	if (file->groups.failed)
		note(file, -ENOMEM);
	file->group_count++;
	file->all_rows += file->rows;
	file->rows = 0;
}

/* Names come from traced programs and may contain any bytes. Readers require UTF-8. */
static void add_text(struct parquet_file *file, struct chunk *chunk, const char *text)
{
	bool valid = utf8_valid(text);
	char *repaired = valid ? NULL : utf8_repair(text);
	uint32_t id = string_table_add_text(chunk->texts, valid ? text : repaired);

	if (id == STRING_NONE || (!valid && !repaired))
		note(file, -ENOMEM);
	chunk->text[chunk->count++] = id - 1;
	free(repaired);
}

static void add_value(struct parquet_file *file, struct chunk *chunk, const struct cell *cell)
{
	chunk->there[file->rows] = cell->kind != CELL_NULL;
	switch (cell->kind) {
	case CELL_UNSIGNED: chunk->number[chunk->count++] = (int64_t)cell->number; break;
	case CELL_SIGNED: chunk->number[chunk->count++] = cell->negative; break;
	case CELL_REAL: memcpy(&chunk->number[chunk->count++], &cell->real, sizeof(double)); break;
	case CELL_TEXT: add_text(file, chunk, cell->text); break;
	default: break;
	}
}

/* Does a cell have the type of its column? */
static bool fits(const struct chunk *chunk, const struct cell *cell)
{
	enum column_type type = chunk->type;

	if (cell->kind == CELL_NULL)
		return true;
	if (chunk->narrow)
		return cell->kind == CELL_UNSIGNED && cell->number <= INT32_MAX;
	if (type == COLUMN_TEXT)
		return cell->kind == CELL_TEXT && *cell->text;
	return type == COLUMN_REAL ? cell->kind == CELL_REAL
				   : cell->kind == CELL_UNSIGNED || cell->kind == CELL_SIGNED;
}

int parquet_row(struct parquet_file *file, const struct cell *cells)
{
	for (unsigned int i = 0; i < file->table->column_count && !file->err; i++) {
		if (fits(&file->chunks[i], &cells[i]))
			add_value(file, &file->chunks[i], &cells[i]);
		else
			note(file, -EINVAL);
	}
	if (!file->err && ++file->rows == GROUP_ROWS)
		put_group(file);
	return file->err;
}

static void describe_column(struct bytes *to, const struct column *column, const struct chunk *chunk)
{
	int last = 0, inner = 0;

	thrift_i32(to, &last, 1, parquet_type(chunk));
	thrift_i32(to, &last, 3, OPTIONAL);
	thrift_text(to, &last, 4, column->name);
	if (chunk->type == COLUMN_TEXT) {
		thrift_i32(to, &last, 6, CONVERTED_UTF8);
		thrift_struct(to, &last, 10);
		thrift_struct(to, &inner, 1);
		thrift_end(to);
		thrift_end(to);
	}
	thrift_end(to);
}

static void describe_table(struct bytes *to, int *last, const struct parquet_file *file)
{
	const struct data_table *table = file->table;
	int inner = 0;

	thrift_list(to, last, 2, THRIFT_STRUCT, table->column_count + 1);
	thrift_text(to, &inner, 4, table->name);
	thrift_i32(to, &inner, 5, (int32_t)table->column_count);
	thrift_end(to);
	for (unsigned int i = 0; i < table->column_count; i++)
		describe_column(to, &table->columns[i], &file->chunks[i]);
}

static void put_footer(struct parquet_file *file)
{
	struct bytes *to = &file->page;
	int last = 0;

	to->size = 0;
	thrift_i32(to, &last, 1, FORMAT_VERSION);
	describe_table(to, &last, file);
	thrift_i64(to, &last, 3, (int64_t)file->all_rows);
	thrift_list(to, &last, 4, THRIFT_STRUCT, file->group_count);
	bytes_put(to, file->groups.data, file->groups.size);
	thrift_text(to, &last, 6, CREATED_BY);
	/* Declares that numbers are ordered by value: without it readers ignore the minimum and maximum. */
	thrift_list(to, &last, 7, THRIFT_STRUCT, file->table->column_count);
	for (unsigned int i = 0; i < file->table->column_count; i++) {
		int order = 0;

		thrift_struct(to, &order, 1);
		thrift_end(to);
		thrift_end(to);
	}
	thrift_end(to);
	bytes_u32(to, (uint32_t)to->size);
	bytes_put(to, MAGIC, strlen(MAGIC));
	if (to->failed)
		note(file, -ENOMEM);
	put(file, to->data, to->size);
}

static void free_file(struct parquet_file *file)
{
	for (unsigned int i = 0; i < file->table->column_count; i++) {
		struct chunk *chunk = &file->chunks[i];

		free(chunk->there);
		free(chunk->number);
		free(chunk->text);
		string_table_free(chunk->texts);
	}
	bytes_free(&file->groups);
	bytes_free(&file->page);
	bytes_free(&file->packed);
	bytes_free(&file->header);
	ZSTD_freeCCtx(file->zstd);
	free(file);
}

int parquet_close(struct parquet_file *file)
{
	int err;

	if (!file->err && file->rows)
		put_group(file);
	if (!file->err)
		put_footer(file);
	if (file->out && fclose(file->out) != 0)
		note(file, -errno);
	err = file->err;
	free_file(file);
	return err;
}
