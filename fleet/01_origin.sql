-- SPDX-License-Identifier: Apache-2.0
-- From where time is counted: the first instant of the lake's lowest rank, by its own clock. How long blocks of steps are,
-- over which a rank must lose to be named: 20 steps, a quarter of all where there are fewer than 80, but no less than 3.
SELECT min(s.start_ns) AS t0, min(s.rank) AS lowest, max(n.steps) AS steps, max(n.ranks) AS ranks,
       CAST(greatest(3, least(20, floor(max(n.steps) / 4))) AS INT) AS block_steps
FROM steps s
JOIN (SELECT min(rank) AS lowest, count(DISTINCT step) AS steps, count(DISTINCT rank) AS ranks FROM steps) n ON n.lowest = s.rank
