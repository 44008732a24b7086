"""Runs the SQL of fleet/ unchanged, by one engine, and prints the rows of each question as JSON, a line a question.

    engine.py duckdb LINES DIR          engine.py spark LINES DIR [kill]

LINES is a file of lines of `zerocap show --jsonl --fleet`; DIR is empty and takes the Parquet files, a directory a day. `kill`: one
of Spark's two workers is killed while the first question runs. A module that is missing ends it with code 77.
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time

SQL = pathlib.Path(__file__).resolve().parents[2] / "fleet"
QUESTIONS = ["models", "disagreements", "history", "gain"]


def statements(name):
    """The statements of a file. None of them has a semicolon within."""
    text = re.sub(r"--.*", "", (SQL / f"{name}.sql").read_text())
    return [s.strip() for s in text.split(";") if s.strip()]


def plain(value):
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return int(value) if value == int(value) else float(value)


def tell(question, columns, rows):
    print(json.dumps({"question": question, "columns": columns, "rows": [[plain(v) for v in r] for r in rows]}), flush=True)


def duckdb(lines, place):
    try:
        import duckdb as engine
    except ImportError:
        sys.exit(77)
    db = engine.connect()
    db.execute(f"SET VARIABLE files = '{lines}'")
    for statement in statements("load-duckdb") + statements("view"):
        db.execute(statement)
    # As the page has it: a directory a day.
    db.execute(f"COPY (SELECT *, collected_on AS day FROM typed) TO '{place}' (FORMAT parquet, PARTITION_BY (day))")
    db.execute(f"CREATE TEMPORARY VIEW documents AS SELECT * EXCLUDE (day) FROM read_parquet('{place}/*/*.parquet')")
    for statement in statements("newest"):
        db.execute(statement)
    for question in QUESTIONS:
        [statement] = statements(question)
        found = db.execute(statement)
        tell(question, [c[0] for c in found.description], found.fetchall())


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def cluster(home, logs):
    """A master and two workers of Spark on loopback; the processes of the workers."""
    port, started = free_port(), []
    environment = dict(os.environ, SPARK_HOME=home, SPARK_LOCAL_IP="127.0.0.1", SPARK_WORKER_DIR=str(logs / "work"))

    def start(name, *arguments):
        log = open(logs / f"{name}.log", "w")
        command = [f"{home}/bin/spark-class", *arguments]
        # A group of its own: a worker is killed with its executors, as a machine is.
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        started.append(process)
        return process

    try:
        start("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port),
              "--webui-port", str(free_port()))
        workers = [
            start(f"worker{n}", "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g",
                  "--webui-port", str(free_port()), f"spark://127.0.0.1:{port}")
            for n in range(2)
        ]
        yield f"spark://127.0.0.1:{port}", workers
    finally:
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def spark(lines, place, kill):
    try:
        import pyspark
        from pyspark.sql import SparkSession
    except ImportError:
        sys.exit(77)
    logs = pathlib.Path(place).parent / f"{pathlib.Path(place).name}.logs"
    logs.mkdir()
    home = os.path.dirname(pyspark.__file__)
    with cluster(home, logs) as (master, workers):
        session = (
            SparkSession.builder.master(master)
            .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.executor.memory", "700m").config("spark.executor.cores", "1").config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "4")
            # A directory a day: their files are listed here, not by a task each.
            .config("spark.sql.sources.parallelPartitionDiscovery.threshold", "10000").config("spark.sql.warehouse.dir", f"{logs}/warehouse")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("ERROR")
        executors = lambda: session.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
        # The driver is one of them.
        deadline = time.monotonic() + 120
        while len(executors()) < 3 and time.monotonic() < deadline:
            time.sleep(0.2)
        assert len(executors()) == 3, "two workers did not come up"
        session.sql(f"SET files={lines}").collect()
        for statement in statements("load-spark") + statements("view"):
            session.sql(statement)
        session.sql(f"CREATE TABLE stored USING parquet PARTITIONED BY (day) LOCATION '{place}' AS SELECT *, collected_on AS day FROM typed")
        session.table("stored").drop("day").createOrReplaceTempView("documents")
        for statement in statements("newest"):
            session.sql(statement)
        for question in QUESTIONS:
            [statement] = statements(question)
            if kill and question == "models":
                def strike():
                    busy = lambda: session.sparkContext.statusTracker().getActiveStageIds()
                    while not busy():
                        time.sleep(0.01)
                    os.killpg(workers[0].pid, signal.SIGKILL)
                    # Its executor is a process of the worker's group or of its own.
                    print(json.dumps({"killed": workers[0].pid}), flush=True)
                killer = threading.Thread(target=strike)
                killer.start()
            found = session.sql(statement)
            tell(question, found.columns, [tuple(r) for r in found.collect()])
            if kill and question == "models":
                killer.join()
        if kill:
            assert workers[0].wait() != 0
        session.stop()


def main():
    engine, lines, place, *more = sys.argv[1:]
    if engine == "duckdb":
        duckdb(lines, place)
    else:
        spark(lines, place, more == ["kill"])


main()
