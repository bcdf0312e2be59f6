/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_numbers.h - numbers the distinct rules of all unwind tables; a rule has its number as long as a table uses it.
 *
 * The payer of the first table with a rule pays for the rule, until no table uses it any more.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_RULE_NUMBERS_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_RULE_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/unwind.h"

struct rule_numbers;

/* rule_numbers_new - @rules: UNWIND_RULES elements that the programs read; must outlive it. NULL without memory. */
struct rule_numbers *rule_numbers_new(struct unwind_rule *rules);
void rule_numbers_free(struct rule_numbers *numbers);

/* rule_numbers_find - the number of @rule; 0: no table uses it */
uint16_t rule_numbers_find(const struct rule_numbers *numbers, const struct unwind_rule *rule);

/* rule_numbers_add - numbers a rule that no table uses; 0: none is left. The caller then calls rule_numbers_have(). */
uint16_t rule_numbers_add(struct rule_numbers *numbers, const struct unwind_rule *rule, uid_t payer);

/* rule_numbers_full - are all numbers used? */
bool rule_numbers_full(const struct rule_numbers *numbers);

/* rule_numbers_have - one more table uses the rule */
void rule_numbers_have(struct rule_numbers *numbers, uint16_t number);

/* rule_numbers_drop - one table less uses the rule. Returns true if it was the last one: then *@payer no longer pays for it. */
bool rule_numbers_drop(struct rule_numbers *numbers, uint16_t number, uid_t *payer);

/* rule_numbers_move - makes @to pay for the rule if @from did; returns whether it did */
bool rule_numbers_move(struct rule_numbers *numbers, uint16_t number, uid_t from, uid_t to);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_RULE_NUMBERS_H */
