//! Examples at the end of each command's help: lines of a command, perhaps with what it does.

/// Of pgdyno itself, in short.
pub(super) const PROGRAM: &str = "\
Examples:
  pgdyno run tproc-c               measure, on a temporary private server
  pgdyno run tpcb-like -c 64 -T 60 --target \"host=db1 dbname=bench\"
  pgdyno ab tpcb-like --a jit=on --b jit=off    which of two is faster
  pgdyno search tproc-c --slo \"p99 < 20ms\"     the highest load that meets it
  pgdyno report last -v            all figures of the last run
  pgdyno doctor --target db1       what would distort a measurement there

`pgdyno --help` describes every command, `pgdyno run -h` one of them.";

/// Of `run`, in short.
pub(super) const RUN_COMMON: &str = "\
Examples:
  pgdyno run tproc-c -w 10 -c 16   on a temporary private server
  pgdyno run tpcb-like -c 64 -T 60 --target \"host=db1 dbname=bench\"
  pgdyno run select-only -s 100 -R 5000         5,000 transactions a second
  pgdyno run tproc-c -w 10 -c 1,4,16,64         how NOPM grows with clients
  pgdyno run ./my.sql --target db1              your own pgbench script

--help shows all options; `pgdyno run tproc-c --help` those of a workload.";

/// Of `run`, and of pgdyno itself.
pub(super) const RUN: &str = "\
Examples:
  pgdyno run tproc-c               all steps, on a temporary private server
  pgdyno run tpcb-like -c 64 -T 60 --target \"host=db1 dbname=bench\"
  pgdyno run select-only -s 100 -c 16 -R 5000   5,000 transactions a second
  pgdyno run tproc-c -w 10 -c 1,4,16,64         how NOPM grows with clients
  pgdyno run ./my.sql -D range=1000000          your own pgbench script
  pgdyno run ./mine --from-template             your own tables, a fresh copy
  pgdyno run alloydb/tpcc-full --fit --short    a published guide, sized to fit
  pgdyno run --again last          the last run again: same plan and seed
  pgdyno plan tproc-c -w 100       what a run would do; writes nothing
  pgdyno report last -v            all figures of the last run
  pgdyno doctor --target db1       what would distort a measurement there
  pgdyno server start              a private PostgreSQL that stays between runs
  pgdyno pgbench -c 16 -T 60       pgbench, drop-in";

pub(super) const PLAN: &str = "\
Examples:
  pgdyno plan tproc-c -w 100 --target \"host=db1 dbname=bench\"
  pgdyno plan alloydb/tpcc-full --size 16vcpu --target db1";

pub(super) const LOAD: &str = "\
Examples:
  pgdyno load tproc-c -w 100 --target db1
  pgdyno load tpcb-like -s 1000 --loaders 8";

pub(super) const CHECK: &str = "\
Examples:
  pgdyno check tproc-c --target db1
  pgdyno check tproc-c --isolation
  pgdyno check tproc-h --oracle duckdb";

pub(super) const DROP: &str = "\
Examples:
  pgdyno drop tproc-c --target db1";

pub(super) const LIST: &str = "\
Examples:
  pgdyno list workloads
  pgdyno list recipes
  pgdyno list runs --workload tproc-c --last 10";

pub(super) const SHOW: &str = "\
Examples:
  pgdyno show tproc-c
  pgdyno show alloydb/tpcc-full";

pub(super) const REPORT: &str = "\
Examples:
  pgdyno report last -v
  pgdyno report last --format html
  pgdyno report 20261123T1853 --format markdown";

pub(super) const COMPARE: &str = "\
Examples:
  pgdyno compare last-1 last
  pgdyno compare run1,run2,run3 run4,run5,run6 --fail-if-slower 3%
  pgdyno compare nightly/16MB nightly/64MB --metric p99";

pub(super) const SCALING: &str = "\
Examples:
  pgdyno scaling 'nightly/*' --axis clients
  pgdyno scaling 'nightly/*' --axis setting:shared_buffers --format html";

pub(super) const CLOUD: &str = "\
Examples:
  pgdyno cloud list                modules, and how each was verified
  pgdyno cloud init citus/bulk -o lab.toml
  pgdyno cloud plan lab.toml       resources, and the highest possible cost
  pgdyno cloud run lab.toml --max-cost 60USD --client-cidr 198.51.100.7/32
  pgdyno cloud status              labs: state, cost, time left, what to do
  pgdyno cloud resume bulk         continue after a crash of this machine
  pgdyno cloud down --all          destroy everything";

pub(super) const CLOUD_RUN: &str = "\
Examples:
  pgdyno cloud run lab.toml --max-cost 60USD --client-cidr 198.51.100.7/32
  pgdyno cloud run lab.toml --client-cidr 198.51.100.7/32 --engine /opt/tofu
  pgdyno cloud run citus/bulk --module local";

pub(super) const CLOUD_GOES_ON: &str = "\
Examples:
  pgdyno cloud attach bulk         follows it until it has ended
  pgdyno cloud fetch bulk          its results so far
  pgdyno cloud extend bulk --ttl 2h             expires two hours from now";

