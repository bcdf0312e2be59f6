/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/common/topics.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = { "api", "ioctl", "sched", "device", "account",
				     "irq", "stack", "fault", "io",    "sample" };

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

/* Appends the list of topics to the message. */
static int refuse(const char *what, char *error, size_t error_size)
{
	size_t used = (size_t)snprintf(error, error_size, "%s; topics are", what);

	for (size_t i = 0; i < NAMES && used < error_size; i++)
		used += (size_t)snprintf(error + used, error_size - used, " %s", names[i]);
	return -EINVAL;
}

/* The topics that a word stands for; 0 if it is none. */
static unsigned int topics_of(const char *word, size_t length)
{
	int index = find(word, length);

	if (index >= 0)
		return 1u << index;
	if (length == strlen("default") && !memcmp(word, "default", length))
		return TOPICS_DEFAULT;
	if (length == strlen("all") && !memcmp(word, "all", length))
		return (1u << NAMES) - 1;
	return 0;
}

int topics_parse(const char *text, unsigned int *topics, char *error, size_t error_size)
{
	const char *p = text + strspn(text, ", \t");
	/* A list that begins with + or - changes the default. */
	unsigned int found = *p == '+' || *p == '-' ? TOPICS_DEFAULT : 0;
	bool any = *p;
	char what[96];

	while (*p) {
		size_t length = strcspn(p, ", \t");
		bool less = *p == '-', sign = less || *p == '+';
		unsigned int some = topics_of(p + sign, length - sign);

		if (!some) {
			snprintf(what, sizeof(what), "unknown topic '%.*s'",
				 (int)(length < 40 ? length : 40), p);
			return refuse(what, error, error_size);
		}
		found = less ? found & ~some : found | some;
		p += length;
		p += strspn(p, ", \t");
	}
	if (!found)
		return refuse(any ? "no topic is left after the removals" : "no topic given", error, error_size);
	*topics = found;
	return 0;
}
