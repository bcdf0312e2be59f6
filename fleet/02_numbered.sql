-- SPDX-License-Identifier: Apache-2.0
-- The steps of the lake in order, counted from 0, and the block of each.
SELECT d.step, d.i, CAST(floor(d.i / o.block_steps) AS INT) AS block
FROM (SELECT step, row_number() OVER (ORDER BY step) - 1 AS i FROM (SELECT DISTINCT step FROM steps) s) d
CROSS JOIN origin o
