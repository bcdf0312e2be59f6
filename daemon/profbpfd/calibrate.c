/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/calibrate.h"

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/profbpfd/probe_link.h"

#define ROUNDS 9
#define CALLS 16 /* per round */
#define TARGETS 4
#define FIRST_PROBE (CAPTURE_PROBES_MAX - TARGETS)

/*
 * The first instruction decides the price, so it is not left to the compiler.
 * The alignment keeps the nop inside a page: else it is not rewritten.
 */
#if defined(__x86_64__)
#define TARGET_BODY(first, undo) "	" first "\n	" undo "\n	ret\n"
#define NOP5 ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"
#define EMULATED "push %rbp", "pop %rbp"
#define STEPPED "sub $8, %rsp", "add $8, %rsp"
#else
#define TARGET_BODY(first, undo) "	" first "\n	ret\n"
#define NOP5 "nop"
#define EMULATED "nop", ""
#define STEPPED "add x0, x0, #0", ""
#endif
#define TARGET(name, ...)                           \
	void name(const char *text);                \
	__asm__(".text\n"                           \
		".balign 32\n"                      \
		".globl " #name "\n"                \
		".type " #name ", %function\n" #name \
		":\n" TARGET_BODY(__VA_ARGS__) ".size " #name ", . - " #name "\n")

TARGET(profbpf_calibrate_nop5, NOP5, "");
TARGET(profbpf_calibrate_emulated, EMULATED);
TARGET(profbpf_calibrate_stepped, STEPPED);
TARGET(profbpf_calibrate_text, EMULATED);

struct target {
	void (*call)(const char *text);
	struct probe_conf conf;
	uint64_t offset;	/* in our own file */
	uint64_t cookie;
	uint64_t inside_ns[ROUNDS * CALLS];
	uint64_t whole_ns[ROUNDS];
	size_t count;		/* calls recorded */
};

/* In the order of enum instruction_class, then the one with a string. Recorded however short. */
static const struct target nothing[TARGETS] = {
	{ .call = profbpf_calibrate_nop5, .conf.flags = PROBE_KEEP },
	{ .call = profbpf_calibrate_emulated, .conf.flags = PROBE_KEEP },
	{ .call = profbpf_calibrate_stepped, .conf.flags = PROBE_KEEP },
	{ .call = profbpf_calibrate_text,
	  .conf = { .flags = PROBE_KEEP | PROBE_STRING, .string_position = 1 } },
};
#define TEXT_TARGET INSTRUCTION_CLASSES

/* Only the first object, the executable itself, is of interest. */
static int find_offset(struct dl_phdr_info *info, size_t size, void *context)
{
	struct target *target = context;
	uintptr_t address = (uintptr_t)target->call;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && address >= start && address < start + p->p_filesz)
			target->offset = address - start + p->p_offset;
	}
	return 1;
}

static void collect(void *context, const struct rec_header *record)
{
	const struct rec_call *call = (const struct rec_call *)record;
	struct target *targets = context, *target;

	if (record->type != REC_CALL || call->probe < FIRST_PROBE ||
	    call->probe >= FIRST_PROBE + TARGETS)
		return;
	target = &targets[call->probe - FIRST_PROBE];
	if (target->count < ROUNDS * CALLS)
		target->inside_ns[target->count++] = call->dur_ns;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void call(struct target *target)
{
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t start_ns = now_ns();

		for (int i = 0; i < CALLS; i++)
			target->call("a name as kernels have them");
		target->whole_ns[round] = (now_ns() - start_ns) / CALLS;
	}
}

static void ignore(void *context, size_t index, int err)
{
}

