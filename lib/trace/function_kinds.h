/* SPDX-License-Identifier: Apache-2.0 */
/* function_kinds.h - the kinds of runtime functions by the names that catalogs and reports use. */
#ifndef PROFBPF_LIB_TRACE_FUNCTION_KINDS_H
#define PROFBPF_LIB_TRACE_FUNCTION_KINDS_H

#include "proto/trace.pb-c.h"

#define FUNCTION_KINDS (PROFBPF__FUNCTION__KIND__STAGE + 1)

/* Indexed by Profbpf__Function__Kind. */
extern const char *const function_kinds[FUNCTION_KINDS];

/* function_kind_name - "launch", "copy", ...; "other" for values that do not exist */
const char *function_kind_name(unsigned int kind);

#endif /* PROFBPF_LIB_TRACE_FUNCTION_KINDS_H */
