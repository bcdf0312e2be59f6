/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/readers/sqlite_torn.h"

#include <string.h>

#define MAGIC "SQLite format 3"
#define SYSTEM_OF_TORN "profbpf-torn"

/* Offsets in the header; its numbers are big-endian. */
#define HEADER_BYTES 100
#define AT_PAGE_SIZE 16
#define AT_CHANGES 24
#define AT_PAGES 28
#define AT_CHANGES_OF_PAGES 92 /* value of the change counter when the number of pages was written */

/* SQLite's methods for files, the same for all files of a system, and those for torn files. */
static const sqlite3_io_methods *whole_methods;
static sqlite3_io_methods torn_methods;

static uint32_t number_at(const unsigned char *header, size_t at)
{
	return (uint32_t)header[at] << 24 | (uint32_t)header[at + 1] << 16 |
	       (uint32_t)header[at + 2] << 8 | header[at + 3];
}

/* The page size in the header, where 1 means 64 KiB; never 0. */
static sqlite3_int64 page_size(const unsigned char *header)
{
	sqlite3_int64 size = header[AT_PAGE_SIZE] << 8 | header[AT_PAGE_SIZE + 1];

	return size > 1 ? size : 65536;
}

static bool read_header(const sqlite3_io_methods *methods, sqlite3_file *file,
			unsigned char *header, sqlite3_int64 *size)
{
	return methods->xFileSize(file, size) == SQLITE_OK && *size >= HEADER_BYTES &&
	       methods->xRead(file, header, HEADER_BYTES, 0) == SQLITE_OK &&
	       memcmp(header, MAGIC, sizeof(MAGIC)) == 0;
}

bool sqlite_torn(sqlite3 *db, sqlite3_int64 *there, sqlite3_int64 *whole)
{
	unsigned char header[HEADER_BYTES];
	const sqlite3_io_methods *methods;
	sqlite3_file *file = NULL;

	if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
	    !file || !file->pMethods)
		return false;
	methods = file->pMethods == &torn_methods ? whole_methods : file->pMethods;
	/* Old SQLite versions did not maintain the number of pages. */
	if (!read_header(methods, file, header, there) ||
	    number_at(header, AT_CHANGES) != number_at(header, AT_CHANGES_OF_PAGES))
		return false;
	*whole = page_size(header) * number_at(header, AT_PAGES);
	return *there < *whole;
}

/* An incomplete page would be read with zeros at its end, as rows that were never written. */
static int size_in_pages(sqlite3_file *file, sqlite3_int64 *size)
{
	unsigned char header[HEADER_BYTES];
	int status = whole_methods->xFileSize(file, size);

	if (status == SQLITE_OK && read_header(whole_methods, file, header, size))
		*size -= *size % page_size(header);
	return status;
}

static int open_torn(sqlite3_vfs *system, const char *name, sqlite3_file *file, int flags,
		     int *out_flags)
{
	sqlite3_vfs *whole = sqlite3_vfs_find(NULL);
	int status = whole->xOpen(whole, name, file, flags, out_flags);

	if (status != SQLITE_OK || !(flags & SQLITE_OPEN_MAIN_DB) || !file->pMethods)
		return status;
	whole_methods = file->pMethods;
	torn_methods = *whole_methods;
	torn_methods.xFileSize = size_in_pages;
	file->pMethods = &torn_methods;
	return status;
}

static bool add_system(void)
{
	static sqlite3_vfs system;

	if (sqlite3_vfs_find(SYSTEM_OF_TORN))
		return true;
	if (!sqlite3_vfs_find(NULL))
		return false;
	system = *sqlite3_vfs_find(NULL);
	system.zName = SYSTEM_OF_TORN;
	system.pNext = NULL;
	system.xOpen = open_torn;
	return sqlite3_vfs_register(&system, 0) == SQLITE_OK;
}

sqlite3 *sqlite_torn_open(sqlite3 *db, const char *uri, int flags)
{
	sqlite3_int64 there, whole;
	int status;

	if (!sqlite_torn(db, &there, &whole) || !add_system())
		return db;
	sqlite3_close(db);
	status = sqlite3_open_v2(uri, &db, flags, SYSTEM_OF_TORN);
	if (status != SQLITE_OK) {
		sqlite3_close(db);
		return NULL;
	}
	/*
	 * A table whose first page is missing makes the others unreadable, unless writable_schema is on. Nothing
	 * can be written to a file that is open for reading only.
	 */
	sqlite3_exec(db, "PRAGMA writable_schema=ON", NULL, NULL, NULL);
	return db;
}

int sqlite_torn_table(const char *query, const char **name)
{
	const char *from = strstr(query, "FROM ");

	*name = from ? from + strlen("FROM ") : query + strlen(query);
	*name += **name == '"';
	return (int)strcspn(*name, " ,()\"");
}

static sqlite3_int64 count_rows(sqlite3 *db, const char *table, int length)
{
	char *query = sqlite3_mprintf("SELECT 1 FROM \"%.*s\" NOT INDEXED", length, table);
	sqlite3_stmt *statement = NULL;
	sqlite3_int64 count = 0;

	if (query && sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK) {
		while (sqlite3_step(statement) == SQLITE_ROW)
			count++;
	}
	sqlite3_finalize(statement);
	sqlite3_free(query);
	return count;
}

char *sqlite_torn_query(sqlite3 *db, const char *query)
{
	sqlite3_int64 there, whole, count;
	const char *table, *rest;
	int length = sqlite_torn_table(query, &table);
	bool quoted;

	if (!length || !sqlite_torn(db, &there, &whole))
		return NULL;
	count = count_rows(db, table, length);
	if (!count)
		return NULL;
	quoted = table[-1] == '"';
	rest = table + length + (quoted && table[length] == '"');
	/* OFFSET prevents SQLite from merging the two queries, which would read on. */
	return sqlite3_mprintf("%.*s(SELECT rowid, * FROM \"%.*s\" NOT INDEXED LIMIT %lld OFFSET 0)%s",
			       (int)(table - quoted - query), query, length, table, count, rest);
}
