"""An installed HammerDB, given the commands that a user would type. It takes whole minutes."""

import os
import re

from . import Count, Peer


class HammerDB(Peer):
    name = "HammerDB"
    scripts = ("tproc-c",)
    # It ends with status 0 whatever happened.
    prepared = "SCHEMA COMPLETE"
    # Its monitor counts in a window that its users begin before and end after.
    counted_by_server = True

    def __init__(self, directory):
        self.cwd = os.path.abspath(directory)
        self.program = os.path.join(self.cwd, "hammerdbcli")
        if not os.path.exists(self.program):
            raise SystemExit(f"--hammerdb {directory}: no hammerdbcli there; name the directory in which HammerDB is installed")

    def version(self):
        with open(self.program, encoding="utf-8") as f:
            found = re.search(r'hdb_version "?(v[0-9.]+)', f.read())
        return found.group(1) if found else "of an unknown version"

    def refuses(self, work):
        if work.endpoint.password:
            return "it keeps its settings, a password among them, in a file"
        return super().refuses(work)

    def env(self, work):
        return {**super().env(work), "TMP": work.scratch}

    def prepare(self, work):
        yield self._typed(work, [f"diset tpcc pg_count_ware {work.scale}", f"diset tpcc pg_num_vu {min(2, work.scale)}", "buildschema"])

    def command(self, work):
        made = ["diset tpcc pg_driver timed", "diset tpcc pg_rampup 0", f"diset tpcc pg_duration {self.minutes(work)}", "loadscript",
                f"vuset vu {work.clients}", "vucreate"]
        # What its start and its users alone cost, or a run.
        return self._typed(work, [*made, *([] if work.transactions else ["vurun"]), "vudestroy"])

    def minutes(self, work):
        return max(1, round(work.seconds / 60))

    def count(self, work, usage):
        if work.transactions:
            return Count(0, 0.0)
        # It ends with status 0 whatever happened.
        result = re.search(r"System achieved (\d+) NOPM from (\d+)", usage.text)
        if not result or "FINISHED FAILED" in usage.text:
            raise ValueError(f"no result: {usage.text[-300:]}")
        nopm, tpm = (int(n) for n in result.groups())
        return Count(tpm * self.minutes(work), tpm / 60, len(re.findall(r"Error set RAISEERROR", usage.text)), nopm)

    def _typed(self, work, commands):
        # The role that it makes for its tables is named as the database, and so is its password.
        database, place = work.endpoint["dbname"], work.endpoint
        path = os.path.join(work.scratch, "hammerdb.tcl")
        with open(path, "w") as f:
            f.write("\n".join([
                "dbset db pg", "dbset bm TPC-C", f"diset connection pg_host {place['host']}", f"diset connection pg_port {place['port']}",
                "diset connection pg_sslmode disable", f"diset tpcc pg_superuser {place['user']}", f"diset tpcc pg_dbase {database}",
                f"diset tpcc pg_user {database}", f"diset tpcc pg_pass {database}", "diset tpcc pg_storedprocs true", *commands, ""]))
        return ["./hammerdbcli", "tcl", "auto", path]
