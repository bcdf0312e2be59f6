-- SPDX-License-Identifier: Apache-2.0
-- Of each rank its host, from which step to which it has rows, how many, how many steps others have meanwhile, and what it
-- costs beyond the usual in the middle of them.
SELECT p.rank, p.host, p.first_step, p.last_step, p.steps, count(*) AS steps_meanwhile, p.more_ns
FROM (SELECT rank, max(host) AS host, min(step) AS first_step, max(step) AS last_step, count(*) AS steps, median(more_ns) AS more_ns
      FROM costs GROUP BY rank) p
JOIN numbered n ON n.step BETWEEN p.first_step AND p.last_step
GROUP BY p.rank, p.host, p.first_step, p.last_step, p.steps, p.more_ns
