#!/bin/sh
# Starts and stops the server of one size. Usage: server.sh start|stop DIRECTORY
#
# The directory belongs to this program: it holds the data, the socket, the log, and a file that says how it was made. Both
# commands may be repeated, also after this program was killed: start removes what is left of an earlier one, stop is done if
# nothing is there.
set -eu
umask 077

MADE=made-by-pgdyno

fail() {
    echo "failed to $action the server in $directory: $1" >&2
    exit 1
}

# Runs a command as the server's user.
as_server() {
    if [ "$(id -u)" = 0 ]; then
        runuser -u "$user" -- "$@"
    else
        "$@"
    fi
}

# Refuses a directory that another user made or can change: what it says is done with this user's rights.
require_own() {
    # Its mode, links and owner.
    set -- "$1" $(ls -ldn "$1")
    case $4 in
    0 | "$(id -u)") ;;
    *) fail "$1 belongs to another user; remove it, or choose another root" ;;
    esac
    case $2 in
    # Of a directory like /tmp, nobody can take another's entries away.
    d????????[tT]*) ;;
    d????w* | d???????w*) fail "other users can write to $1; take that right away (chmod go-w), or choose another root" ;;
    esac
}

# Finds the directory of initdb: the one that was asked for, that of PATH, or the newest of the packages.
find_bin() {
    if [ -n "${PGDYNO_BIN:-}" ]; then
        [ -x "$PGDYNO_BIN/initdb" ] || fail "there is no initdb in $PGDYNO_BIN; correct postgres_bin"
        bin=$PGDYNO_BIN
        return
    fi
    bin=$(for candidate in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /opt/homebrew/opt/postgresql@*/bin; do
        [ -x "$candidate/initdb" ] && echo "$candidate"
    done | sort -V | tail -n 1)
    if [ -z "$bin" ] && command -v initdb >/dev/null; then
        bin=$(dirname "$(command -v initdb)")
    fi
    [ -n "$bin" ] || fail "PostgreSQL is not installed; install it, or set postgres_bin"
}

# Puts this process, and so the server, into a control group with that many CPUs; prints the group. Fails where it may not.
limit_by_group() {
    name=pgdyno-$PGDYNO_LAB-$(basename "$directory")
    if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
        group=/sys/fs/cgroup/$name
        grep -qw cpu /sys/fs/cgroup/cgroup.subtree_control || return 1
        limit="cpu.max $(awk "BEGIN { printf \"%d\", $PGDYNO_CPUS * 100000 }") 100000"
    else
        group=/sys/fs/cgroup/cpu/$name
        limit="cpu.cfs_quota_us $(awk "BEGIN { printf \"%d\", $PGDYNO_CPUS * 100000 }")"
    fi
    mkdir -p "$group" || return 1
    if echo "${limit#* }" >"$group/${limit%% *}" && echo $$ >"$group/cgroup.procs"; then
        echo "$group"
    else
        rmdir "$group"
        return 1
    fi
}

# Limits the server to its CPUs. Without a control group it is pinned to the machine's first ones.
limit_cpus() {
    group='' cpus=$(getconf _NPROCESSORS_ONLN)
    awk "BEGIN { exit !($PGDYNO_CPUS <= $cpus) }" || fail "it would have $PGDYNO_CPUS CPUs, and this machine has $cpus; set a smaller cpu"
    # In this shell: it is the one that enters the group.
    if limit_by_group >"$directory/group" 2>/dev/null; then
        group=$(cat "$directory/group")
    elif group='' && command -v taskset >/dev/null; then
        last=$(awk "BEGIN { n = int($PGDYNO_CPUS); print (n < $PGDYNO_CPUS ? n : n - 1) }")
        taskset -p -c "0-$last" $$ >/dev/null 2>&1 || true
    fi
    rm -f "$directory/group"
}

# Writes what stop must know.
describe() {
    printf 'bin=%s\nuser=%s\ngroup=%s\n' "$bin" "$user" "${group:-}" >"$directory/$MADE"
}

described() {
    sed -n "s/^$1=//p" "$directory/$MADE"
}

