/* SPDX-License-Identifier: Apache-2.0 */
/*
 * left_out.h - what is not recorded whole now, by what the trace was told so far.
 *
 * A segment of the trace can be read without those before it, so it begins with that.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_LEFT_OUT_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_LEFT_OUT_H

#include "daemon/profbpfd/session/item.h"

/*
 * left_out_note - keep in @now the last change of each kind that is not recorded whole after @changes
 *
 * Both are items of kind ITEM_SHED. Returns 0 or -ENOMEM; then a kind is missing in @now.
 */
int left_out_note(struct item *now, const struct item *changes);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_LEFT_OUT_H */
