/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective_rate.h - the bandwidth of collectives, as nccl-tests defines it ("Performance reported by NCCL tests").
 *
 * The algorithm bandwidth is size ÷ time, where the size is that of the larger of what a rank gives and gets. The bus
 * bandwidth is what a link carries meanwhile, to be compared with what it can carry: the algorithm bandwidth times
 *
 *   all-reduce                                   2 (n - 1) / n
 *   all-gather, reduce-scatter, all-to-all       (n - 1) / n
 *   broadcast, reduce, send and receive          1
 *
 * for n ranks. A collective's time has in it what its rank waits for others: both are lower bounds.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CLUSTER_COLLECTIVE_RATE_H
#define PROFBPF_ANALYZER_ANALYSE_CLUSTER_COLLECTIVE_RATE_H

#include <stdint.h>

/* What the bus bandwidth is in algorithm bandwidths, by the collective's name; 0 = not known. @ranks: 0 = not told. */
double collective_bus_factor(const char *name, uint32_t ranks);

#endif /* PROFBPF_ANALYZER_ANALYSE_CLUSTER_COLLECTIVE_RATE_H */
