// SPDX-License-Identifier: Apache-2.0
// cases.h - what the native victims do; each file has a table of its cases, which ends with a nameless one.
#ifndef PROFBPF_TESTS_VICTIMS_CASES_H
#define PROFBPF_TESTS_VICTIMS_CASES_H

#include "victim.h"

struct victim_case {
	const char *name;
	bool (*run)(
		void); // does so much as victim_rounds() says; false: something was not as it should be
	bool whole; // run() has the gate in it, and looks after victim_again()
	void (*last)(void); // at the end: prints by itself, and does not return; or null
};

extern const victim_case unwinding_cases[], jump_cases[], stack_cases[], process_cases[];

#endif // PROFBPF_TESTS_VICTIMS_CASES_H
