/* SPDX-License-Identifier: Apache-2.0 */
/* sampler.h - perf events that run a BPF program on every CPU: some times a second, or at major page faults. */
#ifndef PROFBPF_DAEMON_PROFBPFD_CAPTURE_SAMPLER_H
#define PROFBPF_DAEMON_PROFBPFD_CAPTURE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sampler;

/*
 * sampler_new - samples at @rate per second and CPU, by running @program
 *
 * Uses the CPU's cycle counter, which also samples code with interrupts off, else
 * the kernel's clock. Offline CPUs are left out; a CPU that comes online later is
 * not sampled. Returns NULL with a message that says why and what to do.
 */
struct sampler *sampler_new(int program, uint32_t rate, char *error, size_t error_size);

/* sampler_new_faults - run @program at each major page fault; errors as above */
struct sampler *sampler_new_faults(int program, char *error, size_t error_size);

/* sampler_free - ends sampling and closes the events; accepts NULL */
void sampler_free(struct sampler *sampler);

#endif /* PROFBPF_DAEMON_PROFBPFD_CAPTURE_SAMPLER_H */
