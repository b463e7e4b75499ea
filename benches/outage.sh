#!/bin/bash
# A primary and a synchronous standby on one machine; the primary is killed 30 s into the window, and the standby promoted 20 s later.
# As root: PGDYNO=PATH BIN=/usr/lib/postgresql/15/bin outage.sh
set -eu
place=$(mktemp -d /dev/shm/outage-XXX) && chown postgres "$place" && chmod 755 "$place"
as() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
as "$BIN/initdb" -D "$place/1" -A trust -N >/dev/null
printf "listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\nport = 7001\n" >>"$place/1/postgresql.conf"
as setsid "$BIN/postgres" -D "$place/1" >"$place/1.log" 2>&1 &
sleep 2
as "$BIN/pg_basebackup" -h 127.0.0.1 -p 7001 -U postgres -D "$place/2" -R -X stream
sed -i 's/^port = 7001/port = 7002/' "$place/2/postgresql.conf"
as setsid "$BIN/postgres" -D "$place/2" >"$place/2.log" 2>&1 &
sleep 2
psql -qh 127.0.0.1 -p 7001 -U postgres -c "alter system set synchronous_standby_names = '*'" -c 'select pg_reload_conf()' >/dev/null
cat >"$place/failover.sh" <<F
#!/bin/sh
kill -QUIT $(head -1 "$place/1/postmaster.pid")
sleep 20
setpriv --reuid postgres --regid postgres --clear-groups $BIN/pg_ctl promote -D $place/2
F
chmod 755 "$place/failover.sh"
cd "$place"
"$PGDYNO" run ledger --target "host=127.0.0.1,127.0.0.1 port=7001,7002 user=postgres dbname=postgres target_session_attrs=read-write" \
    -R 500 -c 16 -T 2min --fault ./failover.sh --fault-at 30s || true
kill -QUIT "$(head -1 "$place/2/postmaster.pid")"
rm -rf "$place"
