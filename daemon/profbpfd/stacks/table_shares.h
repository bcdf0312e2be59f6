/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_shares.h - accounts of the unwind tables' memory and time, by user.
 *
 * All sessions share one memory for tables, which stay there while a process has their files mapped, and longer
 * (unwind_files.h). So the first user must not take all of it: a quarter is reserved for root, and each other owner
 * may have half of the rest that root and the others have left. The first owner gets 3/8 of the total, the next one half
 * of what is left then, so there is always something left. Root may use all free memory.
 *
 * A user who maps new files again and again makes the one thread that serves all users build new tables. So an owner other
 * than root has a credit of TABLE_TIME_NS for that, which grows again by a share of the elapsed time.
 *
 * Used by one thread at a time.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_TABLE_SHARES_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_TABLE_SHARES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TABLE_TIME_NS 10000000000ull /* the table of libtorch takes 0.3 s */
#define TABLE_TIME_SHARE 20 /* the credit grows by one nanosecond in so many */

/* The resources of tables. */
struct table_room {
	uint64_t words; /* 32-bit words, for rows and lists of pages */
	uint64_t rules; /* distinct rules */
	uint64_t files;
};

struct table_shares;

/* table_shares_new - @all is the total for all users; NULL without memory */
struct table_shares *table_shares_new(const struct table_room *all);
void table_shares_free(struct table_shares *shares);

/* table_shares_left - the resources that @owner may still take; 0 is root */
struct table_room table_shares_left(const struct table_shares *shares, uid_t owner);

/*
 * table_shares_take - adds @room to the account of @owner
 *
 * Returns 0, or -ENOMEM and changes nothing. Only the first call for an owner, which opens the account, can fail.
 */
int table_shares_take(struct table_shares *shares, uid_t owner, const struct table_room *room);

/* table_shares_give - subtracts @room, at most what @owner has, from the account */
void table_shares_give(struct table_shares *shares, uid_t owner, const struct table_room *room);

/* table_shares_in_time - may a table of @owner's be made at @now_ns? */
bool table_shares_in_time(const struct table_shares *shares, uid_t owner, uint64_t now_ns);

/* table_shares_spend - charges @ns of CPU time, spent until @now_ns, to @owner; does nothing without an account */
void table_shares_spend(struct table_shares *shares, uid_t owner, uint64_t ns, uint64_t now_ns);

/*
 * table_payer - the user who pays for the table of a file
 *
 * @user is the session's user, (uid_t)-1 for one who may see everything. Such a session walks the stacks of all users'
 * processes, who could use up its share by their files: so the owner of a file pays for it.
 */
uid_t table_payer(uid_t user, uid_t file_owner);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_TABLE_SHARES_H */
