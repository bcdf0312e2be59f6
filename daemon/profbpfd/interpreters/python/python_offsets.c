/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/interpreters/python/python_offsets.h"

#include <pthread.h>

/* Offsets that all versions share. */
#define IN_ALL                                                                                     \
	.thread_next = 8, .thread_interp = 16, .unicode_length = 16, .unicode_state = 32,          \
	.bytes_data = 32, .bytes_size = 16, .object_type = 8, .lock_locked = 16, .lock_holder = 8, \
	.lock_first = 32, .lock_last = 32 + 2 * (sizeof(pthread_cond_t) + sizeof(pthread_mutex_t))

/* Offsets of versions whose frames are objects. */
#define UNTIL_3_10                                                                                \
	.interp_threads = 8, .interp_next = 0, .thread_id = 176, .native_thread_id = PYTHON_NONE, \
	.thread_cframe = PYTHON_NONE, .thread_frame = 24, .frame_previous = 24, .frame_code = 32, \
	.frame_owner = PYTHON_NONE, .frame_entry = PYTHON_NONE, .code_instructions = PYTHON_NONE, \
	.code_qualname = PYTHON_NONE, .ascii_data = 48, .compact_data = 72,                       \
	.interp_lock = PYTHON_NONE

/* Offsets of versions whose frames are not objects; the next two have those of later versions. */
#define SINCE_3_11                                                                              \
	.frame_instruction = 56, .code_qualname = 128, .code_lines = 136, .code_filename = 112, \
	.code_name = 120

#define SINCE_3_12                                                                               \
	.frame_previous = 8, .frame_code = 0, .frame_entry = PYTHON_NONE, .code_first_line = 68, \
	.ascii_data = 40, .compact_data = 56, .runtime_lock = PYTHON_NONE

#define SINCE_3_13                                                         \
	.interp_threads = 7344, .thread_id = 152, .native_thread_id = 160, \
	.thread_cframe = PYTHON_NONE, .thread_frame = 72, .interp_lock = 16

static const struct python_offsets table[] = {
	{
		.version = 0x0307,
		IN_ALL,
		UNTIL_3_10,
		.interpreters_head = 24,
		.frame_instruction = 104,
		.code_lines = 112,
		.code_filename = 96,
		.code_name = 104,
		.code_first_line = 36,
		.runtime_lock = 1264,
	},
	{
		.version = 0x0308,
		IN_ALL,
		UNTIL_3_10,
		.interpreters_head = 32,
		.frame_instruction = 104,
		.code_lines = 120,
		.code_filename = 104,
		.code_name = 112,
		.code_first_line = 40,
		.runtime_lock = 1152,
	},
	{
		.version = 0x0309,
		IN_ALL,
		UNTIL_3_10,
		.interpreters_head = 32,
		.frame_instruction = 104,
		.code_lines = 120,
		.code_filename = 104,
		.code_name = 112,
		.code_first_line = 40,
		.runtime_lock = 352,
	},
	{
		.version = 0x030a,
		IN_ALL,
		UNTIL_3_10,
		.interpreters_head = 32,
		.frame_instruction = 96,
		.code_lines = 120,
		.code_filename = 104,
		.code_name = 112,
		.code_first_line = 40,
		.runtime_lock = 352,
	},
	{
		.version = 0x030b,
		IN_ALL,
		SINCE_3_11,
		.interpreters_head = 40,
		.interp_threads = 16,
		.interp_next = 0,
		.thread_id = 152,
		.native_thread_id = 160,
		.thread_cframe = 56,
		.thread_frame = 8,
		.frame_previous = 48,
		.frame_code = 32,
		.frame_owner = 69,
		.frame_entry = 68,
		.code_instructions = 184,
		.code_first_line = 72,
		.ascii_data = 48,
		.compact_data = 72,
		.runtime_lock = 360,
		.interp_lock = PYTHON_NONE,
	},
	{
		.version = 0x030c,
		IN_ALL,
		SINCE_3_11,
		SINCE_3_12,
		.interpreters_head = 40,
		.interp_threads = 72,
		.interp_next = 0,
		.thread_id = 136,
		.native_thread_id = 144,
		.thread_cframe = 56,
		.thread_frame = 0,
		.frame_owner = 70,
		.code_instructions = 192,
		.interp_lock = 384,
	},
	{
		.version = 0x030d,
		IN_ALL,
		SINCE_3_11,
		SINCE_3_12,
		SINCE_3_13,
		.interpreters_head = 632,
		.interp_next = 7264,
		.frame_owner = 70,
		.code_instructions = 200,
	},
	{
		.version = 0x030e,
		IN_ALL,
		SINCE_3_11,
		SINCE_3_12,
		SINCE_3_13,
		.interpreters_head = 808,
		.interp_next = 7272,
		.frame_code_tags = 3,
		.frame_owner = 74,
		.code_instructions = 208,
	},
};

const struct python_offsets *python_offsets_at(size_t index)
{
	return index < sizeof(table) / sizeof(table[0]) ? &table[index] : NULL;
}
