// SPDX-License-Identifier: Apache-2.0
// A library that is loaded at run time; the function that it calls throws through it.
extern "C" __attribute__((noipa, visibility("default"))) int
victim_plugin_call(int (*function)(int), int i)
{
	volatile int value = function(i);

	return value;
}
