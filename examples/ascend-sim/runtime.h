/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.h - functions of libruntime.so for the libraries above it, beside those of the real library.
 */
#ifndef ASCEND_SIM_RUNTIME_H
#define ASCEND_SIM_RUNTIME_H

#include "sim.h"

/* Sends a task to a stream by halSqTaskSend(); waits while its queue is full. Returns 0 or an error. */
int sim_submit(struct sim_stream *stream, const struct sim_task *task);

/* Sets the call of the profile for tasks that this thread sends; NULL = none. */
void sim_set_call(const struct sim_call *call);

int rtKernelLaunch(const void *stub, uint32_t blocks, void *args, uint32_t args_size, void *sm_desc,
		   void *stream);
int rtCpuKernelLaunchWithFlag(const void *so, const void *name, uint32_t blocks, const void *args,
			      void *sm_desc, void *stream, uint32_t flags);
int rtMemcpy(void *to, uint64_t to_size, const void *from, uint64_t bytes, uint32_t kind);
int rtMemcpyAsync(void *to, uint64_t to_size, const void *from, uint64_t bytes, uint32_t kind,
		  void *stream);
int rtStreamSynchronizeWithTimeout(void *stream, int32_t timeout_ms);
int rtStreamSynchronize(void *stream);
int rtDeviceSynchronize(void);
int rtEventRecord(void *event, void *stream);
int rtStreamWaitEvent(void *stream, void *event);
int rtEventSynchronize(void *event);
int rtMalloc(void **memory, uint64_t bytes, uint32_t type, uint16_t module);
int rtFree(void *memory);
int rtProfilerTraceEx(uint64_t id, uint64_t model, uint16_t tag, void *stream);

int halSqTaskSend(uint32_t device, struct halTaskSendInfo *info);
int halMemAlloc(void **memory, unsigned long long bytes, unsigned long long flags);
int halMemFree(void *memory);

#endif /* ASCEND_SIM_RUNTIME_H */
