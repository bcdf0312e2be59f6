/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/thread/libc_names.h"

#include <dlfcn.h>
#include <string.h>

#include "lib/elf/elf_extent.h"

static bool same_build(const struct elf_file *elf, const char *path)
{
	char error[256];
	struct elf_file *own = elf_file_open(path, error, sizeof(error));
	const uint8_t *a, *b;
	size_t size;
	bool same;

	if (!own)
		return false;
	size = elf_file_build_id(own, &a);
	same = size && elf_file_build_id(elf, &b) == size && memcmp(a, b, size) == 0;
	elf_file_close(own);
	return same;
}

/* Finds the code of a function that was selected for this program, in the library loaded at @base. */
static bool find_code(const struct elf_file *elf, const void *base, struct libc_name *found)
{
	const void *code = dlsym(RTLD_DEFAULT, found->name);
	uint64_t start, end, address;
	Dl_info info;

	if (!code || !dladdr(code, &info) || info.dli_fbase != base)
		return false;
	address = (uint64_t)((const char *)code - (const char *)base);
	if (elf_file_extent(elf, address, &start, &end) ||
	    !elf_file_code_offset(elf, start, &found->first))
		return false;
	found->end = found->first + (end - start);
	return true;
}

size_t libc_names_find(const struct elf_file *elf, struct libc_name *names)
{
	/* If several functions share an address, the first name is used. */
	static const char *const chosen[] = { "memcpy",	 "memmove", "memset",  "memcmp",  "memchr",
					      "memrchr", "strlen",  "strnlen", "strchr",  "strrchr",
					      "strcmp",	 "strncmp", "strcpy",  "strncpy", "strcat",
					      "strcspn", "strspn",  "wmemset", "wcslen" };
	size_t count = 0;
	Dl_info own;
	void *libc = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");

	_Static_assert(sizeof(chosen) / sizeof(*chosen) <= LIBC_NAMES_MAX, "room for all");
	if (!libc || !dladdr(libc, &own) || !same_build(elf, own.dli_fname))
		return 0;
	for (size_t i = 0; i < sizeof(chosen) / sizeof(*chosen); i++) {
		names[count].name = chosen[i];
		count += find_code(elf, own.dli_fbase, &names[count]);
	}
	return count;
}
