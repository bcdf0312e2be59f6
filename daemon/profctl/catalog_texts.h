/* SPDX-License-Identifier: Apache-2.0 */
/* catalog_texts.h - the user's own catalogs, read with the user's rights and sent as text. */
#ifndef PROFBPF_DAEMON_PROFCTL_CATALOG_TEXTS_H
#define PROFBPF_DAEMON_PROFCTL_CATALOG_TEXTS_H

#include <stddef.h>

#include "daemon/common/words.h"
#include "proto/control.pb-c.h"

struct catalog_texts {
	Profbpf__Control__CatalogText **text; /* owned, with their strings */
	size_t count;
};

/*
 * catalog_texts_read - all *.catalog files of directories, in order of name, checked
 *
 * Returns 0, or a negative errno after printing the errors with file, line and
 * column. Free the result with catalog_texts_free() in either case.
 */
int catalog_texts_read(const struct words *directories, struct catalog_texts *texts);
void catalog_texts_free(struct catalog_texts *texts);

/*
 * read_text - a whole file as text, of at most CATALOG_TEXT_MAX bytes
 *
 * Returns it terminated, to be freed by the caller, or NULL with errno set: EFBIG
 * if it is too large, EINVAL if there is a NUL in it.
 */
char *read_text(const char *path);

#endif /* PROFBPF_DAEMON_PROFCTL_CATALOG_TEXTS_H */
