/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/capture/calibrate.h"

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/profbpfd/probe/probe_link.h"

#define ROUNDS 9
#define CALLS 16 /* per round */
#define TARGETS 5
#define FIRST_PROBE (CAPTURE_PROBES_MAX - TARGETS)
#define FIRST_EXIT (EXITS_MAX - TARGETS)

/*
 * The first instruction determines the cost, so it is written in assembly.
 * The alignment keeps the nop inside a page: else the kernel does not rewrite it.
 */
#if defined(__x86_64__)
#define TARGET_BODY(name, first, undo) "	" first "\n	" undo "\n" name "_exit:	ret\n"
#define NOP5 ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"
#define EMULATED "push %rbp", "pop %rbp"
#define STEPPED "sub $8, %rsp", "add $8, %rsp"
#else
#define TARGET_BODY(name, first, undo) "	" first "\n" name "_exit:	ret\n"
#define NOP5 "nop"
#define EMULATED "nop", ""
#define STEPPED "add x0, x0, #0", ""
#endif
#define TARGET(name, ...)                           \
	void name(const char *text);                \
	extern const char name##_exit[];            \
	__asm__(".text\n"                           \
		".balign 32\n"                      \
		".globl " #name "\n"                \
		".type " #name ", %function\n" #name \
		":\n" TARGET_BODY(#name, __VA_ARGS__) ".size " #name ", . - " #name "\n")

TARGET(profbpf_calibrate_nop5, NOP5, "");
TARGET(profbpf_calibrate_emulated, EMULATED);
TARGET(profbpf_calibrate_stepped, STEPPED);
TARGET(profbpf_calibrate_text, EMULATED);
TARGET(profbpf_calibrate_exit, EMULATED);

struct target {
	void (*call)(const char *text);
	const char *exit;	/* its return instruction */
	struct probe_conf conf;
	uint64_t offset;	/* in the daemon's own file */
	uint64_t exit_offset;
	uint64_t cookie;
	uint64_t inside_ns[ROUNDS * CALLS];
	uint64_t whole_ns[ROUNDS];
	size_t count;		/* recorded calls */
};

#define KEPT(name) .call = name, .exit = name##_exit, .conf.flags = PROBE_KEEP

/* In the order of enum instruction_class, then further ones. Recorded even if shorter than --min-duration. */
static const struct target nothing[TARGETS] = {
	{ KEPT(profbpf_calibrate_nop5) },
	{ KEPT(profbpf_calibrate_emulated) },
	{ KEPT(profbpf_calibrate_stepped) },
	{ .call = profbpf_calibrate_text,
	  .exit = profbpf_calibrate_text_exit,
	  .conf = { .flags = PROBE_KEEP | PROBE_STRING, .string_position = 1 } },
	{ KEPT(profbpf_calibrate_exit) },
};
#define TEXT_TARGET INSTRUCTION_CLASSES
#define EXIT_TARGET (TEXT_TARGET + 1) /* its end is seen at its exit, even if the kernel has session links */

/* Only uses the first object, the executable itself. */
static int find_offset(struct dl_phdr_info *info, size_t size, void *context)
{
	struct target *target = context;
	uintptr_t address = (uintptr_t)target->call;
	uintptr_t exit = (uintptr_t)target->exit;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && address >= start && address < start + p->p_filesz)
			target->offset = address - start + p->p_offset;
		if (target->offset && exit >= start && exit < start + p->p_filesz)
			target->exit_offset = exit - start + p->p_offset;
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

static void ignore(void *context, enum point_kind kind, size_t index, int err)
{
}

static void add_point(struct probe_points *points, uint64_t offset, uint64_t cookie)
{
	points->offsets[points->count] = offset;
	points->cookies[points->count++] = cookie;
}

static uint64_t exit_cookie(const struct target *target, int number)
{
	return (uint64_t)(FIRST_EXIT + number) | (uint64_t)PLACE_RETURN << PLACE_KIND_SHIFT |
	       PLACE_RETURN_PLAIN | (target->exit_offset & 0xfff) << PLACE_OFFSET_SHIFT;
}

/* Measures the elements of @targets whose bit is set in @wanted. */
static void run(struct capture *capture, struct target *targets, unsigned int wanted, int fd)
{
	uint64_t offsets[3 * TARGETS], cookies[3 * TARGETS];
	struct link_points points = {
		.returns = { offsets, cookies, 0 },
		.entries = { offsets + TARGETS, cookies + TARGETS, 0 },
		.exits = { offsets + 2 * TARGETS, cookies + 2 * TARGETS, 0 },
	};
	const struct probe_target self = { .pid = getpid() };
	struct probe_link *link = NULL;

	for (int i = 0; i < TARGETS; i++) {
		dl_iterate_phdr(find_offset, &targets[i]);
		if (!(wanted & 1u << i) || !targets[i].exit_offset ||
		    capture_set_probe(capture, FIRST_PROBE + i, &targets[i].conf))
			continue;
		if (i != EXIT_TARGET && capture_return_program(capture) >= 0) {
			add_point(&points.returns, targets[i].offset, FIRST_PROBE + i);
			continue;
		}
		add_point(&points.entries, targets[i].offset, FIRST_PROBE + i);
		add_point(&points.exits, targets[i].exit_offset, exit_cookie(&targets[i], i));
	}
	if (points.returns.count || points.entries.count)
		link = probe_link_new(capture, fd, &self, &points, ignore, NULL);
	if (link && !capture_trace_self(capture, true))
		for (int i = 0; i < TARGETS; i++)
			if (wanted & 1u << i)
				call(&targets[i]);
	capture_trace_self(capture, false);
	probe_link_free(link);
	/*
	 * Flushes the counts of this thread, and open calls of another session's thread that measures
	 * at the same time; then all of it is drained and discarded.
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
		wanted |= 1u << INSTRUCTION_STEPPED | 1u << TEXT_TARGET | 1u << EXIT_TARGET |
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
	if (targets[EXIT_TARGET].count)
		costs->exit_ns = median(targets[EXIT_TARGET].whole_ns, ROUNDS);
	if (targets[TEXT_TARGET].count) {
		uint32_t with = median(targets[TEXT_TARGET].inside_ns, targets[TEXT_TARGET].count);
		uint32_t without = costs->by_class[INSTRUCTION_EMULATED].inside_ns;

		costs->string_ns = without && with > without ? with - without : 0;
	}
}

/* ---- Shared measurements */

#define KEPT_NS 60000000000ull
#define KINDS ((PROBE_METHOD_PERF + 1) * 8)

/* With perf events all ends are seen at exits, so the classes' costs include that. */
uint32_t price_to_exit(const struct probe_costs *costs)
{
	return costs->exit_ns ? costs->exit_ns : costs->by_class[INSTRUCTION_EMULATED].whole_ns;
}

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
		/* A failed measurement is repeated the next time. */
		if (prices->kinds[kind].costs.by_class[INSTRUCTION_EMULATED].whole_ns)
			prices->kinds[kind].measured_ns = now_ns();
	}
	*costs = prices->kinds[kind].costs;
	pthread_mutex_unlock(&prices->lock);
}
