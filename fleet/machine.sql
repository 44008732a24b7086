-- One machine: the documents of `zerocap show --all --json`, or of a recorded one (--root DIR), by DuckDB. A question a statement.
-- Name the file first: SET VARIABLE file = 'disks.json';
CREATE OR REPLACE TEMPORARY VIEW disks AS SELECT * FROM read_json(getvariable('file'), maximum_object_size = 67108864, columns = {
    'device': 'STRUCT(name VARCHAR, kind VARCHAR, vendor VARCHAR, model VARCHAR, firmware VARCHAR, transport VARCHAR, identity VARCHAR,
        size_bytes UBIGINT, members STRUCT(name VARCHAR)[])',
    'class': 'VARCHAR', 'basis': 'VARCHAR', 'expected': 'VARCHAR', 'reason': 'VARCHAR', 'zeroes_verified': 'BOOLEAN',
    'zero_bytes_per_second': 'UBIGINT', 'write_bytes_per_second': 'UBIGINT',
    'speedup': 'STRUCT(median DOUBLE, low DOUBLE, high DOUBLE)',
    'findings': 'STRUCT(code VARCHAR, severity VARCHAR, "text" VARCHAR)[]',
    'tunables': 'STRUCT(name VARCHAR, path VARCHAR, wanted VARCHAR, why VARCHAR, "now" VARCHAR)[]',
    'measured': 'STRUCT("at" VARCHAR, kernel VARCHAR, bytes_written UBIGINT, seconds DOUBLE)'
});

-- classes: how many devices of each class, on what it rests, how much they hold
SELECT class, basis, count(*) AS devices, sum(device.size_bytes) AS bytes
FROM disks GROUP BY ALL ORDER BY class, basis;

-- disappointing: what the claims promise and the test did not find
SELECT device.name AS name, device.firmware AS firmware, class, round(speedup.median, 2) AS ratio, reason
FROM disks WHERE expected = 'fast' AND class IN ('slow', 'broken') ORDER BY ALL;

-- findings: which remarks there are, how severe, on how many devices
SELECT f.code AS code, f.severity AS severity, count(*) AS devices
FROM (SELECT unnest(findings) AS f FROM disks) GROUP BY ALL ORDER BY devices DESC, code;

-- tunables: what is to be set, and the commands that set it
SELECT device.name AS name, t.name AS tunable, t.now AS is_now, t.wanted AS wanted, 'zerocap tune apply /dev/' || device.name AS command
FROM (SELECT device, unnest(tunables) AS t FROM disks) WHERE t.now IS DISTINCT FROM t.wanted ORDER BY name;

-- slowest: the fast devices that gain least, and what zeroing the whole of each takes in seconds
SELECT device.name AS name, round(speedup.low, 2) AS at_least, device.size_bytes // zero_bytes_per_second AS zeroing_seconds,
    device.size_bytes // write_bytes_per_second AS writing_seconds
FROM disks WHERE class = 'fast' AND basis = 'measured' ORDER BY speedup.low, name LIMIT 10;

-- untested: what a test would settle, the largest first
SELECT device.name AS name, device.size_bytes AS bytes FROM disks
WHERE class = 'unknown' AND device.kind <> 'loop' ORDER BY bytes DESC, name;
