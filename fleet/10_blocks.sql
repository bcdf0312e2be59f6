-- SPDX-License-Identifier: Apache-2.0
-- What each rank, and each communicator, cost beyond the usual in each block of steps: the median, which one slow step does
-- not move, nor any that is there more than once. A rank has no communicator here ('') and a communicator no rank (-1).
SELECT 'rank' AS kind, rank, '' AS communicator, block, count(*) AS steps, median(more_ns) AS ns
FROM costs WHERE step NOT IN (SELECT step FROM doubled)
GROUP BY rank, block
UNION ALL
SELECT 'link' AS kind, -1 AS rank, l.communicator, n.block, count(*) AS steps, median(l.more_ns) AS ns
FROM links l JOIN numbered n ON n.step = l.step
GROUP BY l.communicator, n.block
