/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/quotas.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/size.h"

#define COUNT_MAX (1u << 30)
#define SIZE_TEXT 32

static const struct limit {
	const char *option;
	size_t offset;
	bool is_size;
	uint64_t least; /* the smallest valid number */
} limits[] = {
	{ "user-sessions", offsetof(struct quotas, sessions), false, 0 },
	{ "user-memory", offsetof(struct quotas, memory_bytes), true, 0 },
	{ "user-processes", offsetof(struct quotas, processes), false, 1 },
	{ "user-functions", offsetof(struct quotas, functions), false, 1 },
	{ "user-catalog", offsetof(struct quotas, catalog_bytes), true, 0 },
};

static int parse_count(const char *text, uint64_t least, uint64_t *count, char *error,
		       size_t error_size)
{
	static const struct decimal_unit one[] = { { "", 1 } };
	const char *unit;

	uint64_t parsed;

	if (decimal_parse(text, one, 1, COUNT_MAX, &parsed, &unit) || parsed < least) {
		snprintf(error, error_size, "'%s' is not a number from %" PRIu64 " to %u", text, least,
			 COUNT_MAX);
		return -EINVAL;
	}
	*count = parsed;
	return 0;
}

int quotas_set(struct quotas *quotas, const char *option, const char *value, char *error,
	       size_t error_size)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		uint64_t *limit = (uint64_t *)((char *)quotas + limits[i].offset);

		if (strcmp(option, limits[i].option))
			continue;
		if (!limits[i].is_size)
			return parse_count(value, limits[i].least, limit, error, error_size);
		return size_parse(value, limit, error, error_size) ? -EINVAL : 0;
	}
	return -ENOENT;
}

static int check_memory(const struct quotas *quotas, const struct quota_use *use,
			const struct quota_wish *wish, char *error, size_t error_size)
{
	char limit[SIZE_TEXT], used[SIZE_TEXT], wanted[SIZE_TEXT];
	uint64_t left = use->memory_bytes < quotas->memory_bytes
				? quotas->memory_bytes - use->memory_bytes
				: 0;

	if (wish->memory_bytes <= left)
		return 0;
	snprintf(error, error_size,
		 "the sessions of an ordinary user may use %s of memory; yours use %s, and this "
		 "one would use %s more: use a smaller --buffer, or end a session with profctl "
		 "stop; the administrator can raise the limit (profbpfd --user-memory)",
		 size_format(quotas->memory_bytes, limit, sizeof(limit)),
		 size_format(use->memory_bytes, used, sizeof(used)),
		 size_format(wish->memory_bytes, wanted, sizeof(wanted)));
	return -EDQUOT;
}

static int check_catalogs(const struct quotas *quotas, const struct quota_wish *wish, char *error,
			  size_t error_size)
{
	char limit[SIZE_TEXT], wanted[SIZE_TEXT];

	if (wish->catalog_bytes <= quotas->catalog_bytes)
		return 0;
	snprintf(
		error, error_size,
		"the catalogs of an ordinary user may have %s in total, yours have %s: leave out "
		"functions that need not be traced; the administrator can raise the limit "
		"(profbpfd --user-catalog), or add the catalogs for all users (profbpfd --catalog)",
		size_format(quotas->catalog_bytes, limit, sizeof(limit)),
		size_format(wish->catalog_bytes, wanted, sizeof(wanted)));
	return -EDQUOT;
}

int quotas_check(const struct quotas *quotas, const struct quota_use *use,
		 const struct quota_wish *wish, char *error, size_t error_size)
{
	int err;

	if (use->sessions >= quotas->sessions) {
		snprintf(error, error_size,
			 "you have %" PRIu64 " sessions, an ordinary user may have %" PRIu64 ": "
			 "end one with profctl stop (profctl list shows them); the administrator "
			 "can raise the limit (profbpfd --user-sessions)",
			 use->sessions, quotas->sessions);
		return -EDQUOT;
	}
	if (wish->processes > quotas->processes) {
		snprintf(error, error_size,
			 "%" PRIu64 " processes are requested, but a session of an ordinary user "
			 "traces %" PRIu64 " at most: give fewer; the administrator can raise the "
			 "limit (profbpfd --user-processes)",
			 wish->processes, quotas->processes);
		return -EDQUOT;
	}
	err = check_memory(quotas, use, wish, error, error_size);
	return err ? err : check_catalogs(quotas, wish, error, error_size);
}
