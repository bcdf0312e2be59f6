/* SPDX-License-Identifier: Apache-2.0 */
/* written.h - checks that the data written to a stream reached its file. */
#ifndef PROFBPF_ANALYZER_VIEW_RENDER_WRITTEN_H
#define PROFBPF_ANALYZER_VIEW_RENDER_WRITTEN_H

#include <stdio.h>

/*
 * stream_flush - writes buffered data
 *
 * Returns 0, or the negative errno of that write; -EIO if an earlier write failed, whose cause the stream does not
 * keep.
 */
int stream_flush(FILE *out);

#endif /* PROFBPF_ANALYZER_VIEW_RENDER_WRITTEN_H */
