/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_magic.c - recognise common files by how they begin.
 */
#include <stdbool.h>
#include <string.h>

#include "lib/elf/file_magic.h"

struct prefix {
	const char *bytes;
	size_t size;
	struct file_magic magic;
};

#define PREFIX(text) (text), sizeof(text) - 1

static const struct prefix prefixes[] = {
	{ PREFIX("\xff\xd8\xff"), { "a JPEG image", FILE_MAGIC_OTHER } },
	{ PREFIX("\x89PNG\r\n"), { "a PNG image", FILE_MAGIC_OTHER } },
	{ PREFIX("GIF8"), { "a GIF image", FILE_MAGIC_OTHER } },
	{ PREFIX("%PDF-"), { "a PDF document", FILE_MAGIC_OTHER } },
	{ PREFIX("\x7f"
		 "ELF"),
	  { "an ELF program or library", FILE_MAGIC_OTHER } },
	{ PREFIX("PERFILE2"), { "a perf.data file", FILE_MAGIC_OTHER } },
	{ PREFIX("#!"), { "a script", FILE_MAGIC_OTHER } },
	{ PREFIX("<!DOCTYPE html"), { "an HTML page", FILE_MAGIC_OTHER } },
	{ PREFIX("<html"), { "an HTML page", FILE_MAGIC_OTHER } },
	{ PREFIX("\x1f\x8b"), { "a gzip file", FILE_MAGIC_PACKED } },
	{ PREFIX("PK\x03\x04"), { "a zip archive", FILE_MAGIC_PACKED } },
	{ PREFIX("\x28\xb5\x2f\xfd"), { "a zstd file", FILE_MAGIC_PACKED } },
	{ PREFIX("\xfd"
		 "7zXZ"),
	  { "an xz file", FILE_MAGIC_PACKED } },
	{ PREFIX("BZh"), { "a bzip2 file", FILE_MAGIC_PACKED } },
	{ "SQLite format 3", 16, { "an SQLite database", FILE_MAGIC_DEVICE } },
};

static const struct file_magic json = { "a JSON file", FILE_MAGIC_DEVICE };

static size_t skip_space(const uint8_t *data, size_t size, size_t i)
{
	while (i < size &&
	       (data[i] == ' ' || data[i] == '\t' || data[i] == '\r' || data[i] == '\n'))
		i++;
	return i;
}

/* JSON has no magic: an opening bracket and something that may follow it. */
static bool is_json(const uint8_t *data, size_t size)
{
	const char *may_follow;
	size_t i = skip_space(data, size, 0);

	if (i == size || (data[i] != '{' && data[i] != '['))
		return false;
	may_follow = data[i] == '{' ? "\"}" : "{[\"]-0123456789tfn";
	i = skip_space(data, size, i + 1);
	return i < size && data[i] && strchr(may_follow, data[i]);
}

const struct file_magic *file_magic_of(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const struct prefix *p = &prefixes[i];

		if (size >= p->size && !memcmp(data, p->bytes, p->size))
			return &p->magic;
	}
	return is_json(data, size) ? &json : NULL;
}
