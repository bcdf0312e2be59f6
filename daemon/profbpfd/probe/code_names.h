/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_names.h - names of the functions whose addresses launching calls pass.
 *
 * CUDA, HIP and CANN programs may launch a kernel by the address of a host function
 * that stands for it. If it was registered before the session began, no call has
 * named it: the address is looked up in the symbol table of the file that the
 * process has mapped there, once per process and address.
 *
 * The reader thread notes addresses, the prober thread looks them up.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_CODE_NAMES_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_CODE_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/events.h"
#include "daemon/profbpfd/session/item.h"
#include "daemon/profbpfd/control/right.h"

#define CODE_NAMES_MAX 65536 /* addresses per session; further ones stay without a name */

struct code_names;

/* code_names_new - queues the names that are found; NULL without memory */
struct code_names *code_names_new(struct item_queue *queue);

/* code_names_limit - only for processes that @right, which the caller keeps, allows to look into */
void code_names_limit(struct code_names *names, const struct right *right);
void code_names_free(struct code_names *names);

/* code_names_watch - args[@slot] of calls of @probe is such an address; may be called by any thread */
void code_names_watch(struct code_names *names, uint32_t probe, unsigned int slot);

/*
 * code_names_see - reader thread: notes the address of a call if it is new
 *
 * Or if the call is earlier than all calls with this address so far: calls of several CPUs arrive unordered, and a name
 * holds from the first call on.
 */
void code_names_see(struct code_names *names, const struct rec_call *call);

/* code_names_forget - reader thread: the process runs another program from now on */
void code_names_forget(struct code_names *names, pid_t pid);

/* code_names_waiting - reader thread: are there addresses whose look-up was not requested yet? */
bool code_names_waiting(struct code_names *names);

/* code_names_resolve - looks up all noted addresses; one thread at a time */
void code_names_resolve(struct code_names *names);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_CODE_NAMES_H */
