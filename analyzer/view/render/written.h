/* SPDX-License-Identifier: Apache-2.0 */
/* written.h - is what was written to a stream where it belongs? */
#ifndef PROFBPF_ANALYZER_VIEW_RENDER_WRITTEN_H
#define PROFBPF_ANALYZER_VIEW_RENDER_WRITTEN_H

#include <stdio.h>

/*
 * stream_flush - write what is still buffered
 *
 * Returns 0, or the negative errno of that; -EIO where something written before failed, which
 * the stream does not tell the cause of.
 */
int stream_flush(FILE *out);

#endif /* PROFBPF_ANALYZER_VIEW_RENDER_WRITTEN_H */
