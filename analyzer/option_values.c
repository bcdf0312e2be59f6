/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options: durations and lists. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/options.h"
#include "analyzer/write/report.h"

struct unit {
	const char *name;
	uint64_t ns;
};

static const struct unit UNITS[] = {
	{ "", 1000000000 }, { "s", 1000000000 }, { "ms", 1000000 },
	{ "us", 1000 },	    { "ns", 1 },	 { "m", 60000000000 },
};

static const struct unit *find_unit(const char *name)
{
	for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++) {
		if (strcmp(UNITS[i].name, name) == 0)
			return &UNITS[i];
	}
	return NULL;
}

static bool append_digit(uint64_t *value, char digit)
{
	return !__builtin_mul_overflow(*value, 10u, value) &&
	       !__builtin_add_overflow(*value, (uint64_t)(digit - '0'), value);
}

bool parse_duration(const char *text, uint64_t *ns)
{
	uint64_t value = 0, scale = 1;
	const struct unit *unit;
	bool digits = false;

	for (; isdigit((unsigned char)*text); text++, digits = true) {
		if (!append_digit(&value, *text))
			return false;
	}
	if (*text == '.') {
		for (text++; isdigit((unsigned char)*text); text++, digits = true) {
			if (!append_digit(&value, *text) || scale > UINT64_MAX / 10)
				return false;
			scale *= 10;
		}
	}
	unit = find_unit(text);
	if (!digits || !unit)
		return false;
	{
		unsigned __int128 all = (unsigned __int128)value * unit->ns;

		if (all % scale || all / scale > UINT64_MAX)
			return false;
		*ns = (uint64_t)(all / scale);
	}
	return true;
}

bool parse_numbers(const char *text, uint32_t **numbers, uint32_t *count)
{
	uint32_t *list = NULL, used = 0;

	for (;;) {
		unsigned long long value;
		uint32_t *grown;
		char *end;

		if (!isdigit((unsigned char)*text))
			goto bad;
		errno = 0;
		value = strtoull(text, &end, 10);
		if (errno || value == 0 || value > INT32_MAX || (*end && *end != ','))
			goto bad;
		grown = reallocarray(list, used + 1, sizeof(*list));
		if (!grown)
			goto bad;
		list = grown;
		list[used++] = (uint32_t)value;
		if (!*end)
			break;
		text = end + 1;
	}
	*numbers = list;
	*count = used;
	return true;
bad:
	free(list);
	return false;
}

bool parse_sections(const char *text, uint32_t *sections)
{
	static const char *const names[] = { "trace", "capture", "host", "processes", "api",
					     "ioctl", "devices", "join", "operators", "idle" };
	uint32_t found = 0;

	while (*text) {
		size_t length = strcspn(text, ","), i = 0;

		while (i < sizeof(names) / sizeof(names[0]) &&
		       (strlen(names[i]) != length || memcmp(names[i], text, length) != 0))
			i++;
		if (i == sizeof(names) / sizeof(names[0]))
			return false;
		found |= 1u << i;
		text += length;
		if (*text == ',' && !*++text)
			return false;
	}
	*sections = found;
	return found != 0;
}
