/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.h - what a probe costs here: what it adds to the call it measures, and to its caller. */
#ifndef PROFBPF_DAEMON_PROFBPFD_CAPTURE_CALIBRATE_H
#define PROFBPF_DAEMON_PROFBPFD_CAPTURE_CALIBRATE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/profbpfd/capture/capture.h"
#include "lib/elf/instruction.h"

/* Nanoseconds, 0 = not measured. */
struct probe_cost {
	uint32_t inside_ns; /* of it between the two time stamps: in the recorded duration */
	uint32_t whole_ns; /* all of it: what a caller that is traced, too, seems to take longer */
};

struct probe_costs {
	struct probe_cost by_class[INSTRUCTION_CLASSES];
	uint32_t string_ns; /* in both, if a string argument is kept */
	uint32_t exit_ns; /* whole_ns of an emulated instruction's, if the end is seen at the function's exit */
};

/*
 * calibrate - trace functions of our own that do nothing
 *
 * Medians over some hundred calls, one after the other: where the program does
 * other things between two calls a probe takes somewhat longer. With perf events
 * only the emulated class is measured, because removing one takes 0.2 s there;
 * with --min-duration the figures are those of calls that are recorded. Must be
 * called before there are targets; the counters are as if it had not been called.
 * Class nop5 is left out unless the kernel rewrites it (@optimized_nop).
 */
void calibrate(struct capture *capture, bool optimized_nop, struct probe_costs *costs);

/* price_to_exit - what it costs to see a call from its entry to its exit; 0 = not measured */
uint32_t price_to_exit(const struct probe_costs *costs);

/*
 * What was measured lately, for sessions that start soon after or at the same time: while one
 * measures, the others wait, for each session's probes would take part in the calls of all.
 */
struct prices;

/* What the price of a probe depends on besides the machine. */
struct price_key {
	enum probe_method method;
	bool optimized_nop;
	bool system_wide;
	bool of_user; /* an ordinary one, whose rights are asked for */
};

/* prices_new - NULL without memory; prices_free: NULL is fine */
struct prices *prices_new(void);
void prices_free(struct prices *prices);

/* prices_measure - as calibrate(), or what that told within the last minute for the same @key */
void prices_measure(struct prices *prices, struct capture *capture, const struct price_key *key,
		    struct probe_costs *costs);

#endif /* PROFBPF_DAEMON_PROFBPFD_CAPTURE_CALIBRATE_H */
