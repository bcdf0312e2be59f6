/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h - prints the summary at a session's end. */
#ifndef PROFBPF_DAEMON_PROFCTL_SUMMARY_H
#define PROFBPF_DAEMON_PROFCTL_SUMMARY_H

#include <stdio.h>

#include "proto/control.pb-c.h"

/* summary_print_next - prints the next command to type; nothing if @output is "" or standard output */
void summary_print_next(FILE *to, const char *output);

/* summary_print_sources - a table of the records each source produced, kept and lost, why */
void summary_print_sources(FILE *to, Profbpf__Control__SourceSummary *const *sources, size_t count);

/*
 * summary_print - prints duration, records by source, losses, bytes, and the next command
 *
 * @output: the file's name, "-" for standard output, "" if it is unknown.
 */
void summary_print(FILE *to, const Profbpf__Control__Ended *ended, const char *output);

#endif /* PROFBPF_DAEMON_PROFCTL_SUMMARY_H */
