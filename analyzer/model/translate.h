/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translate.h - the words of the text report in the reader's language, by gettext.
 *
 * Only after translate_begin(), which is for the text report: JSON, CSV and all else are in English whatever the language.
 */
#ifndef PROFBPF_ANALYZER_MODEL_TRANSLATE_H
#define PROFBPF_ANALYZER_MODEL_TRANSLATE_H

/* Words that are translated where they are used. */
#define N_(text) text

/* translate_begin - from now on in the language of the environment, as far as there is one of UTF-8, and translations to it */
void translate_begin(void);

/* tr - @text as it is to be read, which lasts; itself if it is not translated */
const char *tr(const char *text) __attribute__((format_arg(1)));

#endif /* PROFBPF_ANALYZER_MODEL_TRANSLATE_H */
