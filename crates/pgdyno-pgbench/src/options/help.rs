//! The texts of `--help` and `--version`.

/// The version of pgbench that the drop-in behaves like.
pub(crate) const AS_POSTGRESQL: &str = "18.6";

/// Returns the text of `--version`, in the format of other builds: `pgbench (PostgreSQL) 18.6 (Debian 18.6-1)`.
#[must_use]
pub fn version() -> String {
    format!("pgbench (PostgreSQL) {AS_POSTGRESQL} (pgdyno {})\n", env!("CARGO_PKG_VERSION"))
}

/// Returns the text of `--help` for a program of this name.
#[must_use]
pub fn help(program: &str) -> String {
    format!(
        "{program} is a benchmarking tool for PostgreSQL.

Usage:
  {program} [OPTION]... [DBNAME]
{OPTIONS}"
    )
}

const OPTIONS: &str = r#"
Initialization options:
  -i, --initialize         create and load the tables of the built-in scripts
  -I, --init-steps=[dtgGvpf]+ (default "dtgvp")
                           take these steps, in this order
                           d: drop tables of an earlier initialization
                           t: create the tables
                           g: load rows that the client sends
                           G: load rows that the server generates
                           v: vacuum them
                           p: create primary keys
                           f: create foreign keys
  -F, --fillfactor=NUM     fill factor of the tables (10 to 100)
  -n, --no-vacuum          leave the vacuum out
  -q, --quiet              print progress every 5 seconds only
  -s, --scale=NUM          scaling factor: 100,000 accounts for each unit
  --foreign-keys           also create foreign keys
  --index-tablespace=TABLESPACE
                           create indexes in this tablespace
  --partition-method=(range|hash)
                           partition accounts by this method (default: range)
  --partitions=NUM         partition accounts into NUM parts (default: 0)
  --tablespace=TABLESPACE  create tables in this tablespace
  --unlogged-tables        create unlogged tables

Options to select what to run:
  -b, --builtin=NAME[@W]   add a built-in script with weight W (default: 1)
                           ("-b list" lists them)
  -f, --file=FILENAME[@W]  add a script from a file with weight W (default: 1)
  -N, --skip-some-updates  as -b simple-update: leave tellers and branches alone
  -S, --select-only        as -b select-only

Benchmarking options:
  -c, --client=NUM         number of clients and connections (default: 1)
  -C, --connect            open a new connection for each transaction
  -D, --define=VARNAME=VALUE
                           set a variable of the scripts
  -j, --jobs=NUM           number of threads (default: 1)
  -l, --log                write the time of each transaction to a file
  -L, --latency-limit=NUM  count transactions that take more than NUM ms as late
  -M, --protocol=simple|extended|prepared
                           how statements are sent (default: simple)
  -n, --no-vacuum          do not vacuum before the benchmark
  -P, --progress=NUM       print progress every NUM seconds
  -r, --report-per-command report latencies, failures, retries per command
  -R, --rate=NUM           start NUM transactions per second, on average
  -s, --scale=NUM          scaling factor to report, for scripts from files
  -t, --transactions=NUM   transactions of each client (default: 10)
  -T, --time=NUM           seconds that the benchmark lasts
  -v, --vacuum-all         also vacuum accounts before the benchmark
  --aggregate-interval=NUM log sums of NUM seconds instead of transactions
  --continue-on-error      count a failed statement and continue (pgbench 19)
  --exit-on-abort          end at once when a client is aborted
  --failures-detailed      report failures by their kind
  --log-prefix=PREFIX      beginning of the names of log files
                           (default: "pgbench_log")
  --max-tries=NUM          tries of a transaction that fails to serialize or
                           deadlocks (default: 1)
  --progress-timestamp     progress with the time of day as a Unix epoch
  --random-seed=SEED       seed of random numbers: "time", "rand", integer
  --sampling-rate=NUM      share of the transactions to log (0.01 for 1%)
  --show-script=NAME       print a built-in script, then exit
  --verbose-errors         print the message of every error

Common options:
  --debug                  print debugging output
  -d, --dbname=DBNAME      database, connection string or URI to connect to
  -h, --host=HOSTNAME      server, or directory of its socket
  -p, --port=PORT          port of the server
  -U, --username=USERNAME  role to connect as
  -V, --version            print the version, then exit
  -?, --help               print this, then exit

pgdyno's own options:
  --init-jobs=NUM          with -i: load accounts and create primary keys
                           over NUM connections (1 to 512, default: 1)
  --latency-percentiles[=LIST]
                           report these percentiles of the latency
                           (default: 50,95,99; up to 10)
  --warmup-time=SECONDS    leave the first seconds out of all figures
  --reconnect=SECONDS      retry a lost connection for so many seconds
  --log-merge              one log file instead of one for each thread
  --json=FILE              write the record, for "pgdyno report FILE"
  --csv=FILE               write the run interval by interval to FILE

Report bugs to the developers of pgdyno, not to those of PostgreSQL.
PostgreSQL home page: <https://www.postgresql.org/>
"#;

#[cfg(test)]
mod tests {
    use super::super::table::{BEYOND, PGBENCH};
    use super::*;

    #[test]
    fn help_names_every_option() {
        let text = help("pgbench");
        for option in PGBENCH.iter().chain(BEYOND) {
            let line = text
                .lines()
                .find(|line| line.contains(&format!("--{}", option.name)) && !line.starts_with("    "))
                .unwrap_or_else(|| panic!("{} is not there", option.name));
            match option.letter {
                Some(letter) => {
                    assert!(line.starts_with(&format!("  -{}, --{}", letter as char, option.name)), "{line}")
                }
                None => assert!(line.starts_with(&format!("  --{}", option.name)), "{line}"),
            }
        }
        // PostgreSQL's own test of pgbench looks for it.
        assert!(text.contains("\nReport bugs to "), "{text}");
        assert!(text.lines().all(|line| line.len() <= 80), "{:?}", text.lines().find(|line| line.len() > 80));
    }
}
