/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_elf.c - libFuzzer target for ELF files of targets and the files with their debug symbols.
 *
 * The first two bytes of an input are the length of the ELF file, the next byte selects the way to read
 * it; after the file follows the debug file, which is found under any name (the linker replaces open()
 * by __wrap_open()).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/common/probed_file.h"
#include "lib/elf/elf_addresses.h"
#include "lib/elf/elf_extent.h"
#include "lib/elf/frame_rules.h"
#include "tests/fuzz/input.h"

#define OPTIMIZED_NOP 0x01
#define EXACT_NAMES 0x02 /* a catalog without patterns */
#define NAMES_MAX 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_open(const char *path, int flags, ...);
int __real_open(const char *path, int flags, ...);

static int file = -1, debug_file = -1;
static size_t file_size, debug_size;

int __wrap_open(const char *path, int flags, ...)
{
	if (strncmp(path, ELF_DEBUG_ROOT "/", sizeof(ELF_DEBUG_ROOT)) != 0)
		return __real_open(path, flags, 0600);
	if (debug_size)
		return fcntl(debug_file, F_DUPFD_CLOEXEC, 0);
	errno = ENOENT;
	return -1;
}

static void fill(int *fd, size_t *old_size, struct input bytes)
{
	if (*fd < 0)
		*fd = memfd_create("fuzz_elf", MFD_CLOEXEC);
	check(*fd >= 0);
	check(!bytes.size || pwrite(*fd, bytes.data, bytes.size, 0) == (ssize_t)bytes.size);
	check(bytes.size >= *old_size || !ftruncate(*fd, (off_t)bytes.size));
	*old_size = bytes.size;
}

static const struct catalogs *catalogs_of(bool exact)
{
	static const char PATTERNS[] =
		"runtime a\nf* launch 1\n*e other 1\n!fx*\n_* copy 2 name=1\n";
	static const char NAMES[] = "runtime b\nfirst launch 1\n_ZN1a1bEv other 1\n";
	static struct catalogs *catalogs[2];
	char *error = NULL;

	if (!catalogs[exact]) {
		const char *text = exact ? NAMES : PATTERNS;

		catalogs[exact] = catalogs_new();
		check(catalogs[exact] &&
		      !catalogs_add_text(catalogs[exact], "fuzz", text, strlen(text), &error));
	}
	return catalogs[exact];
}

static void try_probed_file(uint8_t flags)
{
	struct probed_file probed, copy;
	char error[256];
	uint64_t last = 0;

	check(!probed_file_read(&probed, file, "/usr/lib/fuzz.so", catalogs_of(flags & EXACT_NAMES),
				flags & OPTIMIZED_NOP, error, sizeof(error)));
	for (size_t i = 0; i < probed.count; i++) {
		const struct probed_function *f = &probed.functions[i];
		uint64_t first = f->offset - f->choice.delta;

		check(f->name[0] && f->entry && f->offset >= f->choice.delta);
		check(!i || first > last);
		last = first;
	}
	check(!probed_file_copy(&copy, &probed));
	check(copy.count == probed.count && copy.refused_count == probed.refused_count);
	probed_file_free(&copy);
	probed_file_free(&probed);
}

static void *match_all(void *context, const char *name, size_t length)
{
	check(length > 0 && !memchr(name, 0, length));
	return context;
}

static void look_up_addresses(struct elf_file *elf, const struct elf_symbols *found)
{
	struct elf_name names[NAMES_MAX] = { 0 };
	size_t count = 0;
	uint64_t address;

	for (size_t i = 0; i < found->count && count < NAMES_MAX; i++)
		if (!count || found->symbol[i].address > names[count - 1].address)
			names[count++].address = found->symbol[i].address;
	elf_file_names_at(elf, names, count);
	for (size_t i = 0; i < count; i++) {
		check(!names[i].name || names[i].name[0] != '@');
		free(names[i].name);
	}
	for (size_t i = 0; i < found->count && i < NAMES_MAX; i++)
		elf_file_address(elf, found->symbol[i].offset, &address);
}

struct rules {
	uint64_t last;
	size_t count;
};

static int check_rule(void *context, uint64_t address, const struct frame_rule *rule)
{
	struct rules *rules = context;

	check(!rules->count || address > rules->last);
	check(rule->kind <= FRAME_RULE_FIRST && rule->pointer_kind <= FRAME_POINTER_AT_FRAME && !rule->reserved);
	rules->last = address;
	rules->count++;
	return 0;
}

static void try_frames(const struct elf_file *elf)
{
	struct rules rules = { 0 };
	uint64_t start, end;
	int err = frame_rules_read(elf, check_rule, &rules);

	check(!err || err == -ENOENT || err == -EFBIG);
	if (rules.count && !elf_file_extent(elf, rules.last, &start, &end))
		check(start <= rules.last && rules.last < end);
}

static void try_elf_file(void)
{
	struct elf_symbols found;
	char error[256] = "";
	struct elf_file *elf = elf_file_open_fd(file, "/usr/lib/fuzz.so", error, sizeof(error));
	uint64_t address, bias;
	const uint8_t *id;
	int err;

	check(!elf == !!error[0]);
	if (!elf)
		return;
	check(elf_file_build_id(elf, &id) <= ELF_FILE_BUILD_ID_MAX);
	elf_file_add_debug(elf, ELF_DEBUG_ROOT);
	err = elf_file_find(elf, match_all, elf, &found);
	check(!err == !elf_file_error(elf)[0] && err != -ENOMEM);
	for (size_t i = 0; i < found.count; i++)
		check(found.symbol[i].name[0] &&
		      (!i || found.symbol[i].offset >= found.symbol[i - 1].offset));
	look_up_addresses(elf, &found);
	elf_symbols_free(&found);
	elf_file_object(elf, "_PyRuntime", &address);
	try_frames(elf);
	elf_file_bias(elf, 0x400000, 0x401000, 0, &bias);
	elf_file_close(elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	size_t length = input_number(&in, 2);
	uint8_t flags = input_byte(&in);

	fill(&file, &file_size, input_take(&in, length));
	fill(&debug_file, &debug_size, in);
	try_probed_file(flags);
	try_elf_file();
	return 0;
}
