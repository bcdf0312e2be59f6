/* SPDX-License-Identifier: Apache-2.0 */
/* message.h - profctl's messages to its user on standard error. */
#ifndef PROFBPF_DAEMON_PROFCTL_MESSAGE_H
#define PROFBPF_DAEMON_PROFCTL_MESSAGE_H

#include <stddef.h>

/* "profctl: TEXT"; a TEXT of several lines gets the prefix once. */
void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * printable - @text with control characters replaced by ?
 *
 * For names that come from elsewhere: they must not steer the user's terminal.
 * Writes to @safe and returns it.
 */
const char *printable(const char *text, char *safe, size_t size);

#endif /* PROFBPF_DAEMON_PROFCTL_MESSAGE_H */
