/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.h - measures the cost of a probe on this machine: its share of the recorded duration, and of the caller's time. */
#ifndef PROFBPF_DAEMON_PROFBPFD_CAPTURE_CALIBRATE_H
#define PROFBPF_DAEMON_PROFBPFD_CAPTURE_CALIBRATE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/profbpfd/capture/capture.h"
#include "lib/elf/instruction.h"

/* Nanoseconds, 0 = not measured. */
struct probe_cost {
	uint32_t inside_ns; /* the part between the two timestamps, included in the recorded duration */
	uint32_t whole_ns; /* all of it: a traced caller appears to take this much longer */
};

struct probe_costs {
	struct probe_cost by_class[INSTRUCTION_CLASSES];
	uint32_t string_ns; /* added to both if a string argument is recorded */
	uint32_t exit_ns; /* whole_ns of an emulated instruction's, if the end is seen at the function's exit */
};

/*
 * calibrate - traces empty functions of the daemon itself
 *
 * Medians over some hundred consecutive calls: if a program does other work between
 * two calls, a probe takes somewhat longer. With perf events only the emulated class
 * is measured, because removing one takes 0.2 s; with --min-duration the figures are
 * for recorded calls. Must be called before there are targets; the counters are
 * restored.
 * Class nop5 is left out unless the kernel rewrites it (@optimized_nop).
 */
void calibrate(struct capture *capture, bool optimized_nop, struct probe_costs *costs);

/* price_to_exit - the cost of seeing a call from its entry to its exit; 0 = not measured */
uint32_t price_to_exit(const struct probe_costs *costs);

/*
 * Recent measurements, for sessions that start soon after each other or at the same time: while one
 * session measures, the others wait, because their probes would disturb the measurement.
 */
struct prices;

/* The properties that the cost of a probe depends on besides the machine. */
struct price_key {
	enum probe_method method;
	bool optimized_nop;
	bool system_wide;
	bool of_user; /* an ordinary user's session, which checks rights */
};

/* prices_new - NULL without memory; prices_free() accepts NULL */
struct prices *prices_new(void);
void prices_free(struct prices *prices);

/* prices_measure - like calibrate(), but uses the result of the last minute for the same @key */
void prices_measure(struct prices *prices, struct capture *capture, const struct price_key *key,
		    struct probe_costs *costs);

#endif /* PROFBPF_DAEMON_PROFBPFD_CAPTURE_CALIBRATE_H */
