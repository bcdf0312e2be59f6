/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.h - by how much a probe lengthens the call it measures. */
#ifndef PROFBPF_DAEMON_CALIBRATE_H
#define PROFBPF_DAEMON_CALIBRATE_H

#include <stdint.h>

#include "daemon/profbpfd/capture.h"

/*
 * calibrate - trace a function of our own that does nothing
 *
 * Returns the median duration recorded for it, in nanoseconds: the part of the
 * probe's cost that lies between the two time stamps, for a probe on an emulated
 * instruction; 0 if it cannot be measured. Must be called before there are
 * targets; the counters are as if it had not been called.
 */
uint32_t calibrate(struct capture *capture);

#endif /* PROFBPF_DAEMON_CALIBRATE_H */
