-- The typed view: one row a good line of `zerocap show --jsonl --fleet`. What a damaged line is, is the same as in
-- `zerocap fleet summarize`. Needs a table or view `lines` with one column `line` (see load-duckdb.sql, load-spark.sql).
--
-- A number that is written as a text, and a text where an object should be, make a line damaged.
CREATE OR REPLACE TEMPORARY VIEW fields AS
SELECT
    get_json_object(line, '$.format') AS format,
    get_json_object(line, '$.type') AS type,
    get_json_object(line, '$.machine') AS machine,
    get_json_object(line, '$.collected') AS collected,
    get_json_object(line, '$.hwdb.model') AS hwdb_model,
    get_json_object(line, '$.hwdb.revision') AS hwdb_revision,
    get_json_object(line, '$.backend') AS backend,
    get_json_object(line, '$.device.name') AS name,
    get_json_object(line, '$.device.kind') AS kind,
    get_json_object(line, '$.device.identity') AS identity,
    get_json_object(line, '$.device.vendor') AS vendor,
    get_json_object(line, '$.device.model') AS model,
    get_json_object(line, '$.device.firmware') AS firmware,
    get_json_object(line, '$.device.command_path') AS command_path,
    get_json_object(line, '$.device.transport') AS transport,
    get_json_object(line, '$.class') AS class,
    get_json_object(line, '$.basis') AS basis,
    get_json_object(line, '$.zero_bytes_per_second') AS zero_text,
    get_json_object(line, '$.write_bytes_per_second') AS write_text,
    get_json_object(line, '$.speedup.median') AS ratio_text,
    get_json_object(line, '$.findings') AS findings,
    get_json_object(line, '$.measured.at') AS measured_text,
    get_json_object(line, '$.measured.kernel') AS release
FROM lines
WHERE line LIKE '{%}'
    AND line NOT LIKE '%_bytes_per_second":"%';

CREATE OR REPLACE TEMPORARY VIEW typed AS
SELECT
    machine,
    collected,
    hwdb_model,
    CASE WHEN hwdb_model IS NOT NULL THEN coalesce(hwdb_revision, '') END AS hwdb_revision,
    backend,
    name,
    kind,
    identity,
    vendor,
    model,
    firmware,
    command_path,
    transport,
    CASE WHEN class IN ('fast', 'slow', 'none', 'unknown', 'broken') THEN class ELSE 'unknown' END AS class,
    coalesce(basis = 'measured', FALSE) AS is_measured,
    TRY_CAST(zero_text AS BIGINT) AS zero_bytes_per_second,
    TRY_CAST(write_text AS BIGINT) AS write_bytes_per_second,
    CASE WHEN TRY_CAST(ratio_text AS DOUBLE) >= 0 THEN CAST(floor(TRY_CAST(ratio_text AS DOUBLE) * 1000) AS BIGINT) END AS ratio_thousandths,
    coalesce(findings LIKE '%"code":"other-io"%' OR findings LIKE '%"code":"not-stationary"%' OR findings LIKE '%"code":"stall-dominated"%', FALSE) AS is_disturbed,
    coalesce(findings LIKE '%"code":"measurement-stale"%', FALSE) AS is_stale,
    coalesce(findings LIKE '%"code":"knob-off"%', FALSE) AS is_knob_off,
    CASE WHEN measured_text LIKE '____-__-__T__:__:__Z' THEN measured_text END AS measured_at,
    CASE WHEN regexp_extract(release, '^[0-9]+[.][0-9]+', 0) <> '' THEN regexp_extract(release, '^[0-9]+[.][0-9]+', 0) END AS kernel,
    TRY_CAST(substr(collected, 1, 10) AS DATE) AS collected_on
FROM fields
WHERE format = '1'
    AND type = 'verdict'
    AND collected LIKE '____-__-__T__:__:__Z'
    AND TRY_CAST(substr(collected, 1, 10) AS DATE) IS NOT NULL
    AND name IS NOT NULL
    AND kind IS NOT NULL
    AND class IS NOT NULL;
