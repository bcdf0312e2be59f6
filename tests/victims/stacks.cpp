// SPDX-License-Identifier: Apache-2.0
// Coroutines that are suspended inside probed functions.
#include <cstdlib>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <ucontext.h>
#include <vector>

#include "cases.h"

static const int COROUTINES = 4;
static const size_t STACK_SIZE = 64 << 10;

static ucontext_t resumer, contexts[COROUTINES];
static int current;

static void *make_stack(void)
{
	return mmap(nullptr, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
}

static void suspend(void *)
{
	int me = current;

	victim_leaf(me);
	swapcontext(&contexts[me], &resumer);
	victim_leaf(me);
}

static void work_for_ever(void)
{
	for (;;)
		victim_work(suspend, nullptr);
}

static __attribute__((noipa)) void make_context(ucontext_t *context, void *stack)
{
	getcontext(context);
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = STACK_SIZE;
	makecontext(context, work_for_ever, 0);
}

static bool ucontexts(void)
{
	static bool made;

	for (int i = 0; i < COROUTINES && !made; i++)
		make_context(&contexts[i], i & 1 ? malloc(STACK_SIZE) : make_stack());
	made = true;
	for (int i = 0; i < victim_rounds(); i++) {
		current = i * 7 % COROUTINES;
		swapcontext(&resumer, &contexts[current]);
		victim_leaf(i);
	}
	return true;
}

// Saves the stack pointer in *from and continues on the stack whose pointer is to.
extern "C" void victims_switch(void **from, void *to);
#if defined(__x86_64__)
asm(".text\n.type victims_switch, @function\nvictims_switch:\n"
    "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
    "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
    "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
    ".size victims_switch, . - victims_switch\n");
static const int SAVED = 6, START = 6;
#elif defined(__aarch64__)
asm(".text\n.type victims_switch, %function\nvictims_switch:\n"
    "stp x29, x30, [sp, #-160]!\nstp x19, x20, [sp, #16]\nstp x21, x22, [sp, #32]\n"
    "stp x23, x24, [sp, #48]\nstp x25, x26, [sp, #64]\nstp x27, x28, [sp, #80]\n"
    "stp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\n"
    "stp d14, d15, [sp, #144]\nmov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
    "ldp d14, d15, [sp, #144]\nldp d12, d13, [sp, #128]\nldp d10, d11, [sp, #112]\n"
    "ldp d8, d9, [sp, #96]\nldp x27, x28, [sp, #80]\nldp x25, x26, [sp, #64]\n"
    "ldp x23, x24, [sp, #48]\nldp x21, x22, [sp, #32]\nldp x19, x20, [sp, #16]\n"
    "ldp x29, x30, [sp], #160\nret\n"
    ".size victims_switch, . - victims_switch\n");
static const int SAVED = 20, START = 1;
#endif

static thread_local void *resumer_stack;
static void *stacks[COROUTINES];
static std::mutex one_resumes;

// A coroutine may continue in another thread after a switch: never keep the address.
static __attribute__((noipa)) void **my_resumer(void)
{
	return &resumer_stack;
}

static void switch_away(void *number)
{
	long me = reinterpret_cast<long>(number);

	victim_leaf(static_cast<int>(me));
	victims_switch(&stacks[me], *my_resumer());
	victim_leaf(static_cast<int>(me));
}

template <long number> static void work_on(void)
{
	for (;;)
		victim_work(switch_away, reinterpret_cast<void *>(number));
}

static void make_coroutine(long number, void (*start)(void))
{
	void **top = reinterpret_cast<void **>(static_cast<char *>(make_stack()) + STACK_SIZE);

	/* The initial stack for the first switch: registers, entry point, and no caller. */
	top -= SAVED + 2;
	top[START] = reinterpret_cast<void *>(start);
	stacks[number] = top;
}

static void make_coroutines(void)
{
	if (stacks[0])
		return;
	make_coroutine(0, work_on<0>);
	make_coroutine(1, work_on<1>);
	make_coroutine(2, work_on<2>);
	make_coroutine(3, work_on<3>);
}

static void resume(int number)
{
	victims_switch(my_resumer(), stacks[number]);
}

static bool assembler(void)
{
	make_coroutines();
	for (int i = 0; i < victim_rounds(); i++) {
		resume(i * 5 % COROUTINES);
		victim_leaf(i);
	}
	return true;
}

static bool other_thread(void)
{
	std::vector<std::thread> threads;

	make_coroutines();
	for (int i = 0; i < 3; i++)
		threads.emplace_back([] {
			for (int k = 0; k < victim_rounds() / 2; k++) {
				std::lock_guard<std::mutex> lock(one_resumes);

				resume(k % COROUTINES);
			}
		});
	for (std::thread &one : threads)
		one.join();
	return true;
}

static void schedule(void *)
{
	for (int i = 0; i < 20; i++) {
		resume(i % COROUTINES);
		victim_leaf(i);
	}
}

// The scheduler itself runs inside a probed function.
static bool scheduler(void)
{
	make_coroutines();
	for (int i = 0; i < victim_rounds() / 20; i++)
		victim_work(schedule, nullptr);
	return true;
}

// At attach the coroutines are suspended and the scheduler is running.
static void schedule_with_gate(void *)
{
	schedule(nullptr);
	victim_gate();
	do {
		schedule(nullptr);
	} while (victim_again());
}

static bool scheduler_under_way(void)
{
	make_coroutines();
	victim_work(schedule_with_gate, nullptr);
	return true;
}

static bool recursion(void)
{
	bool ok = true;

	for (int i = 0; i < victim_rounds() / 20; i++)
		ok &= victim_recurse(100) == 100;
	return ok;
}

const victim_case stack_cases[] = {
	{ "ucontext", ucontexts, false, nullptr },
	{ "asm_switch", assembler, false, nullptr },
	{ "other_thread", other_thread, false, nullptr },
	{ "scheduler", scheduler, false, nullptr },
	{ "scheduler_under_way", scheduler_under_way, true, nullptr },
	{ "recursion", recursion, false, nullptr },
	{ nullptr, nullptr, false, nullptr },
};
