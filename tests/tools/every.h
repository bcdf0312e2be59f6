/* SPDX-License-Identifier: Apache-2.0 */
/* every.h - the parts of make_every. */
#ifndef PROFBPF_TESTS_TOOLS_EVERY_H
#define PROFBPF_TESTS_TOOLS_EVERY_H

#include "tests/unit/trace_builder.h"

#define MS 1000000ull
#define START 1000000000000ull
#define STEP (100 * MS)
#define STEPS 20
#define END (START + (STEPS + 2) * STEP)
#define JOB 10u
#define WORKER 11u
#define OTHER 20u
#define DISK (1u << 31 | 8u << 20)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Adds a packet with a message for which trace_builder.h has no function. */
void every_put(struct trace_builder *b, Profbpf__Packet__Kind kind,
	       const ProtobufCMessage *message);

/* Adds interrupts, faults, requests, accounts, processes, groups, CPUs and counters. */
void every_host(struct trace_builder *b);

#endif /* PROFBPF_TESTS_TOOLS_EVERY_H */