pub(super) const CLOUD_SWEEP: &str = "\
Examples:
  pgdyno cloud sweep               what is left of all labs of this directory
  pgdyno cloud sweep lab.toml      asks the cloud, from any machine
  pgdyno cloud sweep lab.toml --delete     deletes what has expired";

pub(super) const AB: &str = "\
Examples:
  pgdyno ab tpcb-like -s 50 -c 16 --a shared_buffers=1GB --b shared_buffers=8GB
  pgdyno ab tproc-c -w 20 --a embedded:/opt/pg17/bin --b embedded:/opt/pg18/bin
  pgdyno ab ./my.sql --a target=db1 --b target=db2
  pgdyno ab --resume last --budget 20min";

pub(super) const HISTORY: &str = "\
Examples:
  pgdyno history                                   every series
  pgdyno history --workload tproc-c --target db1   one of them
  pgdyno history --label branch=main --by commit   runs of a branch
  pgdyno history 'nightly/*clients=64*' --metric p99";

pub(super) const SEARCH: &str = "\
Examples:
  pgdyno search tpcb-like -s 50 --slo \"p99 < 10ms\"
  pgdyno search tproc-c -w 100 --by clients --slo \"p95 < 50ms\"
  pgdyno search tproc-c -w 100 -c 64 --slo \"new-order p99 < 20ms\"";

pub(super) const FRONTIER: &str = "\
Examples:
  pgdyno frontier ch-benchmark -w 10 --budget 1h
  pgdyno frontier ch-benchmark -w 10 -T 2min --slo \"p99 < 50ms\" --repeats 3
  pgdyno frontier --resume last --budget 2h";

pub(super) const SUITE: &str = "\
Examples:
  pgdyno suite plan nightly.toml
  pgdyno suite run nightly.toml --label commit=abc123
  pgdyno suite report nightly";

pub(super) const SUITE_RUN: &str = "\
Examples:
  pgdyno suite run nightly.toml --label commit=abc123";

pub(super) const SUITE_PLAN: &str = "\
Examples:
  pgdyno suite plan nightly.toml";

pub(super) const SUITE_START: &str = "\
Examples:
  pgdyno suite start nightly.toml
  pgdyno suite attach nightly";

pub(super) const SUITE_RESUME: &str = "\
Examples:
  pgdyno suite resume nightly
  pgdyno suite resume nightly --retry-failed --detach";

pub(super) const SUITE_STATUS: &str = "\
Examples:
  pgdyno suite status
  pgdyno suite status nightly";

pub(super) const SUITE_ATTACH: &str = "\
Examples:
  pgdyno suite attach nightly";

pub(super) const SUITE_STOP: &str = "\
Examples:
  pgdyno suite stop nightly
  pgdyno suite stop nightly --now";

pub(super) const SUITE_LIST: &str = "\
Examples:
  pgdyno suite list";

pub(super) const SUITE_REPORT: &str = "\
Examples:
  pgdyno suite report nightly --format markdown";

pub(super) const EXPORT: &str = "\
Examples:
  pgdyno export --workload tproc-c > runs.csv
  pgdyno export --format parquet --output runs.parquet";

pub(super) const SERVE: &str = "\
Examples:
  pgdyno serve
  pgdyno serve --out /var/lib/pgdyno --port 9000";

pub(super) const STORE: &str = "\
Examples:
  pgdyno store init --store \"host=db0 dbname=results\"
  pgdyno run tproc-c --store \"host=db0 dbname=results\"   is pushed at its end
  pgdyno store push                with PGDYNO_STORE set: all that it lacks
  pgdyno store list
  pgdyno store pull 20261124T091107Z-ab     an experiment with its runs
  pgdyno list runs                 of the whole team
  pgdyno compare 20261123T1853 20261124T0911
  pgdyno store pull 20261123T1853
  pgdyno store prune --older-than 26w --dry-run";

pub(super) const AGENT: &str = "\
Examples:
  pgdyno agent --meet host=meet --allow-target host=db1
  pgdyno agents --meet \"host=meet dbname=bench\"       lists the agents
  pgdyno run tproc-c -c 5000 --meet host=meet --agents ssh:driver1,driver2
  pgdyno run tproc-c -c 5000 --target db1 --meet host=meet --agents 8";

pub(super) const AGENTS: &str = "\
Examples:
  pgdyno agents --meet \"host=meet dbname=bench\"";

pub(super) const FAULT: &str = "\
Examples:
  pgdyno fault list --target db1
  pgdyno run tpcb-like -T 60 --fault kill-9 --fault-at 20s
  pgdyno run tpcb-like -T 60 --target embedded:ha --fault promote --fault-at 20s
  pgdyno run tpcb-like -T 60 --target db1 --fault ./failover.sh --fault-at 20s";

pub(super) const SERVER: &str = "\
Examples:
  pgdyno server start
  pgdyno run tproc-c               runs use that server from now on
  pgdyno server stop";

