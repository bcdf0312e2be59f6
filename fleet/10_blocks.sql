-- SPDX-License-Identifier: Apache-2.0
-- The excess cost of each rank and each communicator in each block of steps: the median, which one slow step does not
-- change. Steps that any rank has more than once are left out. In the rows of ranks communicator is ''; in those of
-- communicators rank is -1.
SELECT 'rank' AS kind, rank, '' AS communicator, block, count(*) AS steps, median(more_ns) AS ns
FROM costs WHERE step NOT IN (SELECT step FROM doubled)
GROUP BY rank, block
UNION ALL
SELECT 'link' AS kind, -1 AS rank, l.communicator, n.block, count(*) AS steps, median(l.more_ns) AS ns
FROM links l JOIN numbered n ON n.step = l.step
GROUP BY l.communicator, n.block
