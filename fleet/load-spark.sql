-- Spark: the lines of `zerocap show --jsonl --fleet` as they lie there, plain or packed by gzip. Name the files first:
--   SET files=hosts/*.jsonl.gz;
CREATE OR REPLACE TEMPORARY VIEW lines AS SELECT value AS line FROM text.`${files}`;