/* Of @targets those of the bits in @wanted. */
static void run(struct capture *capture, struct target *targets, unsigned int wanted, int fd)
{
	uint64_t offsets[TARGETS], cookies[TARGETS];
	struct probe_points points = { offsets, cookies, 0 };
	struct probe_link *link = NULL;

	for (int i = 0; i < TARGETS; i++) {
		dl_iterate_phdr(find_offset, &targets[i]);
		if (!(wanted & 1u << i) || !targets[i].offset ||
		    capture_set_probe(capture, FIRST_PROBE + i, &targets[i].conf))
			continue;
		offsets[points.count] = targets[i].offset;
		cookies[points.count++] = FIRST_PROBE + i;
	}
	if (points.count)
		link = probe_link_new(capture, fd, getpid(), &points, ignore, NULL);
	if (link && !capture_trace_self(capture, true))
		for (int i = 0; i < TARGETS; i++)
			if (wanted & 1u << i)
				call(&targets[i]);
	capture_trace_self(capture, false);
	probe_link_free(link);
	/*
	 * The counts of this thread, and calls that another session's thread is in for its own
	 * measurement: all there is, before it is drained and forgotten.
	 */
	capture_flush_open(capture);
	capture_drain(capture, collect, targets);
	capture_rebase(capture);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static uint32_t median(uint64_t *ns, size_t count)
{
	qsort(ns, count, sizeof(*ns), compare);
	return ns[count / 2];
}

void calibrate(struct capture *capture, bool optimized_nop, struct probe_costs *costs)
{
	unsigned int wanted = 1u << INSTRUCTION_EMULATED;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct target targets[TARGETS];

	memset(costs, 0, sizeof(*costs));
	memcpy(targets, nothing, sizeof(targets));
	if (capture_method(capture) != PROBE_METHOD_PERF)
		wanted |= 1u << INSTRUCTION_STEPPED | 1u << TEXT_TARGET |
			  (optimized_nop ? 1u << INSTRUCTION_NOP5 : 0);
	if (fd >= 0) {
		run(capture, targets, wanted, fd);
		close(fd);
	}
	for (int i = 0; i < INSTRUCTION_CLASSES; i++) {
		if (!targets[i].count)
			continue;
		costs->by_class[i].inside_ns = median(targets[i].inside_ns, targets[i].count);
		costs->by_class[i].whole_ns = median(targets[i].whole_ns, ROUNDS);
	}
	if (targets[TEXT_TARGET].count) {
		uint32_t with = median(targets[TEXT_TARGET].inside_ns, targets[TEXT_TARGET].count);
		uint32_t without = costs->by_class[INSTRUCTION_EMULATED].inside_ns;

		costs->string_ns = without && with > without ? with - without : 0;
	}
}

/* ---- measured once for many */

#define KEPT_NS 60000000000ull
#define KINDS ((PROBE_METHOD_PERF + 1) * 8)

struct prices {
	pthread_mutex_t lock;
	struct {
		uint64_t measured_ns; /* CLOCK_MONOTONIC; 0 = not yet */
		struct probe_costs costs;
	} kinds[KINDS];
};

struct prices *prices_new(void)
{
	struct prices *prices = calloc(1, sizeof(*prices));

	if (prices)
		pthread_mutex_init(&prices->lock, NULL);
	return prices;
}

void prices_free(struct prices *prices)
{
	if (!prices)
		return;
	pthread_mutex_destroy(&prices->lock);
	free(prices);
}

void prices_measure(struct prices *prices, struct capture *capture, const struct price_key *key,
		    struct probe_costs *costs)
{
	size_t kind = key->method * 8u + key->optimized_nop * 4u + key->system_wide * 2u + key->of_user;

	pthread_mutex_lock(&prices->lock);
	if (!prices->kinds[kind].measured_ns ||
	    now_ns() - prices->kinds[kind].measured_ns > KEPT_NS) {
		calibrate(capture, key->optimized_nop, &prices->kinds[kind].costs);
		/* What failed may work the next time. */
		if (prices->kinds[kind].costs.by_class[INSTRUCTION_EMULATED].whole_ns)
			prices->kinds[kind].measured_ns = now_ns();
	}
	*costs = prices->kinds[kind].costs;
	pthread_mutex_unlock(&prices->lock);
}
