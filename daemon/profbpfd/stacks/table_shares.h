/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_shares.h - who pays for the unwind tables, and how much of the room for them each may have.
 *
 * There is one room for all sessions, and tables are in it as long as a process has their files mapped, and longer
 * (unwind_files.h). So whoever comes first may not take all of it: a quarter is root's alone, and of what root and the
 * others have left an owner may have half. The first of them gets 3/8 of all, the next one half of what is left then, and
 * there is always something left. Root may have all that is there.
 *
 * Who maps ever new files has ever new tables made, by one thread for all. So an owner other than root has
 * TABLE_TIME_NS for that, and of the time that passes a share again.
 *
 * Used by one thread at a time.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_TABLE_SHARES_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_TABLE_SHARES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TABLE_TIME_NS 10000000000ull /* libtorch's takes 0.3 s */
#define TABLE_TIME_SHARE 20 /* one of so many nanoseconds that pass */

/* What tables take. */
struct table_room {
	uint64_t words; /* of 32 bits, for rows and lists of pages */
	uint64_t rules; /* different ones */
	uint64_t files;
};

struct table_shares;

/* table_shares_new - @all is what there is for everybody; NULL without memory */
struct table_shares *table_shares_new(const struct table_room *all);
void table_shares_free(struct table_shares *shares);

/* table_shares_left - what @owner may still have of each; 0 is root */
struct table_room table_shares_left(const struct table_shares *shares, uid_t owner);

/*
 * table_shares_take - @owner has @room more
 *
 * Returns 0, or -ENOMEM, and it has not. That is for who never took any; nothing but the account's beginning can fail.
 */
int table_shares_take(struct table_shares *shares, uid_t owner, const struct table_room *room);

/* table_shares_give - @owner has @room less: no more than it had */
void table_shares_give(struct table_shares *shares, uid_t owner, const struct table_room *room);

/* table_shares_in_time - may a table of @owner's be made at @now_ns? */
bool table_shares_in_time(const struct table_shares *shares, uid_t owner, uint64_t now_ns);

/* table_shares_spend - it took @ns of CPU time, until @now_ns. Who never took any room spends nothing. */
void table_shares_spend(struct table_shares *shares, uid_t owner, uint64_t ns, uint64_t now_ns);

/*
 * table_payer - who pays for the table of a file
 *
 * @user is whose session wants it, (uid_t)-1 one that may see everything. Such a one looks at everybody's processes,
 * who could fill its room by their files: those are paid for by whom they belong to.
 */
uid_t table_payer(uid_t user, uid_t file_owner);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_TABLE_SHARES_H */
