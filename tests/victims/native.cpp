// SPDX-License-Identifier: Apache-2.0
// native CASE: runs one victim in C or C++; without a case it lists them.
// native offset FUNCTION: prints the file offset of that function of libvictim.so, for the kernel's own probes.
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <link.h>

#include "cases.h"

static const victim_case *const tables[] = { unwinding_cases, jump_cases, stack_cases,
					     process_cases };

static const victim_case *find(const char *name)
{
	for (const victim_case *table : tables)
		for (const victim_case *one = table; one->name; one++)
			if (strcmp(one->name, name) == 0)
				return one;
	return nullptr;
}

static bool run(const victim_case *one)
{
	bool ok;

	if (one->whole)
		return one->run();
	ok = one->run();
	victim_gate();
	do {
		ok &= one->run();
	} while (victim_again());
	return ok;
}

struct place {
	ElfW(Addr) address;
	ElfW(Addr) offset; // 0: not found
};

static int look(dl_phdr_info *info, size_t, void *context)
{
	place *at = static_cast<place *>(context);

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) &part = info->dlpi_phdr[i];
		ElfW(Addr) start = info->dlpi_addr + part.p_vaddr;

		if (part.p_type == PT_LOAD && at->address >= start && at->address < start + part.p_filesz)
			at->offset = at->address - start + part.p_offset;
	}
	return 0;
}

static int print_offset(const char *name)
{
	place at = { reinterpret_cast<ElfW(Addr)>(dlsym(RTLD_DEFAULT, name)), 0 };

	dl_iterate_phdr(look, &at);
	printf("0x%lx\n", static_cast<unsigned long>(at.offset));
	return at.offset ? 0 : 1;
}

int main(int argc, char **argv)
{
	const victim_case *one = argc > 1 ? find(argv[1]) : nullptr;
	bool ok;

	if (argc > 2 && strcmp(argv[1], "offset") == 0)
		return print_offset(argv[2]);
	if (!one) {
		for (const victim_case *table : tables)
			for (one = table; one->name; one++)
				puts(one->name);
		return argc > 1 ? 2 : 0;
	}
	ok = run(one);
	if (one->last && ok)
		one->last();
	victim_print(one->name, ok);
	return ok ? 0 : 1;
}
