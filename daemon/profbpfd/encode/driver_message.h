/* SPDX-License-Identifier: Apache-2.0 */
/* driver_message.h - makes message Drivers: the driver of a device number, and the names of its commands. */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_DRIVER_MESSAGE_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_DRIVER_MESSAGE_H

#include <stdint.h>

#include "daemon/catalog/catalog.h"
#include "daemon/profbpfd/session/item.h"

/* driver_message - as an item of kind BODY, to be freed with item_free(); NULL without memory. @rdev as driver_lookup(). */
struct item *driver_message(const struct catalogs *catalogs, uint32_t rdev);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_DRIVER_MESSAGE_H */
