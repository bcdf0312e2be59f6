/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_values.h - numbers of records (bpf/events.h, device/stream.h) as a trace has them
 * (proto/trace.proto).
 *
 * Records are private to one build, and device streams are an agreement with layers of other
 * builds; a trace is read for ever. So each value that a record has is translated by its name,
 * even where the numbers are the same today. Leaving one out does not compile.
 *
 * Flags are sums; bits that have no name are left out. A value without a name becomes
 * TRACE_NO_VALUE, for which readers say "unknown": the BPF programs come from the same build,
 * so it does not happen.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_TRACE_VALUES_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_TRACE_VALUES_H

#include <stdint.h>

#define TRACE_NO_VALUE 255u /* of no enum in trace.proto */

/* rec_call.header.flags to Calls.flags, with the depth */
uint32_t trace_call_flags(uint32_t flags);

/* rec_ioctl.header.flags to Ioctls.flags */
uint32_t trace_ioctl_flags(uint32_t flags);

/* rec_ioctl.rdev, rec_block.rdev to Ioctls.rdev, BlockRequests.rdev, Driver.rdev */
uint32_t trace_device_number(uint32_t rdev);

/* rec_switch.state to Switches.State; rec_switch.header.flags to Switches.flags, without what it waits for */
uint32_t trace_switch_state(uint32_t state);
uint32_t trace_switch_flags(uint32_t flags);

/* enum sleep_kind to SleepObjects.Kind */
uint32_t trace_sleep_kind(uint32_t kind);

/* rec_wake.header.flags, rec_interrupt.header.flags to Wakes.flags, Interrupts.flags */
uint32_t trace_wake_flags(uint32_t flags);

/* rec_block.operation to BlockRequests.Operation; rec_block.header.flags to BlockRequests.flags */
uint32_t trace_block_operation(uint32_t operation);
uint32_t trace_block_flags(uint32_t flags);

/* rec_task.event to Tasks.Event; rec_task.header.flags to Tasks.flags */
uint32_t trace_task_event(uint32_t event);
uint32_t trace_task_flags(uint32_t flags);

/* rec_account.header.flags to Accounts.flags; rec_process.header.flags to Processes.flags */
uint32_t trace_account_flags(uint32_t flags);
uint32_t trace_process_flags(uint32_t flags);

/* rec_stack.header.flags to StackSamples.flags */
uint32_t trace_stack_flags(uint32_t flags);

/* stream_task.kind to DeviceTasks.Kind; stream_device.clock to DeviceClock */
uint32_t trace_device_kind(uint32_t kind);
uint32_t trace_device_clock(uint32_t clock);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_TRACE_VALUES_H */
