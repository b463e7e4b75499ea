//! The steps of a plan as text, in their order.

use pgdyno_text::units::{estimated_bytes, plain_plural, sized};
use pgdyno_wire::QueryMode;

use crate::{Arrivals, DrivePlan, FaultKind, FaultPlan, GroupPlan, LoadWhen, Pace, Plan, Rate, StagePlan, WatchPlan};

/// One step of the life cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// `provision`, `prepare`, `drop`, `restart`, `caches`, `settings`, `load`, `copy`, `vacuum`, `check`, `prewarm`,
    /// `checkpoint`, `watch`, `warm up`, `measure`, `fault`, `report`, `teardown`.
    pub name: &'static str,
    /// What it will do; several lines if there are groups of clients.
    pub what: String,
}

/// Returns the steps of `plan`.
#[must_use]
pub fn steps(plan: &Plan) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut step = |name, what: String| steps.push(Step { name, what });
    let has_data = !plan.scale_name.is_empty();
    let scale = plan.fraction().map_or_else(|| plan.scale.to_string(), str::to_owned);
    let size = sized(&plan.scale_name, &scale);
    let size = match plan.data_bytes_estimated {
        0 => format!("{} with {size}", plan.workload),
        n => format!("{size} (about {})", estimated_bytes(n)),
    };
    if plan.cycle.provision {
        step("provision", "provision the target, by its hook".to_owned());
    }
    step("prepare", plan.target.preparation());
    if has_data && plan.load.choice == LoadWhen::Always {
        step("drop", "what pgdyno loaded before".to_owned());
    }
    if plan.cycle.restart {
        step("restart", "the server, so that its own caches are cold".to_owned());
    }
    if plan.cycle.drop_caches {
        step("caches", "drop the page cache of the server's operating system".to_owned());
    }
    if !plan.settings.is_empty() {
        let settings: Vec<_> = plan.settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        step("settings", format!("{}; read back", settings.join(", ")));
    }
    if has_data {
        step(
            "load",
            match plan.load.choice {
                LoadWhen::Never | LoadWhen::IfMissing if plan.data_from.is_some() => {
                    let from = plan.data_from.as_deref().unwrap_or_default();
                    format!("nothing: {size}, data loaded by {from}, is driven as it is")
                }
                LoadWhen::Never => format!("nothing: {size} must be there"),
                LoadWhen::IfMissing => {
                    format!("{size} on {}, unless it is there", plain_plural(plan.load.loaders as u64, "connection"))
                }
                LoadWhen::Always => {
                    format!("{size} on {}, anew", plain_plural(plan.load.loaders as u64, "connection"))
                }
            } + &plan.from_template.as_ref().map_or_else(String::new, |name| format!(" in database {name}")),
        );
    }
    if let Some(schema) = routine_schema(plan) {
        step("routines", format!("in schema {schema}, which is created where it is not there"));
    }
    if let Some(template) = &plan.from_template {
        step("copy", format!("database {template}: the run works on a fresh copy, which is dropped afterwards"));
    }
    if plan.load.no_vacuum {
        step("vacuum", "nothing: neither VACUUM nor TRUNCATE before the run".to_owned());
    }
    if has_data && plan.load.checks {
        step("check", "rows and sizes, and the workload's consistency conditions".to_owned());
    }
    if plan.cycle.prewarm {
        step("prewarm", "read tables and indexes into the caches".to_owned());
    }
    if plan.cycle.checkpoint {
        step("checkpoint", "so that the load causes none during the run".to_owned());
    }
    if let Some(what) = watched(plan) {
        step("watch", what);
    }
    if plan.drive.ramp_s > 0.0 && plan.drive.stages.is_empty() {
        step("warm up", format!("{} s, not counted", plan.drive.ramp_s));
    }
    let drivers = drivers(plan);
    match plan.drive.stages.as_slice() {
        [] => {
            let end = end(plan);
            step(
                "measure",
                format!(
                    "{end}: {drivers}, {}",
                    work(plan.drive.mode, plan.drive.pace, plan.drive.max_tries, &plan.drive)
                ),
            );
        }
        stages => stages.iter().for_each(|stage| step("measure", of_stage(stage, plan, &drivers))),
    }
    if let Some(fault) = &plan.fault {
        step("fault", of_fault(fault));
    }
    if plan.watch.plans {
        step("explain", "each query once, outside the measured time".to_owned());
    }
    if has_data && plan.load.checks {
        step("check", "the consistency conditions again".to_owned());
    }
    step("report", "summary, and a run directory with the record".to_owned());
    if plan.cycle.provision {
        step("teardown", "tear the target down, by its hook".to_owned());
    }
    steps
}

