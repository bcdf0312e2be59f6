/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/calibrate.h"

#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/profbpfd/probe_link.h"

#define CALLS 256
#define CALIBRATION_PROBE (CAPTURE_PROBES_MAX - 1)

/* The first instruction decides the price, so it is not left to the compiler. */
void profbpf_calibration_target(void);
#if defined(__x86_64__)
__asm__(".text\n"
	".globl profbpf_calibration_target\n"
	".type profbpf_calibration_target, @function\n"
	"profbpf_calibration_target:\n"
	"	push %rbp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size profbpf_calibration_target, . - profbpf_calibration_target\n");
#else
__attribute__((noinline)) void profbpf_calibration_target(void)
{
	__asm__ volatile("nop");
}
#endif

struct place {
	uintptr_t address;
	uint64_t offset;
	bool found;
};

/* Only the first object, the executable itself, is of interest. */
static int find_offset(struct dl_phdr_info *info, size_t size, void *context)
{
	struct place *place = context;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && place->address >= start &&
		    place->address < start + p->p_filesz) {
			place->offset = place->address - start + p->p_offset;
			place->found = true;
		}
	}
	return 1;
}

struct durations {
	uint64_t ns[CALLS];
	size_t count;
};

static void collect(void *context, const struct rec_header *record)
{
	struct durations *d = context;

	if (record->type == REC_CALL && d->count < CALLS)
		d->ns[d->count++] = ((const struct rec_call *)record)->dur_ns;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void ignore(void *context, size_t index, int err)
{
}

uint32_t calibrate(struct capture *capture)
{
	struct place place = { .address = (uintptr_t)profbpf_calibration_target };
	uint64_t cookie = CALIBRATION_PROBE;
	struct probe_points points = { &place.offset, &cookie, 1 };
	struct durations durations = { .count = 0 };
	struct probe_conf conf = { 0 };
	struct probe_link *link = NULL;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	dl_iterate_phdr(find_offset, &place);
	if (fd >= 0 && place.found && !capture_set_probe(capture, cookie, &conf))
		link = probe_link_new(capture, fd, getpid(), &points, ignore, NULL);
	if (link && !capture_trace_self(capture, true))
		for (int i = 0; i < CALLS; i++)
			profbpf_calibration_target();
	capture_trace_self(capture, false);
	probe_link_free(link);
	if (fd >= 0)
		close(fd);
	capture_drain(capture, collect, &durations);
	capture_rebase(capture);
	if (!durations.count)
		return 0;
	qsort(durations.ns, durations.count, sizeof(durations.ns[0]), compare);
	return durations.ns[durations.count / 2];
}
