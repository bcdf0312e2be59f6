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

/* translate_begin - switches to the language of the environment, if there is a UTF-8 locale and a translation */
void translate_begin(void);

/* tr - @text as it is to be read, which lasts; itself if it is not translated */
const char *tr(const char *text) __attribute__((format_arg(1)));

#endif /* PROFBPF_ANALYZER_MODEL_TRANSLATE_H */
