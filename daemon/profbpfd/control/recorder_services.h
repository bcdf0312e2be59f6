/* SPDX-License-Identifier: Apache-2.0 */
/* recorder_services.h - the flight recorder with its triggers, their files, and the triggers by metrics. */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_RECORDER_SERVICES_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_RECORDER_SERVICES_H

#include "daemon/profbpfd/control/flight_recorder.h"
#include "daemon/profbpfd/control/services.h"

/*
 * recorder_services_open - starts the flight recorder, if @options, which must outlive it, have a window
 *
 * Starts everything or nothing. Returns 0, or sets @error: -ENOTSUP if nothing can be recorded here, else -ENOMEM.
 */
int recorder_services_open(struct services *services, const struct flight_recorder_options *options, char *error,
			   size_t error_size);

/* recorder_services_close - the recorder must not have sessions */
void recorder_services_close(struct services *services);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_RECORDER_SERVICES_H */
