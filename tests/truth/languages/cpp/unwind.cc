// SPDX-License-Identifier: Apache-2.0
/*
 * unwind.cc - known chains of calls of a program without frame pointers: of the first thread and of another one, through
 * the C++ library, with frames of a size that only the run knows, with aligned ones, in a signal handler; through
 * functions in assembler without unwind tables, and by one made at run time (x86-64).
 *
 * To be compiled with -O2 -fomit-frame-pointer. As in truth.h; an argument is for how many milliseconds of
 * CPU time each of the two threads works in each of the ways.
 */
#include <alloca.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "spin.h"

static uint64_t work_ns;

NOIPA static void sorted_leaf(uint64_t until_ns)
{
	int numbers[2] = { 2, 1 };

	std::sort(numbers, numbers + 2, [until_ns](int a, int b) {
		spin(until_ns);
		return a < b;
	});
	sink = numbers[0];
}

NOIPA static void room_chain(int depth, uint64_t until_ns)
{
	volatile char *room = static_cast<volatile char *>(alloca(64 + depth * 48));

	room[depth] = 1;
	if (depth > 1) {
		room_chain(depth - 1, until_ns);
	} else {
		const std::function<void(uint64_t)> call = sorted_leaf;

		call(until_ns);
	}
	sink = room[depth];
}

NOIPA static void aligned_chain(int depth, uint64_t until_ns)
{
	alignas(64) volatile char room[256];

	room[depth] = 1;
	if (depth > 1)
		aligned_chain(depth - 1, until_ns);
	else
		spin(until_ns);
	sink = room[depth];
}

NOIPA static void on_signal(int)
{
	spin(cpu_ns() + work_ns);
	sink = 1; /* not the last thing is a call: its frame is there meanwhile */
}

NOIPA static void interrupted(uint64_t)
{
	raise(SIGUSR1);
	sink = 1;
}

/*
 * Without tables, and the frame pointer's register holds anything. The second one aligns the stack and keeps what it
 * was on it, as FFmpeg's and dav1d's assembler does.
 */
#if defined(__x86_64__)
asm(".pushsection .text\n"
    ".balign 16\n"
    ".type assembled, @function\n"
    "assembled:\n"
    "	push %rbx\n"
    "	push %rbp\n"
    "	sub $40, %rsp\n"
    "	xor %ebp, %ebp\n"
    "	test %rdi, %rdi\n"
    "	je 1f\n"
    "	call assembled_aligned\n"
    "1:	add $40, %rsp\n"
    "	pop %rbp\n"
    "	pop %rbx\n"
    "	ret\n"
    ".size assembled, . - assembled\n"
    ".balign 16\n"
    ".type assembled_aligned, @function\n"
    "assembled_aligned:\n"
    "	push %rbx\n"
    "	push %rbp\n"
    "	mov %rsp, %rbx\n"
    "	and $-64, %rsp\n"
    "	sub $192, %rsp\n"
    "	mov %rbx, 128(%rsp)\n"
    "	mov $7, %ebx\n"
    "	mov $9, %ebp\n"
    "	call spin_for_assembler\n"
    "	mov 128(%rsp), %rsp\n"
    "	pop %rbp\n"
    "	pop %rbx\n"
    "	ret\n"
    ".size assembled_aligned, . - assembled_aligned\n"
    ".popsection\n");

extern "C" void assembled(uint64_t until_ns);
extern "C" NOIPA void spin_for_assembler(uint64_t until_ns)
{
	spin(until_ns);
	sink = 3;
}

NOIPA static void spin_for_generated()
{
	spin(cpu_ns() + work_ns);
	sink = 4;
}

static void (*generated)(void (*call)());

/* Made before anybody looks. */
static bool make_generated()
{
	static const uint8_t code[] = { 0x53, /* push rbx */
					0x55, /* push rbp */
					0x48, 0x83, 0xec, 0x28, /* sub rsp, 40 */
					0xbd, 9, 0, 0, 0, /* mov ebp, 9 */
					0xff, 0xd7, /* call rdi */
					0x48, 0x83, 0xc4, 0x28, /* add rsp, 40 */
					0x5d, 0x5b, 0xc3 }; /* pop rbp, pop rbx, ret */
	void *memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return false;
	memcpy(memory, code, sizeof(code));
	generated = reinterpret_cast<void (*)(void (*)())>(memory);
	return !mprotect(memory, 4096, PROT_READ | PROT_EXEC);
}

NOIPA static void call_generated()
{
	generated(spin_for_generated);
	sink = 5;
}
#else
static void assembled(uint64_t)
{
}

static bool make_generated()
{
	return true;
}

static void call_generated()
{
}
#endif

NOIPA static void work()
{
	assembled(cpu_ns() + work_ns);
	call_generated();
	room_chain(6, cpu_ns() + work_ns);
	aligned_chain(3, cpu_ns() + work_ns);
	interrupted(0);
	sink = 2;
}

int main(int argc, char **argv)
{
	work_ns = (argc > 1 ? strtoull(argv[1], nullptr, 10) : 1000) * 1000000;
	signal(SIGUSR1, on_signal);
	if (!make_generated())
		return 1;
	printf("ready %d\n", getpid());
	fflush(stdout);
	if (getchar() == EOF)
		return 1;
	std::thread other(work);
	work();
	other.join();
	puts("done");
	fflush(stdout);
	getchar();
	return 0;
}
