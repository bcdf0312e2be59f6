/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective_rate.h - the bandwidth of collectives, as nccl-tests defines it ("Performance reported by NCCL tests").
 *
 * The algorithm bandwidth is size ÷ time, where the size is the larger of a rank's input and output. The bus bandwidth
 * is the load on a link, comparable with the link's own bandwidth: the algorithm bandwidth times
 *
 *   all-reduce                                   2 (n - 1) / n
 *   all-gather, reduce-scatter, all-to-all       (n - 1) / n
 *   broadcast, reduce, send and receive          1
 *
 * for n ranks. A collective's time includes its rank's wait for others: both are lower bounds.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CLUSTER_COLLECTIVE_RATE_H
#define PROFBPF_ANALYZER_ANALYSE_CLUSTER_COLLECTIVE_RATE_H

#include <stdint.h>

/* Returns bus bandwidth ÷ algorithm bandwidth, by the collective's name; 0 = not known. @ranks: 0 = not known. */
double collective_bus_factor(const char *name, uint32_t ranks);

#endif /* PROFBPF_ANALYZER_ANALYSE_CLUSTER_COLLECTIVE_RATE_H */
