/* SPDX-License-Identifier: Apache-2.0 */
/* diff.h - the changes between two recordings, as text, as JSON ("profbpf.diff/1") and as a page */
#ifndef PROFBPF_ANALYZER_VIEW_DIFF_H
#define PROFBPF_ANALYZER_VIEW_DIFF_H

#include <stdio.h>

#include "analyzer/analyse/compare/changes.h"
#include "analyzer/view/report.h"

#define DIFF_SCHEMA "profbpf.diff/1"

/* The compared part of a recording. */
struct diff_side {
	const char *name; /* file name */
	uint64_t from_ns; /* since its beginning */
	uint64_t to_ns;
};

struct diff {
	struct diff_side before, after;
	struct changes changes;
};

/*
 * diff_text, diff_json - write the changes; return as report_text() and report_json() do
 *
 * Text has the sentence and the changes larger than their noise; with options->top 0 also the others. JSON has all.
 */
int diff_text(FILE *out, const struct diff *diff, const struct report_options *options);
int diff_json(FILE *out, const struct diff *diff);

/*
 * diff_html - writes a page that contains and shows the JSON and loads nothing
 *
 * Each figure has its place in the JSON as attributes (data-key, data-value). Returns as the others do.
 */
int diff_html(FILE *out, const struct diff *diff);

/*
 * diff_state - the result in one word: "worse" or "better" by the steps' time, "changed" if only other figures
 * changed, "unchanged", or "unknown" where nothing could be compared. Static text.
 */
const char *diff_state(const struct changes *changes);

/* diff_change_text - "+23.1 %" or "12 times" of a duration, "+4.2 points" of a share, or "new". Returns @text. */
const char *diff_change_text(const struct change *change, char *text, size_t size);

/* diff_noise_text - the same for the noise, without a sign; it may be "unknown" */
const char *diff_noise_text(const struct change *change, char *text, size_t size);

/* diff_sentence - the result in one sentence. Returns @text. */
#define DIFF_SENTENCE_SIZE 512
const char *diff_sentence(const struct changes *changes, char *text, size_t size);

#endif /* PROFBPF_ANALYZER_VIEW_DIFF_H */
