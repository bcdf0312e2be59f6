/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/readers/sqlite_column.h"

#include "analyzer/import/decimal_ns.h"

static int64_t whole_of(sqlite3_stmt *row, int column)
{
	int64_t value;
	double real;

	switch (sqlite3_column_type(row, column)) {
	case SQLITE_INTEGER: return sqlite3_column_int64(row, column);
	case SQLITE_FLOAT:
		real = sqlite3_column_double(row, column);
		return real > -0x1p63 && real < 0x1p63 ? (int64_t)real : INT64_MIN;
	case SQLITE_TEXT:
		return decimal_scaled((const char *)sqlite3_column_text(row, column),
				      (size_t)sqlite3_column_bytes(row, column), 0, &value)
			       ? value
			       : INT64_MIN;
	default: return INT64_MIN;
	}
}

int64_t sqlite_column_instant(sqlite3_stmt *row, int column)
{
	int64_t value = whole_of(row, column);

	return value == INT64_MAX ? INT64_MIN : value;
}

uint64_t sqlite_column_stream(sqlite3_stmt *row, int column)
{
	int64_t number = sqlite_column_instant(row, column);

	return number < 0 ? UINT64_MAX : (uint64_t)number;
}
