/* SPDX-License-Identifier: Apache-2.0 */
/* quantile() and median(). */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyzer/store/sql_tables.h"

struct values {
	double *value; /* NULL until the first one */
	size_t count;
	size_t capacity;
	double fraction;
	bool real; /* not all are whole numbers */
	bool failed;
};

static bool grow(struct values *values)
{
	size_t capacity = values->capacity ? values->capacity * 2 : 64;
	double *grown = reallocarray(values->value, capacity, sizeof(*grown));

	if (!grown)
		return false;
	values->value = grown;
	values->capacity = capacity;
	return true;
}

static void add(sqlite3_context *context, double fraction, sqlite3_value *argument)
{
	struct values *values = sqlite3_aggregate_context(context, sizeof(*values));
	int type = sqlite3_value_type(argument);

	if (!values || values->failed || (type != SQLITE_INTEGER && type != SQLITE_FLOAT))
		return;
	values->fraction = fraction;
	values->real |= type == SQLITE_FLOAT;
	if (values->count == values->capacity && !grow(values)) {
		values->failed = true;
		return;
	}
	values->value[values->count++] = sqlite3_value_double(argument);
}

static void add_median(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	add(context, 0.5, argv[0]);
}

static void add_quantile(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	double fraction = sqlite3_value_double(argv[1]);

	if (fraction >= 0 && fraction <= 1)
		add(context, fraction, argv[0]);
	else
		sqlite3_result_error(context,
				     "quantile(value, fraction) needs a fraction from 0 to 1, as 0.99",
				     -1);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void finish(sqlite3_context *context)
{
	struct values *values = sqlite3_aggregate_context(context, 0);
	double rank, found;

	if (values && values->failed) {
		sqlite3_result_error_nomem(context);
	} else if (values && values->count) {
		qsort(values->value, values->count, sizeof(*values->value), by_value);
		rank = ceil(values->fraction * (double)values->count);
		found = values->value[rank >= 1 ? (size_t)rank - 1 : 0];
		if (values->real)
			sqlite3_result_double(context, found);
		else
			sqlite3_result_int64(context, (sqlite3_int64)found);
	}
	if (values)
		free(values->value);
}

int sql_functions_add(sqlite3 *db)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int code = sqlite3_create_function_v2(db, "quantile", 2, flags, NULL, NULL, add_quantile,
					      finish, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_create_function_v2(db, "median", 1, flags, NULL, NULL, add_median,
						  finish, NULL);
	return code;
}
