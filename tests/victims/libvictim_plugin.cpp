// SPDX-License-Identifier: Apache-2.0
// A library that is loaded while the program runs: what it calls throws through it.
extern "C" __attribute__((noipa, visibility("default"))) int
victim_plugin_call(int (*function)(int), int i)
{
	volatile int value = function(i);

	return value;
}