# Makes the data, with the role and the database. The password goes to the server by a pipe: it is in no file and no argument.
make_data() {
    as_server "$bin/initdb" -D "$directory/data" -U postgres -A trust --no-sync --locale C -E UTF8 >"$directory/initdb.log" 2>&1 ||
        fail "initdb: $(tail -n 3 "$directory/initdb.log")"
    quoted=$(printf %s "$password" | sed "s/'/''/g")
    {
        printf '%s\n' "CREATE ROLE pgdyno LOGIN SUPERUSER${password:+ PASSWORD '$quoted'}"
        printf '%s\n' "CREATE DATABASE pgdyno OWNER pgdyno"
    } | as_server "$bin/postgres" --single -D "$directory/data" postgres >"$directory/initdb.log" 2>&1 ||
        fail "its role and database could not be made"
    if grep -q ERROR "$directory/initdb.log"; then
        fail "its role and database could not be made: $(grep -m 1 ERROR "$directory/initdb.log" | sed 's/.*ERROR/ERROR/')"
    fi
    # The directory is the owner's: without a password, nobody else can reach the socket.
    if [ -n "$password" ]; then method=scram-sha-256; else method=trust; fi
    echo "local all all $method" >"$directory/data/pg_hba.conf"
    {
        echo "listen_addresses = ''"
        echo "unix_socket_directories = '$directory'"
        echo "port = 5432"
        echo "shared_buffers = '$((PGDYNO_MEMORY_MB / 4))MB'"
        echo "effective_cache_size = '$((PGDYNO_MEMORY_MB * 3 / 4))MB'"
        echo "max_connections = 500"
        echo "max_wal_size = '4GB'"
        printf %s "${PGDYNO_SETTINGS:-}"
    } >>"$directory/data/postgresql.conf"
}

start() {
    if [ -e "$directory" ] && [ ! -e "$directory/$MADE" ]; then
        [ -z "$(ls -A "$directory")" ] || fail "the directory holds what pgdyno did not make; choose another root"
    fi
    remove
    find_bin
    mkdir -p "$directory"
    # Whatever ends this program, what it made goes; only kill -9 leaves it, for the next start or for a sweep.
    trap 'remove; rm -f "$directory.lock"' EXIT
    trap 'exit 1' INT TERM HUP
    user=${PGDYNO_USER:-postgres}
    describe
    if [ "$(id -u)" = 0 ]; then
        id "$user" >/dev/null 2>&1 || fail "there is no user $user to run it, and PostgreSQL refuses root; set server_user"
        chown "$user" "$directory"
        as_server test -w "$directory" || fail "user $user cannot enter it; choose a root that every user can enter"
    fi
    limit_cpus
    describe
    make_data
    # It must not hold the lock, nor the pipes on which the caller waits.
    (cd / && as_server "$bin/pg_ctl" -D "$directory/data" -l "$directory/log" -w -t 60 start) </dev/null >/dev/null 2>&1 9>&- ||
        fail "$(tail -n 3 "$directory/log")"
    trap 'rm -f "$directory.lock"' EXIT
}

# Stops the server if it runs, and removes the directory and the group.
remove() {
    [ -e "$directory/$MADE" ] || return 0
    bin=$(described bin) user=$(described user) group=$(described group)
    # The server's user can write there, too, once the directory is its own.
    if [ "$(id -u)" = 0 ]; then
        named=$(id -u "$user" 2>/dev/null || true)
        case $(ls -ldn "$directory" | awk '{ print $3 }') in
        0 | "${named:-none}") ;;
        *) named=0 ;;
        esac
        [ "${named:-0}" != 0 ] || fail "$directory/$MADE names another user than the server's, which pgdyno never wrote; remove the directory"
    fi
    cd /
    if [ -e "$directory/data/postmaster.pid" ]; then
        for mode in fast immediate; do
            as_server "$bin/pg_ctl" -D "$directory/data" -m "$mode" -w -t 60 stop >/dev/null 2>&1 9>&- && break
            # 3: no server runs; its machine or itself was killed.
            status=0
            as_server "$bin/pg_ctl" -D "$directory/data" status >/dev/null 2>&1 9>&- || status=$?
            [ "$status" = 3 ] && break
            [ "$mode" = fast ] || fail "it does not stop; see $directory/log"
        done
    fi
    rm -rf "${directory:?}" || fail "its directory could not be removed"
    if [ -n "$group" ] && [ -d "$group" ]; then
        # This process may be in it.
        case $group in
        /sys/fs/cgroup/cpu/*) echo $$ >/sys/fs/cgroup/cpu/cgroup.procs ;;
        *) echo $$ >/sys/fs/cgroup/cgroup.procs ;;
        esac 2>/dev/null || true
        rmdir "$group" 2>/dev/null || true
    fi
}

# Waits for a program of a killed engine that may still be at work.
lock() {
    command -v flock >/dev/null || return 0
    while :; do
        exec 9>"$directory.lock"
        flock -w 120 9 || fail "another program works on it"
        # The one before may have removed the file that was waited for.
        [ "$(stat -L -c %i /proc/$$/fd/9)" = "$(stat -c %i "$directory.lock" 2>/dev/null)" ] && return 0
    done
}

action=$1 directory=$2
# Processes that are started below must not inherit it.
password=${PGDYNO_PASSWORD:-}
unset PGDYNO_PASSWORD
case $directory in
/*/*) ;;
*) fail "the directory must be absolute, and not one of the first level" ;;
esac
root=$(dirname "$directory")
(umask 022 && mkdir -p "$root")
require_own "$(dirname "$root")"
require_own "$root"
lock
trap 'rm -f "$directory.lock"' EXIT
case $action in
start) start ;;
stop) remove ;;
*) fail "unknown command" ;;
esac
