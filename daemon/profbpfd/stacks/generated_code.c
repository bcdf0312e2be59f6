/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/generated_code.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "lib/base/present_memory.h"
#include "lib/elf/code_frames.h"

#define PAGE 4096
#define ALIGNMENT 16
#define TRAP 0xcc
#define ZEROS_MIN 8

#if defined(__x86_64__)
#define IS_KNOWN true
#else
#define IS_KNOWN false /* only x86-64 instructions can be decoded */
#endif

/* Collects up to IOV_MAX pages from @at on that are in memory; returns the page to continue with. */
static size_t next_pieces(const struct generated_code *code, const bool *present, size_t at, struct iovec *from,
			  struct iovec *to, size_t *count)
{
	size_t pages = code->size / PAGE;

	*count = 0;
	for (; at < pages && *count < IOV_MAX; at++) {
		if (!present[at])
			continue;
		from[*count] = (struct iovec){ (void *)(code->first + at * PAGE), PAGE };
		to[(*count)++] = (struct iovec){ code->bytes + at * PAGE, PAGE };
	}
	return at;
}

/* Pages that are not in memory do not run: they stay zero. */
static bool copy_present(struct generated_code *code, pid_t pid)
{
	size_t pages = code->size / PAGE, count;
	bool *present = calloc(pages, sizeof(*present)), any = false;
	struct iovec from[IOV_MAX], to[IOV_MAX];
	struct present_memory memory;

	present_memory_open(&memory, pid);
	if (present && present_memory_pages(&memory, code->first, pages, present))
		for (size_t at = 0; at < pages;) {
			at = next_pieces(code, present, at, from, to, &count);
			if (count && process_vm_readv(pid, to, count, from, count, 0) > 0)
				any = true;
		}
	present_memory_close(&memory);
	free(present);
	return any;
}

bool generated_code_take(struct generated_code *code, pid_t pid, const struct process_map *map)
{
	*code = (struct generated_code){ .first = map->start, .size = map->end - map->start };
	if (!IS_KNOWN || !code->size || code->size > GENERATED_CODE_MAX)
		return false;
	code->bytes = calloc(1, code->size);
	if (code->bytes && copy_present(code, pid))
		return true;
	generated_code_free(code);
	return false;
}

void generated_code_free(struct generated_code *code)
{
	free(code->bytes);
	code->bytes = NULL;
}

/* Do the bytes before @at belong to no code? They are traps, or more zeros than an immediate operand may end with. */
static bool is_filled_before(const struct generated_code *code, uint64_t at)
{
	uint64_t zeros = 0;

	if (!at || code->bytes[at - 1] == TRAP)
		return true;
	while (zeros < ZEROS_MIN && zeros < at && !code->bytes[at - 1 - zeros])
		zeros++;
	return zeros == ZEROS_MIN;
}

/* push of a callee-saved register; sub rsp, ...; endbr64 */
static bool is_prologue(const uint8_t *b)
{
	return b[0] == 0x53 || b[0] == 0x55 || (b[0] == 0x41 && b[1] >= 0x54 && b[1] <= 0x57) ||
	       (b[0] == 0x48 && (b[1] & 0xfd) == 0x81 && b[2] == 0xec) || (b[0] == 0xf3 && b[1] == 0x0f && b[2] == 0x1e);
}

/* May a function begin at byte @at? */
static bool may_begin(const struct generated_code *code, uint64_t at)
{
	if (!code->bytes[at] || code->bytes[at] == TRAP)
		return false;
	return is_filled_before(code, at) ||
	       (at % PAGE == 0 && code->size - at >= ALIGNMENT && is_prologue(code->bytes + at));
}

int generated_code_read(const void *what, frame_rule_taker *take, void *context)
{
	const struct generated_code *code = what;
	const struct code_span span = { code->bytes, code->first, code->first + code->size };
	struct code_entry *entry = malloc((code->size / ALIGNMENT + 1) * sizeof(*entry));
	size_t entries = 0;
	int err;

	if (!entry)
		return -ENOMEM;
	for (uint64_t at = 0; at < code->size; at += ALIGNMENT)
		if (may_begin(code, at))
			entry[entries++] = (struct code_entry){ code->first + at, at == 0 };
	err = code_frames_run(&span, entry, entries, take, context);
	free(entry);
	return err;
}
