/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/frame_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/elf/call_frames.h"
#include "lib/elf/code_entries.h"
#include "lib/elf/code_frames.h"
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
	/* The last CIE, and its address. */
	struct frame_common common;
	uint64_t common_at;
	bool common_good;
	/* Code that no entry covers, and where functions begin in it. */
	struct code_gap *gaps;
	size_t gap_count, gap_capacity, gap; /* gap: index of the next gap to be handed out */
	struct code_entries entries;
	uint64_t derived; /* bytes so far */
	bool told; /* rules of entries only: gaps are counted, and have no rules */
	/* The consumer, and the last rule that was handed out. */
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

/* The file offset of an address; entries and their table are in one segment. */
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

/* The bytes of an entry behind its length; returns false for an empty entry or the 64-bit form, which no linker writes. */
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

/* Reads an address in @encoding; @at is the address of its bytes in the file's address space. */
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
	/* A size is encoded like an address, but not relative to anything. */
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

/* The entry of row @row; returns false if it is invalid or overlaps the entry before. */
static bool next_entry(struct table *t, uint32_t row, uint64_t end, struct frame_entry *entry)
{
	uint64_t hdr = t->file->frame_table.address;

	return parse_entry(t, hdr + (int64_t)t->rows[row].entry, entry) &&
	       entry->first == hdr + (int64_t)t->rows[row].first && entry->first >= end;
}

static int add_gap(struct table *t, struct code_gap gap)
{
	if (t->gap_count == t->gap_capacity) {
		size_t larger = t->gap_capacity ? 2 * t->gap_capacity : 64;
		struct code_gap *grown = reallocarray(t->gaps, larger, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		t->gaps = grown;
		t->gap_capacity = larger;
	}
	t->gaps[t->gap_count++] = gap;
	return 0;
}

/* Notes the part of @gap in each executable segment. If segments are not in order, some gaps are left out. */
static int note_gap(struct table *t, struct code_gap gap)
{
	int err = 0;

	for (size_t i = 0; i < t->file->segment_count && t->gap_count < FRAME_RULES_GAPS_MAX && !err; i++) {
		const struct elf_segment *s = &t->file->segments[i];
		uint64_t first = gap.first > s->address ? gap.first : s->address;
		uint64_t end = gap.end < s->address + s->size ? gap.end : s->address + s->size;

		if (end > first && end - first >= FRAME_RULES_DERIVED_MIN &&
		    (!t->gap_count || first >= t->gaps[t->gap_count - 1].end))
			err = add_gap(t, (struct code_gap){ first, end });
	}
	return err;
}

/* The total size of the gaps; 0 if it is so small that only the linkage table is without entries, as in every file. */
static uint64_t gaps_size(const struct table *t)
{
	uint64_t size = 0;

	for (size_t i = 0; i < t->gap_count; i++)
		size += t->gaps[i].end - t->gaps[i].first;
	return size < FRAME_RULES_DERIVED_LEAST ? 0 : size;
}

static int find_gaps(struct table *t)
{
	struct frame_entry entry;
	uint64_t end = 0;
	int err = 0;

	if (!t->machine.x86)
		return 0;
	for (uint32_t i = 0; i < t->count && !err; i++) {
		if (!next_entry(t, i, end, &entry))
			continue;
		if (entry.first - end >= FRAME_RULES_DERIVED_MIN)
			err = note_gap(t, (struct code_gap){ end, entry.first });
		end = entry.end;
	}
	if (!err)
		err = note_gap(t, (struct code_gap){ end, UINT64_MAX });
	if (!gaps_size(t))
		t->gap_count = 0;
	return err ? err : code_entries_find(t->file, t->gaps, t->gap_count, &t->entries);
}

static bool read_code(const struct table *t, uint64_t address, void *code, uint64_t size)
{
	for (size_t i = 0; i < t->file->segment_count; i++) {
		const struct elf_segment *s = &t->file->segments[i];

		if (address >= s->address && size <= s->size && address - s->address <= s->size - size)
			return elf_read_exactly(t->file, s->offset + (address - s->address), code, size);
	}
	return false;
}

/* The rules of a gap, from its instructions; an entry follows at @next. */
static int derive(struct table *t, const struct code_gap *gap, uint64_t next)
{
	const struct frame_rule none = { .kind = FRAME_RULE_NONE };
	uint64_t size = gap->end - gap->first;
	struct code_span span = { .first = gap->first, .end = gap->end };
	uint8_t *code;
	int err;

	if (size > FRAME_RULES_DERIVED_MAX - t->derived)
		return pass_on(t, gap->first, &none);
	t->derived += size;
	code = malloc(size);
	if (!code)
		return -ENOMEM;
	span.code = code;
	err = read_code(t, gap->first, code, size) ?
		      code_frames_run(&span, t->entries.row, t->entries.count, pass_on, t) :
		      pass_on(t, gap->first, &none);
	free(code);
	return err || gap->end == next ? err : pass_on(t, gap->end, &none);
}

/* Closes the gap before @next. Short gaps are padding, which is never executed. */
static int close_gap(struct table *t, uint64_t next)
{
	const struct frame_rule none = { .kind = FRAME_RULE_NONE };
	bool derived = !t->told && t->gap < t->gap_count && t->gaps[t->gap].first == t->end;
	int err = 0;

	if (t->any && !derived && next - t->end >= FRAME_RULES_PADDING)
		err = pass_on(t, t->end, &none);
	if (t->told)
		return err || !t->machine.x86 || next - t->end < FRAME_RULES_DERIVED_MIN ?
			       err :
			       note_gap(t, (struct code_gap){ t->end, next });
	for (; !err && t->gap < t->gap_count && t->gaps[t->gap].first < next; t->gap++)
		err = derive(t, &t->gaps[t->gap], next);
	return err;
}

static int read_entries(struct table *t)
{
	for (uint32_t i = 0; i < t->count; i++) {
		struct frame_entry entry;
		int err;

		if (!next_entry(t, i, t->end, &entry))
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

static int read_table(struct table *t)
{
	int err = frame_machine_of(t->file, &t->machine) ? read_rows(t) : -ENOENT;

	if (!err)
		err = read_bytes(t);
	if (!err && !t->told)
		err = find_gaps(t);
	return err ? err : read_entries(t);
}

static void free_table(struct table *t)
{
	free(t->entries.row);
	free(t->gaps);
	free(t->bytes);
	free(t->rows);
}

int frame_rules_read(const struct elf_file *file, frame_rule_taker *take, void *context)
{
	struct table t = { .file = file, .take = take, .context = context };
	int err = read_table(&t);

	free_table(&t);
	return err;
}

int frame_rules_read_told(const struct elf_file *file, frame_rule_taker *take, void *context, uint64_t *left)
{
	struct table t = { .file = file, .told = true, .take = take, .context = context };
	int err = read_table(&t);

	*left = err ? 0 : gaps_size(&t);
	free_table(&t);
	return err;
}