/// Returns what causes the faults, and when.
fn of_fault(fault: &FaultPlan) -> String {
    let what = match fault.kind.kind() {
        FaultKind::Program => format!("run {}", fault.kind),
        FaultKind::Failover(_) => format!("{}: run `{}`", fault.kind, fault.kind.argv().join(" ")),
        kind => format!("{}: {}", fault.kind, kind.what()),
    };
    let again = fault.every_s.filter(|_| fault.repeat > 1);
    let again = again.map_or_else(String::new, |every_s| format!(", then every {every_s} s, {} in all", fault.repeat));
    format!("{what}; {} s after the window began{again}", fault.at_s)
}

/// Returns clients, connections and threads.
fn drivers(plan: &Plan) -> String {
    format!(
        "{}{} on {}{}{}",
        plain_plural(plan.stage_clients().into(), "client"),
        plan.drive
            .connections
            .map_or_else(String::new, |n| format!(" sharing {}", plain_plural(n.into(), "connection"))),
        plain_plural(plan.drive.threads as u64, "thread"),
        plan.drive.agents.map_or_else(String::new, |n| format!(" of {}", plain_plural(n.into(), "agent"))),
        plan.drive.pinned(),
    ) + &readers(plan)
}

/// Returns where clients send what only reads, if they have readers.
fn readers(plan: &Plan) -> String {
    match plan.drive.readers.as_slice() {
        [] => String::new(),
        readers => format!("; what only reads goes to {}", readers.join(" and ")),
    }
}

/// Returns how clients work.
fn work(mode: QueryMode, pace: Pace, max_tries: u32, drive: &DrivePlan) -> String {
    let steps = if pace == drive.pace { drive.stepped() } else { String::new() };
    let pace = match pace {
        Pace::ClosedLoop => "as fast as the server answers".to_owned(),
        Pace::Rate(Rate { per_s, arrivals: Arrivals::Poisson }) => {
            format!("{per_s} transactions a second{steps}, Poisson arrivals")
        }
        Pace::Rate(Rate { per_s, arrivals: Arrivals::Uniform }) => {
            format!("{per_s} transactions a second{steps}, uniform arrivals")
        }
    };
    let tries = match max_tries {
        1 => String::new(),
        0 => "; serialization failures and deadlocks are retried until they succeed".to_owned(),
        n => format!("; serialization failures and deadlocks are retried, up to {n} tries"),
    };
    let form = if drive.wire.is_native() { "" } else { " in libpq's form" };
    format!("query mode {}{form}, {pace}{tries}", mode.name())
}

/// Returns when clients end.
fn end(plan: &Plan) -> String {
    match (plan.drive.time_s, plan.drive.transactions) {
        (Some(seconds), _) => format!("{seconds} s"),
        (None, Some(n)) => format!("{n} transactions of each client"),
        (None, None) => "until interrupted".to_owned(),
    }
}

/// Returns a stage, with a line for each of its groups.
fn of_stage(stage: &StagePlan, plan: &Plan, drivers: &str) -> String {
    let end = match &stage.ends_with {
        Some(group) => format!("until the clients of {group} are done"),
        None if stage.ends_with_all => "until all clients are done".to_owned(),
        None if plan.drive.ramp_s > 0.0 => format!("{} after {} s of warm-up", end(plan), plan.drive.ramp_s),
        None => end(plan),
    };
    let grace =
        if stage.grace_s == plan.drive.grace_s { String::new() } else { format!(", {} s of grace", stage.grace_s) };
    let drivers =
        if plan.drive.stages.len() == 1 { drivers.to_owned() } else { plain_plural(stage.clients().into(), "client") };
    let mut text = format!("stage {}: {end}{grace}: {drivers}", stage.name);
    for group in &stage.groups {
        text += &format!("\n{}: {}", group.name, of_group(group, plan));
    }
    text
}

fn of_group(group: &GroupPlan, plan: &Plan) -> String {
    let mut parts = vec![plain_plural(group.clients.into(), "client")];
    if !group.scripts.is_empty() {
        let each = if group.once { "each runs once " } else { "" };
        parts.push(format!("{each}{}", group.scripts.join(", ")));
    }
    parts.extend(group.transactions.map(|n| format!("{n} transactions of each")));
    parts.extend(group.think_ms.map(|ms| format!("{ms} ms of think time")));
    parts.extend(group.latency_limit_ms.map(|ms| format!("latency limit {ms} ms")));
    parts.push(work(group.mode, group.pace, group.max_tries, &plan.drive));
    parts.join(", ")
}

