/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_values.h - translates enum values of records (bpf/events.h, device/stream.h) to those of a trace
 * (proto/trace.proto).
 *
 * Records are private to one build, and device streams are an agreement with layers of other
 * builds, but a trace must stay readable for ever. So each value of a record is translated by its name,
 * even if the numbers are equal today. A missing value does not compile.
 *
 * Flags are sums; bits without a name are left out. A value without a name becomes
 * TRACE_NO_VALUE, which readers show as "unknown": that does not happen, because the BPF programs
 * come from the same build.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_TRACE_VALUES_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_TRACE_VALUES_H

#include <stdint.h>

#define TRACE_NO_VALUE 255u /* not a value of any enum in trace.proto */

/* rec_call.header.flags to Calls.flags, with the depth */
uint32_t trace_call_flags(uint32_t flags);

/* rec_ioctl.header.flags to Ioctls.flags */
uint32_t trace_ioctl_flags(uint32_t flags);

/* rec_ioctl.rdev, rec_block.rdev to Ioctls.rdev, BlockRequests.rdev, Driver.rdev */
uint32_t trace_device_number(uint32_t rdev);

/* rec_switch.state to Switches.State; rec_switch.header.flags to Switches.flags, without the kind of sleep */
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
