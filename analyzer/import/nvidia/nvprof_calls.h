/* SPDX-License-Identifier: Apache-2.0 */
/* nvprof_calls.h - names of CUDA's calls by their numbers (cbid) in nvprof's database. */
#ifndef PROFBPF_ANALYZER_IMPORT_NVIDIA_NVPROF_CALLS_H
#define PROFBPF_ANALYZER_IMPORT_NVIDIA_NVPROF_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * nvprof_call_name - name by CUPTI's enumerations CUpti_driver_api_trace_cbid and CUpti_runtime_api_trace_cbid
 *
 * "cudaMemcpyAsync"; a call that is not in the table gets its number: "CUDA runtime call 400".
 */
void nvprof_call_name(bool driver, int64_t number, char *name, size_t size);

#endif /* PROFBPF_ANALYZER_IMPORT_NVIDIA_NVPROF_CALLS_H */
