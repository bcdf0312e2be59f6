/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_trace.h - a job of two seconds in which every event is known.
 *
 * Process 100 "job", threads 100 "main" and 101 "worker" (starts at 50 ms, exits at 1600 ms), on two CPUs; process
 * 200 "thief" is no target. In milliseconds since the session's start:
 *
 *	main    0 on a CPU | 100 futex | 300 woken by worker | 301 on a CPU |
 *		500 preempted by the thief | 600 on a CPU | 700 disk, I/O wait |
 *		800 woken by a softirq | 800.5 on a CPU .. 2000
 *	worker  50.01 new | 50.02 on a CPU | 1000 sleep | 1500 woken by a timer and on a
 *		CPU | 1600 dead
 *
 * In total main ran for 1598.5 ms, was ready for 101.5 and blocked for 300, of which 100 for I/O; worker ran for
 * 1049.98, was ready for 0.01 and blocked for 500.
 *
 * main called clEnqueueNDRangeKernel 100 times, 1 to 100 us long, three calls failed; and clFinish twice, once for
 * 10 ms and once without an end. worker called cudaLaunchKernel five times, 20 us each, each with a cuLaunchKernel of
 * 10 us in it.
 */
#ifndef PROFBPF_TESTS_UNIT_SAMPLE_TRACE_H
#define PROFBPF_TESTS_UNIT_SAMPLE_TRACE_H

#include "analyzer/model/model.h"
#include "tests/unit/trace_builder.h"

#define SAMPLE_START 10000000000ull
#define SAMPLE_END 12000000000ull
#define MS 1000000ull
#define US 1000ull

enum sample_function { SAMPLE_ENQUEUE = 1, SAMPLE_FINISH, SAMPLE_CUDA, SAMPLE_CU };

/* Bits of @how: parts to leave out or to damage. */
#define SAMPLE_UNFINISHED 0x01 /* no final statistics */
#define SAMPLE_SCHED_LOST 0x02 /* statistics report 7 lost scheduling records */

struct trace_builder *sample_trace(unsigned int how);

/*
 * load_bytes - loads a trace from memory, through a temporary file
 *
 * Returns the model, or NULL with @error filled.
 */
struct model *load_bytes(const uint8_t *bytes, size_t size, char *error, size_t error_size);

/* load_trace - loads the builder's trace and frees the builder; fails the test on error */
struct model *load_trace(struct trace_builder *builder);

#endif /* PROFBPF_TESTS_UNIT_SAMPLE_TRACE_H */
