/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/frame_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/elf/call_frames.h"
#include "lib/elf/dwarf_numbers.h"
#include "lib/elf/elf_private.h"
#include "lib/elf/frame_table.h"

/* A file's table while it is read. */
struct table {
	const struct elf_file *file;
	struct frame_machine machine;
	struct frame_table_row *rows;
	uint32_t count;
	uint8_t *bytes; /* of .eh_frame, which begins at @first */
	uint64_t first, size;
	/* What entries had in common last: of the same place. */
	struct frame_common common;
	uint64_t common_at;
	bool common_good;
	/* What was handed out. */
	frame_rule_taker *take;
	void *context;
	struct frame_rule last;
	uint64_t end; /* of the last entry */
	bool any;
};

static int read_rows(struct table *t)
{
	const struct elf_segment *hdr = &t->file->frame_table;
	struct frame_table_header header;

	if (!frame_table_header(t->file, &header))
		return -ENOENT;
	t->rows = malloc(header.count * sizeof(*t->rows));
	if (!t->rows)
		return -ENOMEM;
	t->count = header.count;
	t->first = hdr->address + offsetof(struct frame_table_header, frame) + (int64_t)header.frame;
	return frame_table_rows(t->file, 0, t->count, t->rows) ? 0 : -ENOENT;
}

/* Entries and their table lie in one segment. */
static uint64_t offset_of(const struct table *t, uint64_t address)
{
	return address - t->file->frame_table.address + t->file->frame_table.offset;
}

/* The section may end in the file, not in the list: it does where its last entry does. */
static int read_bytes(struct table *t)
{
	uint64_t last = t->first, hdr = t->file->frame_table.address;
	uint32_t length;

	for (uint32_t i = 0; i < t->count; i++) {
		uint64_t entry = hdr + (int64_t)t->rows[i].entry;

		if (entry > last)
			last = entry;
	}
	if (!elf_read_exactly(t->file, offset_of(t, last), &length, sizeof(length)) || length > FRAME_RULES_BYTES_MAX)
		return -ENOENT;
	t->size = last - t->first + sizeof(length) + length;
	if (t->size > FRAME_RULES_BYTES_MAX)
		return -EFBIG;
	t->bytes = malloc(t->size);
	if (!t->bytes)
		return -ENOMEM;
	return elf_read_exactly(t->file, offset_of(t, t->first), t->bytes, t->size) ? 0 : -ENOENT;
}

/* The bytes of an entry behind its length; false: there are none, or it has the long form, which nobody writes. */
static bool bytes_of(const struct table *t, uint64_t address, struct frame_bytes *b)
{
	uint64_t at = address - t->first;
	uint32_t length;

	if (at > t->size || t->size - at < sizeof(length))
		return false;
	memcpy(&length, t->bytes + at, sizeof(length));
	at += sizeof(length);
	if (!length || length > t->size - at)
		return false;
	*b = (struct frame_bytes){ t->bytes + at, t->bytes + at + length };
	return true;
}

static bool take_common(struct table *t, uint64_t address)
{
	struct frame_bytes b;

	if (t->common_at == address)
		return t->common_good;
	t->common_at = address;
	t->common_good = bytes_of(t, address, &b) && !frame_fixed(&b, 4) && frame_common_parse(b, &t->common);
	return t->common_good;
}

/* An address of @encoding whose bytes lie at @at in the file's address space. */
static bool read_address(struct frame_bytes *b, uint8_t encoding, uint64_t at, uint64_t *value)
{
	switch (encoding & 0xf) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8: *value = frame_fixed(b, 8); break;
	case DW_EH_PE_udata4: *value = frame_fixed(b, 4); break;
	case DW_EH_PE_sdata4: *value = (uint64_t)(int64_t)(int32_t)frame_fixed(b, 4); break;
	default: return false;
	}
	if ((encoding & 0xf0) == DW_EH_PE_pcrel)
		*value += at;
	return (encoding & 0xf0) == DW_EH_PE_pcrel || (encoding & 0xf0) == DW_EH_PE_absptr;
}

static bool parse_entry(struct table *t, uint64_t address, struct frame_entry *entry)
{
	struct frame_bytes b, start;
	uint64_t common, size;
	uint8_t encoding;

	if (!bytes_of(t, address, &b))
		return false;
	common = frame_fixed(&b, 4);
	if (!common || !take_common(t, address + 4 - common))
		return false;
	encoding = t->common.pointer_encoding;
	start = b;
	/* A size has the form of an address, but is relative to nothing. */
	if (!read_address(&b, encoding, t->first + (uint64_t)(start.at - t->bytes), &entry->first) ||
	    !read_address(&b, encoding & 0xf, 0, &size))
		return false;
	if ((encoding & 0xf) == DW_EH_PE_sdata4)
		size = (uint32_t)size;
	if (t->common.has_augmentation) {
		uint64_t skip = frame_uleb(&b);

		if (skip > (uint64_t)(b.end - b.at))
			return false;
		b.at += skip;
	}
	entry->end = entry->first + size;
	entry->instructions = b;
	return size && entry->end > entry->first;
}

static int pass_on(void *context, uint64_t address, const struct frame_rule *rule)
{
	struct table *t = context;

	if (t->any && !memcmp(&t->last, rule, sizeof(*rule)))
		return 0;
	t->any = true;
	t->last = *rule;
	return t->take(t->context, address, rule);
}

/* Short gaps are padding, in which nothing runs. */
static int close_gap(struct table *t, uint64_t next)
{
	const struct frame_rule none = { .kind = FRAME_RULE_NONE };

	if (!t->any || next - t->end < FRAME_RULES_PADDING)
		return 0;
	return pass_on(t, t->end, &none);
}

static int read_entries(struct table *t)
{
	uint64_t hdr = t->file->frame_table.address;

	for (uint32_t i = 0; i < t->count; i++) {
		struct frame_entry entry;
		int err;

		if (!parse_entry(t, hdr + (int64_t)t->rows[i].entry, &entry) ||
		    entry.first != hdr + (int64_t)t->rows[i].first || entry.first < t->end)
			continue;
		err = close_gap(t, entry.first);
		if (!err)
			err = call_frames_run(&t->machine, &t->common, &entry, pass_on, t);
		if (err)
			return err;
		t->end = entry.end;
	}
	return close_gap(t, UINT64_MAX);
}

int frame_rules_read(const struct elf_file *file, frame_rule_taker *take, void *context)
{
	struct table t = { .file = file, .take = take, .context = context };
	int err = frame_machine_of(file, &t.machine) ? read_rows(&t) : -ENOENT;

	if (!err)
		err = read_bytes(&t);
	if (!err)
		err = read_entries(&t);
	free(t.bytes);
	free(t.rows);
	return err;
}
