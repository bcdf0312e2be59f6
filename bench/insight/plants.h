/* SPDX-License-Identifier: Apache-2.0 */
/* plants.h - parts of planted faults: queues, stages, other processes, and a main thread that feeds the device. */
#ifndef PROFBPF_BENCH_INSIGHT_PLANTS_H
#define PROFBPF_BENCH_INSIGHT_PLANTS_H

#include "bench/insight/plant.h"
#include "tests/truth/truth.h"

#define STAGES 4
#define POOL 4
#define QUEUE 3
#define BLOCK (64u << 10)
#define DISK_BYTES (64u << 20)
#define PIECE_NS 100000
#define NOTED -1

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t filled, room;
	int count;
};

/* A thread that makes items, by itself or from the items of another stage. */
struct stage {
	char name[16];
	struct queue out, asked;
	struct stage *from; /* NULL: makes items by itself */
	void (*work)(uint64_t ns);
	int kind; /* enum plant_kind of its work */
};

struct plant {
	const char *name; /* NULL: the last kind */
	void (*run)(void);
	bool one_cpu; /* the job may use one CPU only */
};

extern const struct plant plants_of_waits[], plants_of_work[];

extern bool faulty;
extern uint64_t task_ns, item_ns; /* lengths of a task and of the work on an item */
extern int rounds; /* items that the main thread takes */
extern const char *disk; /* a file of DISK_BYTES on a block device, or NULL */
extern pid_t children[POOL]; /* killed at the end */

_Noreturn void fail(const char *what);
void tell_root(void); /* report that the calling thread causes the fault */
void expect(const char *causes, int hops);

void init_queue(struct queue *queue);
void put(struct queue *queue);
void take(struct queue *queue);

/* start - start a thread */
void start(void *(*run)(void *), void *argument);

/* do_work - do the work of @stage on an item, as a spell */
void do_work(struct stage *stage);

/* feed - loop of the main thread: an item for each task; @kind: of an item, or NOTED if spells are recorded elsewhere */
void feed(void (*item)(void *), void *argument, int kind, uint64_t cost_ns);
void take_item(void *queue);
void no_item(void *unused);
void read_item(void *fd);

/* Makes a chain of @count stages, of which the last works: it is a pool of @workers threads. */
void chain(int count, int workers, void (*work)(uint64_t ns), int kind, const char *causes);

/* lock_with - start a thread that works on each item with a lock that the main thread needs */
void lock_with(void (*work)(uint64_t ns), int kind, const char *causes);

/* Starts a process that does @work for each item, and then writes or reads a byte. */
void serve_in_child(void (*work)(uint64_t ns), int kind, int fd, bool writes);

/* Reads a block from the disk. */
void read_disk(uint64_t unused);

#endif /* PROFBPF_BENCH_INSIGHT_PLANTS_H */
