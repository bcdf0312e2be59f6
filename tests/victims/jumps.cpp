// SPDX-License-Identifier: Apache-2.0
// longjmp(), signal handlers that never return, generators made with setjmp().
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <ucontext.h>

#include "cases.h"

static const int STACK_SIZE = 64 << 10;

static bool leaves(int rounds)
{
	bool ok = true;

	for (int i = 0; i < rounds; i++)
		ok &= victim_leaf(i) == 3 * i;
	return ok;
}

// More jumps than the depth of any stack of open calls; later calls must still be recorded.
static bool longjmps(void)
{
	volatile int jumped = 0;

	for (volatile int i = 0; i < 20 * victim_rounds(); i = i + 1) {
		jmp_buf here;

		if (setjmp(here))
			jumped = jumped + 1;
		else
			victim_jump(i, &here);
	}
	return leaves(5 * victim_rounds()) && jumped == 10 * victim_rounds();
}

static bool siglongjmps(void)
{
	volatile int jumped = 0;

	for (volatile int i = 0; i < victim_rounds(); i = i + 1) {
		sigjmp_buf here;

		if (sigsetjmp(here, 1))
			jumped = jumped + 1;
		else
			victim_signal_jump(i, &here);
	}
	return jumped == victim_rounds() / 2;
}

static sigjmp_buf back;
static volatile int jumps;

static void jump_back(int)
{
	if (jumps & 1)
		siglongjmp(back, 1);
}

static bool raise_signals(int flags)
{
	struct sigaction action = {};
	volatile int jumped = 0;

	action.sa_handler = jump_back;
	action.sa_flags = flags;
	sigaction(SIGUSR1, &action, nullptr);
	for (jumps = 0; jumps < victim_rounds(); jumps = jumps + 1) {
		if (sigsetjmp(back, 1))
			jumped = jumped + 1;
		else
			victim_raise(SIGUSR1);
		victim_leaf(jumps);
	}
	return jumped == victim_rounds() / 2;
}

static bool handler_jump(void)
{
	return raise_signals(0);
}

// The handler also throws and catches on the signal stack, and half of the handlers leave by a jump.
static void handle_elsewhere(int signal)
{
	if (victim_catch(1) == -1 && victim_catch(2) == 3)
		jump_back(signal);
}

static bool alternate_stack(void)
{
	stack_t other = {}, none = {};
	struct sigaction action = {};
	volatile int jumped = 0;

	other.ss_sp = malloc(STACK_SIZE);
	other.ss_size = STACK_SIZE;
	sigaltstack(&other, nullptr);
	action.sa_handler = handle_elsewhere;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, nullptr);
	for (jumps = 0; jumps < victim_rounds(); jumps = jumps + 1) {
		if (sigsetjmp(back, 1))
			jumped = jumped + 1;
		else
			victim_raise(SIGUSR2);
	}
	none.ss_flags = SS_DISABLE;
	sigaltstack(&none, nullptr);
	free(other.ss_sp);
	return jumped == victim_rounds() / 2;
}

static void throw_from_signal(int)
{
	throw std::runtime_error("fault");
}

static bool signal_throw(void)
{
	struct sigaction action = {};
	volatile int value = 5, caught = 0;

	action.sa_handler = throw_from_signal;
	action.sa_flags = SA_NODEFER;
	sigaction(SIGSEGV, &action, nullptr);
	for (int i = 0; i < victim_rounds(); i++) {
		try {
			victim_fault(i & 1 ? nullptr : &value);
		} catch (const std::runtime_error &) {
			caught = caught + 1;
		}
	}
	signal(SIGSEGV, SIG_DFL);
	return caught == victim_rounds() / 2;
}

// Generators with separate stacks: swapcontext() begins them, setjmp() does all later switches.
struct generator {
	ucontext_t context;
	jmp_buf inside;
	bool begun;
};

static generator generators[4], *running;
static jmp_buf caller;
static ucontext_t beginner;

static void give(void *)
{
	if (!_setjmp(running->inside))
		_longjmp(caller, 1);
}

static void generate(void)
{
	for (;;)
		victim_work(give, nullptr);
}

static __attribute__((noipa)) void next(generator *of)
{
	running = of;
	if (_setjmp(caller))
		return;
	if (of->begun)
		_longjmp(of->inside, 1);
	of->begun = true;
	swapcontext(&beginner, &of->context);
}

static __attribute__((noipa)) void make_generator(generator *of)
{
	getcontext(&of->context);
	of->context.uc_stack.ss_sp = malloc(STACK_SIZE);
	of->context.uc_stack.ss_size = STACK_SIZE;
	makecontext(&of->context, generate, 0);
}

static bool setjmp_generators(void)
{
	bool ok = true;

	for (generator &one : generators)
		if (!one.begun)
			make_generator(&one);
	for (int i = 0; i < victim_rounds(); i++) {
		next(&generators[i * 3 % 4]);
		ok &= victim_leaf(i) == 3 * i;
	}
	return ok;
}

const victim_case jump_cases[] = {
	{ "longjmp", longjmps, false, nullptr },
	{ "siglongjmp", siglongjmps, false, nullptr },
	{ "handler_jump", handler_jump, false, nullptr },
	{ "alternate_stack", alternate_stack, false, nullptr },
	{ "signal_throw", signal_throw, false, nullptr },
	{ "setjmp_generators", setjmp_generators, false, nullptr },
	{ nullptr, nullptr, false, nullptr },
};
