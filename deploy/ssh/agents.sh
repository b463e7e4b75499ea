#!/bin/sh
# Starts an agent for one run on each of these machines, from this machine's binary. The agents may drive one target:
#   ./agents.sh "host=meet.example dbname=bench user=bench" "host=db.example dbname=tpcc user=bench" driver1 driver2 driver3
#   pgdyno run … --target "host=db.example dbname=tpcc user=bench" --meet "host=meet.example dbname=bench user=bench" --agents 3
# The binary is copied to a directory of its own, and removed with it when the agent has ended. Each machine finds its own
# passwords (~/.pgpass). The machines must have the same architecture and C library as this one.
set -eu
meet=$1
target=$2
shift 2
binary=$(command -v "${PGDYNO:-pgdyno}")
quote() { printf %s "$1" | sed "s/'/'\\\\''/g"; }
for machine in "$@"; do
    # shellcheck disable=SC2029 # the connection strings are to be expanded here
    {
        directory=$(ssh ${SSH_OPTIONS:-} "$machine" mktemp -d)
        ssh ${SSH_OPTIONS:-} "$machine" "cat >'$directory/pgdyno' && chmod 755 '$directory/pgdyno'" <"$binary"
        ssh ${SSH_OPTIONS:-} "$machine" "trap 'rm -rf \"$directory\"' EXIT; '$directory/pgdyno' agent --meet '$(quote "$meet")' --allow-target '$(quote "$target")' --once" ||
            echo "the agent on $machine ended with an error" >&2
    } &
done
wait
