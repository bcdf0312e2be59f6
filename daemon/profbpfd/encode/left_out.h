/* SPDX-License-Identifier: Apache-2.0 */
/*
 * left_out.h - the kinds of records that are incomplete now, by the changes recorded in the trace so far.
 *
 * A segment of the trace can be read without earlier segments, so it begins with this list.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_LEFT_OUT_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_LEFT_OUT_H

#include "daemon/profbpfd/session/item.h"

/*
 * left_out_note - updates @now with @changes: the last change of each kind of records that is (partly) left out
 *
 * Both are items of kind ITEM_SHED. Returns 0 or -ENOMEM; then a kind is missing in @now.
 */
int left_out_note(struct item *now, const struct item *changes);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_LEFT_OUT_H */
