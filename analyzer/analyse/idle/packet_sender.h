/* SPDX-License-Identifier: Apache-2.0 */
/* packet_sender.h - the thread that sent the packet which ended a sleep at a socket. */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_PACKET_SENDER_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_PACKET_SENDER_H

#include <stdint.h>

#include "analyzer/model/model.h"

/*
 * packet_sender - returns the thread of the peer process that sent the packet which ended @span, a sleep of @thread
 *
 * Between sockets of one host the sending thread handles the network's interrupt itself; otherwise the interrupted
 * thread has nothing to do with the packet. INDEX_NONE: not known.
 */
uint32_t packet_sender(const struct model *model, const struct span *span, uint32_t thread);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_PACKET_SENDER_H */
