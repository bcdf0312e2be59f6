/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exposition.h - the daemon's metrics as text, in OpenMetrics 1.0 or Prometheus' format 0.0.4.
 *
 * docs/metrics.md describes them. Unknown figures are left out, not 0.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_METRICS_EXPOSITION_H
#define PROFBPF_DAEMON_PROFBPFD_METRICS_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/profbpfd/control/access.h"
#include "daemon/profbpfd/control/roster.h"

/*
 * exposition_write - writes the metrics of the daemon, and of the sessions that @peer may see
 *
 * Returns a text, which the caller frees, with its length in @size; NULL without memory. Called by the control loop.
 */
char *exposition_write(const struct roster *roster, const struct peer *peer, bool openmetrics, size_t *size);

#endif /* PROFBPF_DAEMON_PROFBPFD_METRICS_EXPOSITION_H */
