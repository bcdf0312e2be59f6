-- SPDX-License-Identifier: Apache-2.0
-- For each rank: its host, the first and last step with rows, the number of its steps, the number of the lake's steps
-- in that range, and its median excess cost.
SELECT p.rank, p.host, p.first_step, p.last_step, p.steps, count(*) AS steps_meanwhile, p.more_ns
FROM (SELECT rank, max(host) AS host, min(step) AS first_step, max(step) AS last_step, count(*) AS steps, median(more_ns) AS more_ns
      FROM costs GROUP BY rank) p
JOIN numbered n ON n.step BETWEEN p.first_step AND p.last_step
GROUP BY p.rank, p.host, p.first_step, p.last_step, p.steps, p.more_ns