pub(super) const CACHE: &str = "\
Examples:
  pgdyno run tproc-c -w 20                  keeps what it loads for the next run
  pgdyno cache list
  pgdyno cache clear
  pgdyno run tproc-c -w 20 --cache-size 0   loads again, and keeps nothing";

pub(super) const SERVER_START: &str = "\
Examples:
  pgdyno server start --set shared_buffers=2GB
  pgdyno server start --target embedded:18 --tcp";

pub(super) const SERVER_STOP: &str = "\
Examples:
  pgdyno server stop
  pgdyno server stop --keep-data";

pub(super) const SERVER_STATUS: &str = "\
Examples:
  pgdyno server status";

pub(super) const SERVER_NULL: &str = "\
Examples:
  pgdyno server null --port 5440
  pgdyno pgbench -n -S -h 127.0.0.1 -p 5440 -c 16 -T 10";

pub(super) const COMPLETIONS: &str = "\
Examples:
  pgdyno completions bash > ~/.local/share/bash-completion/completions/pgdyno
  pgdyno completions zsh > ~/.zfunc/_pgdyno
  pgdyno completions fish > ~/.config/fish/completions/pgdyno.fish";

pub(super) const MAN: &str = "\
Examples:
  pgdyno man ~/.local/share/man/man1";

pub(super) const CAPTURE: &str = "\
The server must have pg_stat_statements; the role needs pg_read_all_stats.
docs/capture.md describes the content of the file.

Examples:
  pgdyno capture --target \"host=db1 dbname=shop\" --window 10min -o shop.capture
  pgdyno capture show shop.capture";

pub(super) const CAPTURE_SHOW: &str = "\
Examples:
  pgdyno capture show shop.capture
  pgdyno capture show shop.capture -v
  pgdyno capture show shop.capture --format json";

pub(super) const FIT: &str = "\
Examples:
  pgdyno fit shop.capture --target copy -o ./shop
  pgdyno run ./shop --target copy --from-template -c 16";

pub(super) const DOCTOR: &str = "\
Exit codes: 0 nothing that would distort a measurement, 30 a warning, 31 an error.
docs/doctor.md has every check.

Examples:
  pgdyno doctor
  pgdyno doctor --target \"host=db1 dbname=bench\"
  pgdyno doctor --format json --output doctor.json";

#[cfg(test)]
pub(super) mod tests {
    use std::ffi::OsString;

    use clap::{Command, CommandFactory as _, Parser as _};
    use pgdyno_study::suite::sweep::Sweep;

    use crate::cli::Cli;

    /// All commands with their parents' names before their own, but for those that print help or are another program.
    pub(in crate::cli) fn commands(of: &Command, name: &str) -> Vec<(String, Command)> {
        let mut all = vec![(name.to_owned(), of.clone())];
        for command in of.get_subcommands().filter(|command| !["help", "pgbench"].contains(&command.get_name())) {
            all.extend(commands(command, &format!("{name} {}", command.get_name())));
        }
        all
    }

    /// Words of a line, as a shell divides it; what is redirected, and what stands behind three spaces, is no part of them.
    fn words(line: &str) -> Vec<String> {
        let line = line.trim().split("   ").next().unwrap().split(" > ").next().unwrap();
        let (mut words, mut quote) = (vec![String::new()], None);
        for c in line.chars() {
            match c {
                '"' | '\'' if quote == Some(c) => quote = None,
                '"' | '\'' if quote.is_none() => quote = Some(c),
                ' ' if quote.is_none() => words.push(String::new()),
                c => words.last_mut().unwrap().push(c),
            }
        }
        words
    }

    #[test]
    fn every_command_has_examples_that_it_takes() {
        for (name, command) in commands(&Cli::command(), "pgdyno") {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let long = command.get_after_long_help().map(ToString::to_string);
            for help in std::iter::once(help).chain(long) {
                let (_, examples) = help.split_once("Examples:\n").unwrap_or_else(|| panic!("{name} has no examples"));
                let lines: Vec<_> = examples.lines().take_while(|line| !line.is_empty()).collect();
                assert!(lines.iter().any(|line| words(line).join(" ").starts_with(&name)), "{name}: {examples}");
                for line in lines {
                    assert!(line.chars().count() <= 80, "{line}");
                    let args: Vec<OsString> = words(line).into_iter().map(OsString::from).collect();
                    let args = Sweep::of(&args).map_or(args, |sweep| sweep.first);
                    Cli::try_parse_from(args).unwrap_or_else(|error| panic!("{line}: {error}"));
                }
            }
        }
    }

    #[test]
    fn help_has_80_columns() {
        let mut all = Cli::command();
        all.build();
        for (name, mut command) in commands(&all, "pgdyno") {
            let help = command.render_long_help().to_string();
            let longest = help.lines().max_by_key(|line| line.chars().count()).unwrap();
            assert!(longest.chars().count() <= 80, "{name}: {longest}");
        }
    }
}
