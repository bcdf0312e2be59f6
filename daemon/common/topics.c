/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/common/topics.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = { "api",     "ioctl", "sched", "device",
				     "account", "irq",   "stack", "fault",
				     "io" };

#define NAMES (sizeof(names) / sizeof(names[0]))

const char *topic_name(unsigned int index)
{
	return index < NAMES ? names[index] : NULL;
}

static int find(const char *word, size_t length)
{
	for (size_t i = 0; i < NAMES; i++)
		if (strlen(names[i]) == length && !memcmp(names[i], word, length))
			return (int)i;
	return -1;
}

/* Appends what there is to choose from. */
static int refuse(const char *what, char *error, size_t error_size)
{
	size_t used = (size_t)snprintf(error, error_size, "%s; topics are", what);

	for (size_t i = 0; i < NAMES && used < error_size; i++)
		used += (size_t)snprintf(error + used, error_size - used, " %s", names[i]);
	return -EINVAL;
}

int topics_parse(const char *text, unsigned int *topics, char *error, size_t error_size)
{
	unsigned int found = 0;
	char what[96];

	for (const char *p = text; *p;) {
		size_t length = strcspn(p, ", \t");
		int index;

		if (length) {
			index = find(p, length);
			if (index < 0) {
				snprintf(what, sizeof(what), "unknown topic '%.*s'",
					 (int)(length < 40 ? length : 40), p);
				return refuse(what, error, error_size);
			}
			found |= 1u << index;
		}
		p += length;
		p += strspn(p, ", \t");
	}
	if (!found)
		return refuse("no topic given", error, error_size);
	*topics = found;
	return 0;
}
