/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_memory.c - libFuzzer target for readers of a target's memory with a loaded library: its tables,
 * thread-local variables, MindData's tasks, and the function that an IFUNC selected.
 *
 * The first two bytes of an input are the length of the library's file, the next byte selects the reader
 * (its highest bit: every second page of the memory is missing). After the file follows the memory, from
 * address 0 on, where the library is mapped.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "daemon/common/ifunc.h"
#include "daemon/profbpfd/interpreters/interpreter.h"
#include "daemon/profbpfd/interpreters/mindspore/process_symbol.h"
#include "lib/elf/loaded_library.h"
#include "tests/fuzz/virtual_process.h"

#define LIBRARY "/lib/_c_dataengine.so"
#define MAPPED_END 0x10000
#define THREADS 3

enum what { VARIABLE, TASKS, IFUNC, WHATS };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct process_map map = { .start = 0, .end = MAPPED_END, .path = (char *)LIBRARY };

static void put_library(struct input bytes)
{
	struct stat status;
	static char maps[256];

	map.inode = virtual_process_put("root" LIBRARY, bytes);
	if (map.dev)
		return;
	check(!stat("/proc/4711/root" LIBRARY, &status));
	map.dev = KERNEL_DEV(major(status.st_dev), minor(status.st_dev));
	snprintf(maps, sizeof(maps), "%x-%x r-xp 00000000 %02x:%02x %" PRIu64 " %s\n", 0,
		 MAPPED_END, major(status.st_dev), minor(status.st_dev), map.inode, LIBRARY);
	virtual_process_text("maps", maps);
	virtual_process_text("stat", "4711 (python) S 1 1 1 0 -1 4194304 0 0 0\n");
}

/* Writes the page map for the largest memory of an input (tests/fuzz/run) and one more page. */
static void put_pages(bool holes)
{
	static const uint64_t all[] = { UINT64_MAX, UINT64_MAX, UINT64_MAX }, some[] = { 0, UINT64_MAX, 0 };

	virtual_process_put("pagemap", (struct input){ (const uint8_t *)(holes ? some : all), sizeof(all) });
}

static void find_variable(void)
{
	struct process_tls_symbol symbol;
	struct process_memory memory;
	int err;

	check(process_memory_open(&memory, VIRTUAL_PID));
	err = process_symbol_find_tls(&memory, &map, "x", &symbol);
	process_memory_close(&memory);
	check(err <= 0 && err != -ENOENT + 1);
	check(err || (symbol.module_address && symbol.offset_address));
}

static void find_tasks(void)
{
	struct thread_pointer threads[THREADS];
	const char *problem;
	struct item *item;

	for (uint32_t i = 0; i < THREADS; i++)
		threads[i] = (struct thread_pointer){ .tid = VIRTUAL_PID + i,
						      .tgid = VIRTUAL_PID,
						      .address = 16 + 8 * i };
	item = interpreter_mindspore.roles(VIRTUAL_PID, threads, THREADS, &problem);
	check(!item || item->size);
	item_free(item);
}

static void resolve_ifunc(void)
{
	struct process_maps maps = { &map, 1 };
	struct probed_file probed = { .machine = ELF_FILE_X86_64 };
	static const struct catalog_function entry;
	int fd = open("/proc/4711/root" LIBRARY, O_RDONLY | O_CLOEXEC);

	probed.refused = calloc(1, sizeof(*probed.refused));
	check(fd >= 0 && probed.refused);
	probed.refused[0] = (struct refused_function){ &entry, strdup("x"), 0x40, PROBED_IFUNC };
	probed.refused_count = 1;
	check(!ifunc_resolve(&probed, fd, VIRTUAL_PID, &maps, &map, true));
	check(probed.refused_count == !probed.count);
	probed_file_free(&probed);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	size_t length = input_number(&in, 2);
	uint8_t what = input_byte(&in);

	virtual_process_clear();
	put_library(input_take(&in, length));
	virtual_process_put("mem", in);
	put_pages(what & 0x80);
	switch ((enum what)((what & 0x7f) % WHATS)) {
	case VARIABLE: find_variable(); break;
	case TASKS: find_tasks(); break;
	case IFUNC: resolve_ifunc(); break;
	case WHATS: break;
	}
	return 0;
}
