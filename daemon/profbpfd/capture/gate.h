/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - the scheduler's events, shared among the sessions of a daemon.
 *
 * Every process on the machine pays for each program at an event of the scheduler. So there is one program for
 * all sessions, which calls the programs of the sessions that may want the event (bpf/gate/gate.bpf.c). It is
 * loaded for the first session, attached while a session is attached, and unloaded after the last one.
 *
 * All functions may be called by any thread; functions of a seat only by the session that it belongs to.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CAPTURE_GATE_H
#define PROFBPF_DAEMON_PROFBPFD_CAPTURE_GATE_H

#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/capture/features.h"

struct bpf_map;
struct gate;
struct gate_seat;

enum gate_event { GATE_SWITCH, GATE_WAKING, GATE_MIGRATE, GATE_WAKEUP_NEW, GATE_EVENTS };

/* gate_new, gate_free - all seats must have been given back. NULL without memory. */
struct gate *gate_new(void);
void gate_free(struct gate *gate);

/*
 * gate_take - a seat for a session that is about to load its programs
 *
 * NULL: all seats are taken, or this kernel has no tail calls in subprograms (arm64 before Linux 6.0); then the
 * session attaches its programs itself. gate_leave() returns the seat.
 */
struct gate_seat *gate_take(struct gate *gate, const struct features *features);

/* gate_slot - the seat's number, for the session's programs */
uint32_t gate_slot(const struct gate_seat *seat);

/* Maps of a session's programs, not loaded yet, that become the gate's maps. */
struct gate_maps {
	struct bpf_map *marks;
	struct bpf_map *waiting;
	struct bpf_map *interrupted; /* NULL: the session marks interrupts itself */
};

/* gate_share - 0 or a negative errno */
int gate_share(const struct gate_seat *seat, const struct gate_maps *maps);

/* gate_mark - the session may want events of that process; gate_mark_all - of all processes */
void gate_mark(struct gate_seat *seat, pid_t pid);
void gate_mark_all(struct gate_seat *seat);

/* gate_enter - from now on the gate calls these programs (descriptors; -1: none). Returns 0 or a negative errno. */
int gate_enter(struct gate_seat *seat, const int programs[GATE_EVENTS]);

/*
 * gate_leave - ends that and returns the seat; @seat may be NULL
 *
 * The session's other programs that mark processes must have been detached before. @waiting is its own map with the numbers
 * of its targets that wait for each CPU, which are subtracted. Waits for running programs, and with the last seat until
 * the kernel has released the events, about 0.1 s for each.
 */
void gate_leave(struct gate_seat *seat, int waiting);

#endif /* PROFBPF_DAEMON_PROFBPFD_CAPTURE_GATE_H */
