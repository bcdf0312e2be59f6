/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ends.h - the functions whose calls' ends are not seen now, by the changes recorded in the trace so far.
 *
 * A segment of the trace can be read without earlier segments, so it begins with this list.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_ENDS_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_ENDS_H

#include "daemon/profbpfd/session/item.h"

/*
 * ends_note - updates @unseen with @changes: the last change of each function whose ends are not seen
 *
 * Both are items of kind ITEM_ENDS. Returns 0 or -ENOMEM; then a function is missing in @unseen.
 */
int ends_note(struct item *unseen, const struct item *changes);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_ENDS_H */
