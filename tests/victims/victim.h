/* SPDX-License-Identifier: Apache-2.0 */
/*
 * victim.h - programs that leave functions in every way except a return, while these functions are probed.
 *
 * A victim must print the same and end with the same status whether it is traced or not. Its
 * functions, victim_*, count their entries and returns in libvictim.so; victim_print() prints
 * these counts, as
 *
 *	calls NAME ENTERED RETURNED ENTERED RETURNED
 *
 * first of calls entered before the gate, then of calls entered after it. At the gate the victim prints
 * "ready" on its standard error and waits for a line, or the end, of its standard input: a tracer may attach there.
 * With VICTIM_LOOP in the environment it then continues until another line, or the end, and prints no calls.
 * VICTIM_ROUNDS is the number of rounds before and after the gate (200).
 */
#ifndef PROFBPF_TESTS_VICTIMS_VICTIM_H
#define PROFBPF_TESTS_VICTIMS_VICTIM_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Functions that are counted. */
#define VICTIM_FUNCTIONS(F)                                                                        \
	F(throw)                                                                                   \
	F(outer) F(catch) F(deep) F(tail) F(tail_target) F(rethrow) F(block) F(end_thread) F(jump) \
		F(signal_jump) F(backtrace) F(unwind_backtrace) F(fault) F(raise) F(fork) F(vfork) \
			F(work) F(leaf) F(recurse) F(quit) F(java) F(go)

#define VICTIM_ID(name) VICTIM_##name,
enum victim_id { VICTIM_FUNCTIONS(VICTIM_ID) VICTIM_IDS };

/* Returns whether the function was entered after the gate; the caller passes this to victim_returns(). */
int victim_enters(enum victim_id id);
void victim_returns(enum victim_id id, int epoch);

/* Prints "NAME ok" or "NAME failed", and the calls. */
void victim_print(const char *name, bool ok);

void victim_gate(void);
/* Returns whether to make another round after the gate. */
bool victim_again(void);
int victim_rounds(void);

int victim_throw(int i); /* throws if odd, else returns it */
int victim_outer(int i); /* the exception of victim_throw() passes through it */
int victim_catch(int i); /* returns -1 if victim_outer() throws */
int victim_deep(int i, int depth); /* calls itself, then victim_outer() */
int victim_tail(int i); /* jumps to victim_tail_target(), which throws if odd */
int victim_tail_target(int i, int from);
int victim_rethrow(int i); /* catches the exception of victim_throw() and throws it again */
int victim_block(int fd); /* reads a byte */
void victim_end_thread(void); /* does not return */
int victim_jump(int i, jmp_buf *to); /* jumps there if odd */
int victim_signal_jump(int i, sigjmp_buf *to);
int victim_backtrace(void **frames, int size); /* returns the number of frames */
int victim_unwind_backtrace(void);
int victim_fault(volatile int *at); /* reads at that address; a signal handler may throw */
int victim_raise(int signal);
int victim_fork(int status); /* returns the child's status; in the child it throws */
int victim_vfork(const char *path, int i); /* runs a program that exits with 0; returns i if it did */
void victim_work(void (*work)(void *argument), void *argument);
int victim_leaf(int i);
int victim_uncounted(int i); /* for processes that end before they can be traced */
int victim_recurse(int depth);
void victim_quit(int status); /* exits */

#ifdef __cplusplus
}
#endif

#endif /* PROFBPF_TESTS_VICTIMS_VICTIM_H */
