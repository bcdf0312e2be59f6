/* SPDX-License-Identifier: Apache-2.0 */
/* rocprof_csv.h - the tables of one run of rocprofv3, which are read together. */
#ifndef PROFBPF_ANALYZER_IMPORT_AMD_ROCPROF_CSV_H
#define PROFBPF_ANALYZER_IMPORT_AMD_ROCPROF_CSV_H

#include <stdbool.h>

/* rocprof_csv_reads - does the import of @kernels, a trace of kernels, read the file @name beside it, too? */
bool rocprof_csv_reads(const char *kernels, const char *name);

#endif /* PROFBPF_ANALYZER_IMPORT_AMD_ROCPROF_CSV_H */
