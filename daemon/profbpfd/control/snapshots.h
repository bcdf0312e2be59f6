/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshots.h - snapshots of the flight recorder that are being written, each by a thread of its own.
 *
 * All functions are for the control loop's thread.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_SNAPSHOTS_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_SNAPSHOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/profbpfd/control/connection.h"
#include "daemon/profbpfd/control/flight_recorder.h"
#include "daemon/profbpfd/control/services.h"
#include "proto/control.pb-c.h"

#define SNAPSHOTS_MAX 8 /* simultaneous ones; each may hold as much memory as the recorder */
#define SNAPSHOTS_PER_USER 1 /* limit for an ordinary user */

struct snapshots;

/* snapshots_new - none yet; NULL without memory or descriptors */
struct snapshots *snapshots_new(void);

/* snapshots_fd - readable when snapshots_finish() must be called */
int snapshots_fd(const struct snapshots *snapshots);

/* snapshot_request - answers a request at once, or when the file is complete. Takes over the descriptors that it uses from @fds. */
void snapshot_request(struct services *services, struct client *client, uint32_t id,
		      const Profbpf__Control__TakeSnapshot *request, struct control_fds *fds);

/* The contents of a snapshot. */
struct snapshot_wish {
	uint64_t last_ns; /* only the last part of the kept time; 0 = all of it */
	bool sleepers; /* with stacks of sleeping threads; as in struct flight_ask */
	pid_t sleepers_of;
};

/*
 * snapshot_write - writes a file that no client requested
 *
 * Takes @fd over and copies @reason, which the file gives as the reason of its end. snapshots_finish() calls @done when the
 * file is complete or has failed (@err: a negative errno). Returns 0, -ENOENT (nothing to write) or -EBUSY (too many
 * files at once); then @done is not called.
 */
int snapshot_write(struct services *services, const struct flight_choice *choice, const struct snapshot_wish *wish,
		   int fd, const char *reason, void (*done)(void *context, int err), void *context);

/* snapshots_finish - answers the requests whose files are complete */
void snapshots_finish(struct snapshots *snapshots);

/* snapshots_forget - the client is gone */
void snapshots_forget(struct snapshots *snapshots, const struct client *client);

/* snapshots_free - returns false, and frees nothing, if some files are still being written: then their data must stay */
bool snapshots_free(struct snapshots *snapshots);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_SNAPSHOTS_H */
