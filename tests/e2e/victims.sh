#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that leave probed functions in other ways than by returning behave the same traced and untraced: a sample.
# For all of them, with more repetitions: make victims.
# timeout: 1200
# beside others: what programs do and return is the same however busy the machine
readonly SAMPLE='@(throw|caught_below|deep_throw|threads|dlopen|tail_call|rethrow|cancel|thread_exit|longjmp|siglongjmp'\
'|backtrace|crash_handler|ucontext|fork_throw|vfork_exec|signal_throw|sanitizer|rust_panic|torch_backward)'
PROFBPF_VICTIMS_ONLY=${PROFBPF_VICTIMS_ONLY:-$SAMPLE} exec "$(dirname "$0")/../victims/run"
