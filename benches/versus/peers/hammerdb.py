"""An installed HammerDB, given the commands that a user would type. It takes whole minutes."""

import os
import re

from . import Count, Peer


class HammerDB(Peer):
    name = "HammerDB"
    scripts = ("tproc-c",)
    # It ends with status 0 whatever happened.
    prepared = "SCHEMA COMPLETE"

    def __init__(self, directory):
        self.cwd = os.path.abspath(directory)
        self.program = os.path.join(self.cwd, "hammerdbcli")
        if not os.path.exists(self.program):
            raise SystemExit(f"--hammerdb {directory}: no hammerdbcli there; name the directory in which HammerDB is installed")

    def version(self):
        with open(self.program, encoding="utf-8") as f:
            found = re.search(r'hdb_version "?(v[0-9.]+)', f.read())
        return found.group(1) if found else "of an unknown version"

    def env(self, work):
        return {**super().env(work), "TMP": work.scratch}

    def prepare(self, work):
        yield self._typed(work, [f"diset tpcc pg_count_ware {work.scale}", f"diset tpcc pg_num_vu {min(2, work.scale)}",
                                 "diset tpcc pg_storedprocs true", "buildschema"])

    def command(self, work):
        if work.transactions:
            return self._typed(work, [])  # what its start alone costs
        return self._typed(work, ["diset tpcc pg_driver timed", "diset tpcc pg_rampup 0",
                                  f"diset tpcc pg_duration {max(1, round(work.seconds / 60))}", "loadscript", f"vuset vu {work.clients}",
                                  "vucreate", "vurun", "vudestroy"])

    def count(self, work, usage):
        if work.transactions:
            return Count(0, 0.0)
        # It ends with status 0 whatever happened.
        result = re.search(r"System achieved (\d+) NOPM from (\d+)", usage.text)
        if not result or "FINISHED FAILED" in usage.text:
            raise ValueError(f"no result: {usage.text[-300:]}")
        nopm, tpm = (int(n) for n in result.groups())
        minutes = max(1, round(work.seconds / 60))
        return Count(tpm * minutes, tpm / 60, len(re.findall(r"Error set RAISEERROR", usage.text)), nopm)

    def _typed(self, work, commands):
        database, place = work.endpoint["dbname"], work.endpoint
        # It signs in by no other means than words of its script, which the environment gives: they are in no file.
        password = "$::env(PGPASSWORD)" if place.password else database
        path = os.path.join(work.scratch, "hammerdb.tcl")
        with open(path, "w") as f:
            f.write("\n".join([
                "dbset db pg", "dbset bm TPC-C", f"diset connection pg_host {place['host']}", f"diset connection pg_port {place['port']}",
                "diset connection pg_sslmode disable", f"diset tpcc pg_superuser {place['user']}", f"diset tpcc pg_superuserpass {password}",
                f"diset tpcc pg_dbase {database}", f"diset tpcc pg_user {database}", f"diset tpcc pg_pass {password}", *commands, ""]))
        return ["./hammerdbcli", "tcl", "auto", path]