/// Returns the schema of pgdyno's routines, if they are called and not in the schema of the tables.
fn routine_schema(plan: &Plan) -> Option<&str> {
    let schema = plan.params.get("routine-schema").filter(|schema| *schema != "tables")?;
    (plan.params.get("call").map(String::as_str) != Some("client")).then_some(schema)
}

/// Returns what is watched while the clients run; nothing if there is nothing to watch.
fn watched(plan: &Plan) -> Option<String> {
    let WatchPlan { off, os, statement_plans, plans: _, perf } = &plan.watch;
    if !plan.target.kind().is_postgres() {
        return None;
    }
    if *off {
        return Some("nothing: server and machines are not sampled".to_owned());
    }
    let machine = match os.as_deref() {
        None => String::new(),
        Some("command") => ", its machine by a command".to_owned(),
        Some(how) => format!(", its machine by {how}"),
    };
    let plans = match statement_plans {
        0 => String::new(),
        n => format!(", plans of {}", plain_plural((*n).into(), "statement")),
    };
    let perf = if *perf { ", its processes by perf in the measured window" } else { "" };
    Some(format!("the server's statistics every second, wait events ten times a second{machine}{plans}{perf}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::example;
    use crate::{Cycle, LoadPlan, Wire};

    fn words(plan: &Plan) -> String {
        steps(plan).iter().map(|s| format!("{}: {}\n", s.name, s.what)).collect()
    }

    #[test]
    fn a_plan_reads_as_a_list_of_steps() {
        insta::assert_snapshot!(words(&example()), @r"
        prepare: start a private PostgreSQL, or use the one that `pgdyno server start` keeps
        load: 10 warehouses (about 954 MiB) on 2 connections, unless it is there
        check: rows and sizes, and the workload's consistency conditions
        watch: the server's statistics every second, wait events ten times a second
        warm up: 5 s, not counted
        measure: 30 s: 16 clients on 1 thread, query mode prepared, as fast as the server answers; serialization failures and deadlocks are retried, up to 3 tries
        check: the consistency conditions again
        report: summary, and a run directory with the record
        ");
    }

    #[test]
    fn pinned_threads_and_libpqs_form_are_reported() {
        let reported = |pin: &str| {
            let words = words(&Plan {
                drive: DrivePlan { pin: Some(pin.into()), wire: Wire::Libpq, ..example().drive },
                ..example()
            });
            words.lines().find(|line| line.starts_with("measure")).unwrap().to_owned()
        };
        assert!(
            reported("all").contains("on 1 thread, a CPU each, query mode prepared in libpq's form, "),
            "{}",
            reported("all")
        );
        assert!(reported("0,2").contains("on 1 thread on CPUs 0,2, query mode"), "{}", reported("0,2"));
    }

    #[test]
    fn a_copy_is_made_once_the_data_is_there() {
        let plan = Plan {
            workload: "sensor-1".into(),
            scale_name: "scale".into(),
            scale: 5,
            data_bytes_estimated: 0,
            from_template: Some("sensors".into()),
            load: LoadPlan { loaders: 1, ..example().load },
            ..example()
        };
        insta::assert_snapshot!(words(&plan), @r"
        prepare: start a private PostgreSQL, or use the one that `pgdyno server start` keeps
        load: sensor-1 with scale 5 on 1 connection, unless it is there in database sensors
        copy: database sensors: the run works on a fresh copy, which is dropped afterwards
        check: rows and sizes, and the workload's consistency conditions
        watch: the server's statistics every second, wait events ten times a second
        warm up: 5 s, not counted
        measure: 30 s: 16 clients on 1 thread, query mode prepared, as fast as the server answers; serialization failures and deadlocks are retried, up to 3 tries
        check: the consistency conditions again
        report: summary, and a run directory with the record
        ");
    }

    #[test]
    fn data_of_another_program_is_named_and_so_is_the_schema_of_our_routines() {
        let mut plan = Plan { data_from: Some("HammerDB".into()), ..example() };
        plan.params.insert("routine-schema".into(), "pgdyno".into());
        let reported = words(&plan);
        assert!(
            reported
                .contains("load: nothing: 10 warehouses (about 954 MiB), data loaded by HammerDB, is driven as it is")
        );
        assert!(reported.contains("routines: in schema pgdyno, which is created where it is not there"), "{reported}");
        plan.params.insert("call".into(), "client".into());
        assert!(!words(&plan).contains("routines:"));
    }

    #[test]
    fn what_is_done_to_the_server_has_its_place() {
        let plan = Plan {
            cycle: Cycle { restart: true, drop_caches: true, prewarm: true, checkpoint: true, provision: true },
            watch: WatchPlan { os: Some("ssh postgres@db1".to_owned()), statement_plans: 1, ..WatchPlan::default() },
            settings: [("jit".to_owned(), "off".to_owned()), ("work_mem".to_owned(), "16MB".to_owned())].into(),
            load: LoadPlan { choice: LoadWhen::Always, ..example().load },
            target: "host=db1".into(),
            ..example()
        };
        insta::assert_snapshot!(words(&plan), @r"
        provision: provision the target, by its hook
        prepare: connect to host=db1
        drop: what pgdyno loaded before
        restart: the server, so that its own caches are cold
        caches: drop the page cache of the server's operating system
        settings: jit = off, work_mem = 16MB; read back
        load: 10 warehouses (about 954 MiB) on 2 connections, anew
        check: rows and sizes, and the workload's consistency conditions
        prewarm: read tables and indexes into the caches
        checkpoint: so that the load causes none during the run
        watch: the server's statistics every second, wait events ten times a second, its machine by ssh postgres@db1, plans of 1 statement
        warm up: 5 s, not counted
        measure: 30 s: 16 clients on 1 thread, query mode prepared, as fast as the server answers; serialization failures and deadlocks are retried, up to 3 tries
        check: the consistency conditions again
        report: summary, and a run directory with the record
        teardown: tear the target down, by its hook
        ");
    }

    #[test]
    fn a_workload_without_data_loads_and_checks_nothing() {
        let plan = Plan {
            workload: "noop".into(),
            scale_name: String::new(),
            target: "none".into(),
            drive: DrivePlan { ramp_s: 0.0, time_s: None, transactions: Some(1000), ..example().drive },
            ..example()
        };
        insta::assert_snapshot!(words(&plan), @r"
        prepare: no server: the workload measures pgdyno itself
        measure: 1000 transactions of each client: 16 clients on 1 thread, query mode prepared, as fast as the server answers; serialization failures and deadlocks are retried, up to 3 tries
        report: summary, and a run directory with the record
        ");
    }

    #[test]
    fn stages_and_groups_are_reported() {
        let group = |name: &str, clients| GroupPlan {
            name: name.to_owned(),
            clients,
            scripts: vec![format!("{name}.sql")],
            once: false,
            think_ms: None,
            pace: Pace::ClosedLoop,
            mode: QueryMode::Simple,
            max_tries: 1,
            latency_limit_ms: None,
            transactions: None,
        };
        let rate = Pace::Rate(Rate { per_s: 20.0, arrivals: Arrivals::Poisson });
        let readers = GroupPlan { pace: rate, latency_limit_ms: Some(9.0), ..group("readers", 2) };
        let queries = GroupPlan { once: true, think_ms: Some(50.0), ..group("queries", 1) };
        let stage = |name: &str, groups| StagePlan {
            name: name.to_owned(),
            groups,
            ends_with: None,
            ends_with_all: false,
            grace_s: 5.0,
        };
        let once = StagePlan { ends_with: Some("queries".to_owned()), grace_s: 60.0, ..stage("once", vec![queries]) };
        let stages = vec![stage("mix", vec![group("writers", 4), readers]), once];
        let plan = Plan { drive: DrivePlan { stages, ..example().drive }, ..example() };
        let measured: Vec<_> = steps(&plan).into_iter().filter(|step| step.name == "measure").collect();
        insta::assert_snapshot!(measured.iter().map(|s| format!("{}\n", s.what)).collect::<String>(), @r"
        stage mix: 30 s after 5 s of warm-up: 6 clients
        writers: 4 clients, writers.sql, query mode simple, as fast as the server answers
        readers: 2 clients, readers.sql, latency limit 9 ms, query mode simple, 20 transactions a second, Poisson arrivals
        stage once: until the clients of queries are done, 60 s of grace: 1 client
        queries: 1 client, each runs once queries.sql, 50 ms of think time, query mode simple, as fast as the server answers
        ");
    }

    #[test]
    fn a_run_without_vacuum_says_so() {
        let plan = Plan { load: LoadPlan { no_vacuum: true, ..example().load }, ..example() };
        assert!(words(&plan).contains("vacuum: nothing: neither VACUUM nor TRUNCATE before the run\ncheck: "));
    }

    #[test]
    fn a_run_that_is_not_watched_says_so() {
        let plan = Plan { watch: WatchPlan { off: true, ..WatchPlan::default() }, ..example() };
        assert!(words(&plan).contains("watch: nothing: server and machines are not sampled"));
    }
}
