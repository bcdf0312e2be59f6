/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/container_id.h"

#include <stddef.h>
#include <string.h>

#define HEX "0123456789abcdef"
#define UID_DIGITS 32 /* digits of a static pod's UID, which is a hash */

static bool ends_with(const char *text, size_t length, const char *end)
{
	size_t size = strlen(end);

	return length >= size && !memcmp(text + length - size, end, size);
}

static bool contains(const char *text, size_t length, const char *word)
{
	return memmem(text, length, word, strlen(word)) != NULL;
}

/* Extracts the id of a container from the name of one group. */
static void parse_container(const char *name, size_t length, struct container_id *id)
{
	size_t before;

	if (ends_with(name, length, ".scope"))
		length -= strlen(".scope");
	if (length < CONTAINER_ID_DIGITS)
		return;
	before = length - CONTAINER_ID_DIGITS;
	if (strspn(name + before, HEX) < CONTAINER_ID_DIGITS ||
	    (before && name[before - 1] != '-') || contains(name, before, "conmon-"))
		return;
	memcpy(id->container, name + before, CONTAINER_ID_DIGITS);
	id->container[CONTAINER_ID_DIGITS] = '\0';
}

/* Length of the UID at @text: 8-4-4-4-12 digits, or 32 without signs between; 0 = there is none. */
static size_t uid_length(const char *text, size_t room)
{
	static const size_t PARTS[] = { 8, 4, 4, 4, 12 };
	size_t at = 0;

	for (size_t i = 0; i < sizeof(PARTS) / sizeof(*PARTS); i++) {
		if (i && (at >= room || (text[at] != '-' && text[at] != '_')))
			return room == UID_DIGITS && strspn(text, HEX) >= UID_DIGITS ? UID_DIGITS : 0;
		at += i != 0;
		if (at + PARTS[i] > room || strspn(text + at, HEX) < PARTS[i])
			return 0;
		at += PARTS[i];
	}
	return at == room ? at : 0;
}

static void parse_pod(const char *name, size_t length, struct container_id *id)
{
	const char *pod = memmem(name, length, "pod", 3);
	size_t uid;

	if (ends_with(name, length, ".slice"))
		length -= strlen(".slice");
	/* "kubepods" has the word, too. */
	while (pod && pod != name && pod[-1] != '-')
		pod = memmem(pod + 1, (size_t)(name + length - pod - 1), "pod", 3);
	if (!pod || pod + 3 > name + length)
		return;
	uid = uid_length(pod + 3, (size_t)(name + length - pod - 3));
	if (!uid)
		return;
	memcpy(id->pod, pod + 3, uid);
	id->pod[uid] = '\0';
	for (char *p = id->pod; *p; p++)
		if (*p == '_')
			*p = '-';
}

bool container_id_parse(const char *path, struct container_id *id)
{
	memset(id, 0, sizeof(*id));
	while (*path) {
		size_t length = strcspn(path, "/:");

		parse_container(path, length, id);
		parse_pod(path, length, id);
		path += length + (path[length] != '\0');
	}
	return id->container[0] || id->pod[0];
}
