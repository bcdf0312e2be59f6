-- SPDX-License-Identifier: Apache-2.0
-- The origin of time: the first instant of the lowest rank of the lake, by the clock of that rank. Also the length of a
-- block of steps, the unit in which a rank must lose time to be named: 20 steps, or a quarter of all steps if there are
-- fewer than 80, but at least 3.
SELECT min(s.start_ns) AS t0, min(s.rank) AS lowest, max(n.steps) AS steps, max(n.ranks) AS ranks,
       CAST(greatest(3, least(20, floor(max(n.steps) / 4))) AS INT) AS block_steps
FROM steps s
JOIN (SELECT min(rank) AS lowest, count(DISTINCT step) AS steps, count(DISTINCT rank) AS ranks FROM steps) n ON n.lowest = s.rank
