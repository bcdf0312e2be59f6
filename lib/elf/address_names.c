/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/address_names.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bisect.h"
#include "lib/base/strings.h"

#define LAST_SYMBOL_BYTES 65536
#define BLOCK (64u << 10) /* bytes read at once; more than any line that makes sense */

struct entry {
	uint64_t start, end; /* end 0: the range ends where the next one begins */
	uint32_t name;
	uint32_t order; /* line it was on */
	bool bpf;
};

struct address_names {
	struct string_table *strings;
	struct entry *entry; /* sorted by start; none overlap once finished */
	size_t count, capacity;
};

static struct address_names *names_new(void)
{
	struct address_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->strings = string_table_new();
	if (!names->strings) {
		free(names);
		return NULL;
	}
	return names;
}

void address_names_free(struct address_names *names)
{
	if (!names)
		return;
	string_table_free(names->strings);
	free(names->entry);
	free(names);
}

size_t address_names_count(const struct address_names *names)
{
	return names->count;
}

static bool make_room(struct address_names *names)
{
	size_t capacity = names->capacity ? names->capacity * 2 : 256;
	struct entry *grown;

	if (names->count < names->capacity)
		return true;
	grown = reallocarray(names->entry, capacity, sizeof(*grown));
	if (!grown)
		return false;
	names->entry = grown;
	names->capacity = capacity;
	return true;
}

static bool add(struct address_names *names, uint64_t start, uint64_t end, const char *name)
{
	size_t length = strcspn(name, "\n");
	uint32_t id;

	if (length > ADDRESS_NAMES_LENGTH)
		length = ADDRESS_NAMES_LENGTH;
	while (length && isspace((unsigned char)name[length - 1]))
		length--;
	if (!length || names->count >= ADDRESS_NAMES_MAX)
		return true;
	id = string_table_add(names->strings, name, length);
	if (id == STRING_NONE || !make_room(names))
		return false;
	names->entry[names->count] = (struct entry){ start, end, id, (uint32_t)names->count, false };
	names->count++;
	return true;
}

/* Hexadecimal digits at *@text, which is moved behind them; false if there are none. */
static bool parse_hex(const char **text, uint64_t *value)
{
	char *end;

	if (!isxdigit((unsigned char)**text))
		return false;
	errno = 0;
	*value = strtoull(*text, &end, 16);
	if (errno)
		return false;
	*text = end;
	return true;
}

/* "ffffffff81000000 T _text" with "\t[module]" behind the symbols of modules. */
static bool kernel_line(struct address_names *names, char *line)
{
	const char *at = line;
	uint64_t address;
	size_t before;
	bool bpf;

	if (!parse_hex(&at, &address) || !address || at[0] != ' ' || !strchr("tTwW", at[1]) ||
	    !at[1] || at[2] != ' ')
		return true;
	bpf = strstr(line, "\t[bpf]") != NULL;
	line[strcspn(line, "\t\n")] = '\0';
	before = names->count;
	if (!add(names, address, 0, at + 3))
		return false;
	if (names->count > before)
		names->entry[before].bpf = bpf;
	return true;
}

static bool perf_line(struct address_names *names, char *line)
{
	const char *at = line;
	uint64_t start, size;

	if (strncmp(at, "0x", 2) == 0)
		at += 2;
	if (!parse_hex(&at, &start) || *at != ' ')
		return true;
	at++;
	if (!parse_hex(&at, &size) || *at != ' ' || !size || start + size < start)
		return true;
	return add(names, start, start + size, at + 1);
}

static int by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Keeps the first of several symbols at one address; a symbol ends where the next one begins. */
static void finish_kernel(struct address_names *names)
{
	size_t kept = 0;

	if (names->count)
		qsort(names->entry, names->count, sizeof(*names->entry), by_start);
	for (size_t i = 0; i < names->count; i++) {
		if (kept && names->entry[kept - 1].start == names->entry[i].start)
			continue;
		if (kept)
			names->entry[kept - 1].end = names->entry[i].start;
		names->entry[kept++] = names->entry[i];
	}
	names->count = kept;
	if (kept) {
		uint64_t start = names->entry[kept - 1].start;

		names->entry[kept - 1].end = start < UINT64_MAX - LAST_SYMBOL_BYTES
						     ? start + LAST_SYMBOL_BYTES
						     : UINT64_MAX;
	}
}

/* The last name given to a start is kept; a range ends where a later-starting one begins. */
static void finish_perf_map(struct address_names *names)
{
	size_t kept = 0;

	if (names->count)
		qsort(names->entry, names->count, sizeof(*names->entry), by_start);
	for (size_t i = 0; i < names->count; i++) {
		if (kept && names->entry[kept - 1].start == names->entry[i].start)
			kept--;
		if (kept && names->entry[kept - 1].end > names->entry[i].start)
			names->entry[kept - 1].end = names->entry[i].start;
		names->entry[kept++] = names->entry[i];
	}
	names->count = kept;
}

/* Takes the complete lines of a block; returns the number of bytes of an incomplete line at its end. */
static size_t take_lines(struct address_names *names, char *block, size_t size, bool *skip,
			 bool (*take)(struct address_names *names, char *line), bool *good)
{
	char *at = block, *end;

	while (*good && (end = memchr(at, '\n', (size_t)(block + size - at)))) {
		*end = '\0';
		if (!*skip)
			*good = take(names, at);
		*skip = false;
		at = end + 1;
	}
	size -= (size_t)(at - block);
	/* A target's file may be one endless line: its first bytes are enough. */
	if (size == BLOCK && !*skip) {
		block[size] = '\0';
		*good = *good && take(names, block);
		*skip = true;
	}
	if (*skip)
		return 0;
	memmove(block, at, size);
	return size;
}

static struct address_names *read_lines(FILE *file,
					bool (*take)(struct address_names *names, char *line),
					void (*finish)(struct address_names *names))
{
	struct address_names *names = names_new();
	char *block = malloc(BLOCK + 1);
	bool good = names && block, skip = false;
	uint64_t total = 0;
	size_t used = 0, n;

	while (good && total < ADDRESS_NAMES_BYTES &&
	       (n = fread(block + used, 1, BLOCK - used, file)) > 0) {
		total += n;
		used = take_lines(names, block, used + n, &skip, take, &good);
	}
	if (good && used) {
		block[used] = '\0';
		good = take(names, block);
	}
	free(block);
	if (!good) {
		address_names_free(names);
		return NULL;
	}
	finish(names);
	return names;
}

struct address_names *address_names_kernel(FILE *file)
{
	return read_lines(file, kernel_line, finish_kernel);
}

struct address_names *address_names_perf_map(FILE *file)
{
	return read_lines(file, perf_line, finish_perf_map);
}

static const struct entry *find(const struct address_names *names, uint64_t address)
{
	size_t next = BISECT(i, 0, names->count, names->entry[i].start <= address);

	return next && address < names->entry[next - 1].end ? &names->entry[next - 1] : NULL;
}

bool address_names_is_bpf(const struct address_names *names, uint64_t address)
{
	const struct entry *entry = find(names, address);

	return entry && entry->bpf;
}

const char *address_names_find(const struct address_names *names, uint64_t address)
{
	const struct entry *entry = find(names, address);

	return entry ? string_table_get(names->strings, entry->name) : NULL;
}
