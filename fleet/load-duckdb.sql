-- DuckDB: the lines of `zerocap show --jsonl --fleet` as they lie there, plain or packed by gzip or zstd. Name the files first:
--   SET VARIABLE files = 'hosts/*.jsonl.zst';
-- A line that is no UTF-8, or longer than a megabyte, is left out here, as zerocap leaves it out.
CREATE OR REPLACE TEMPORARY VIEW lines AS
SELECT line FROM read_csv(
    getvariable('files'), columns = {'line': 'VARCHAR'}, header = FALSE, auto_detect = FALSE,
    delim = chr(1), quote = '', escape = '', new_line = '\n', max_line_size = 1048576, ignore_errors = TRUE
);

-- Spark has it; what is no JSON has no fields in either.
CREATE OR REPLACE MACRO get_json_object(line, path) AS
    CASE WHEN json_valid(line) THEN json_extract_string(line, path) END;
