/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_causes.h - the causes of a device's or a thread's lost time, and their names.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_CAUSES_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_CAUSES_H

#include <stdint.h>

enum idle_cause {
	IDLE_UNKNOWN = 0,
	IDLE_USER_CODE,
	IDLE_RUNTIME,
	IDLE_DRIVER,
	IDLE_RUNNABLE,
	IDLE_LOCK,
	IDLE_IO,
	IDLE_PAGE_FAULT,
	IDLE_PIPELINE,
	IDLE_NETWORK,
	IDLE_SLEEP,
	IDLE_IRQ,
	IDLE_THROTTLED,
	IDLE_DEVICE_WAIT,
	IDLE_NO_WORK,
	IDLE_CAUSES
};

/* Name of a cause as in reports: "user_code", ... Static text. */
const char *idle_cause_name(uint8_t cause);

/* The cause in a few words: "on CPU outside of runtime calls", ... Static text. */
const char *idle_cause_text(uint8_t cause);

/*
 * idle_cause_ranked - returns the cause with the @rank-th largest time, from 0
 *
 * Causes with equal times are ranked in the order of the enum. IDLE_CAUSES: not that many causes have any time.
 */
uint8_t idle_cause_ranked(const uint64_t ns[IDLE_CAUSES], uint32_t rank);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_CAUSES_H */
