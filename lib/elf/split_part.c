/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/split_part.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/elf/control_flow.h"
#include "lib/elf/elf_extent.h"

struct function {
	const struct elf_file *file;
	uint64_t start, end;
	uint8_t *code;
	size_t size;
};

/* Is there a piece around @target, not of the function, that begins before it? */
static bool is_inside(const struct function *f, uint64_t target, uint64_t *part, uint64_t *part_end)
{
	return (target < f->start || target >= f->end) && !elf_file_extent(f->file, target, part, part_end) &&
	       *part != target && (*part >= f->end || *part_end <= f->start);
}

/* Bytes that cannot be decoded may be data between code: they are skipped. */
static int search(const struct function *f, struct flow_decoder *decoder, uint64_t *part, uint64_t *part_end)
{
	size_t least = elf_file_machine(f->file) == ELF_FILE_X86_64 ? 1 : 4;

	for (size_t at = 0; at < f->size;) {
		struct flow_step step = flow_decode(decoder, f->code + at, f->size - at, f->start + at);

		if ((step.flow == FLOW_JUMP || step.flow == FLOW_BRANCH) && is_inside(f, step.target, part, part_end))
			return 0;
		at += step.size ? step.size : least;
	}
	return -ENOENT;
}

int split_part_find(const struct elf_file *file, uint64_t start, uint64_t end, uint64_t *part, uint64_t *part_end)
{
	struct function f = { .file = file, .start = start, .end = end };
	struct flow_decoder *decoder;
	uint64_t offset;
	ssize_t size;
	int err = -ENOMEM;

	if (end <= start || end - start > SPLIT_PART_BYTES_MAX || !elf_file_code_offset(file, start, &offset))
		return -ENOENT;
	decoder = flow_decoder_new(elf_file_machine(file));
	f.code = malloc(end - start);
	if (decoder && f.code) {
		size = elf_file_read(file, offset, f.code, end - start);
		f.size = size > 0 ? (size_t)size : 0;
		flow_decoder_begin(decoder);
		err = search(&f, decoder, part, part_end);
	}
	free(f.code);
	flow_decoder_free(decoder);
	return err;
}
