//! `pgdyno run`: the whole life cycle.

use pgdyno_engine::{Ended, FileLimit, raise_file_limit};
use pgdyno_load::{Baseline, Fresh, Moment, Template};
use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_plan::Plan;
use pgdyno_results::{CheckSet, CopyRecord, ServerRecord, Status};
use pgdyno_workload::{Capabilities, Workload};

use crate::cli::RunArgs;
use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};
use crate::interrupt::{self, Interrupt};
use crate::life::choice::Choice;
use crate::life::choose;
use crate::life::copies;
use crate::life::data::{self, Loaded, Site};
use crate::life::drive::{self, Driven};
use crate::life::figures;
use crate::life::record::Recording;
use crate::life::warnings;
use crate::progress::Progress;
use crate::target::Server;

pub(crate) fn run(args: &RunArgs) -> Result<Code> {
    let interrupt = interrupt::listen()?;
    let progress = Progress::new(args.quiet);
    let choice = Choice::read(&args.workload)?;
    let target = choose::target(args, &choice)?;
    let crew = choose::crew(args, &choice, &target)?;
    let build = |loaded: Option<&Loaded>| choice.build(&args.workload, Some(choose::default_size(args)), loaded, &crew);
    let mut workload = build(None)?;
    let mut plan = choose::plan(args, &choice, &*workload, &target, &crew)?;
    admit_files(plan.clients, &progress)?;
    pgdyno_results::admit(&args.out.out).or_fail(Code::Start)?;

    let mut server = target.bring_up(&args.target, plan.clients, &progress)?;
    let template = copies::template(&server, &plan)?;
    let mut admin = match &template {
        None => server.admin()?,
        Some(template) => Some(copies::look(template)?),
    };
    if let Some(admin) = admin.as_mut().filter(|admin| !is_null(admin)) {
        let visible = template.as_ref().is_none_or(|template| template.options().is_some());
        // What is loaded decides where the arguments do not.
        if let Some(loaded) = if visible { data::loaded(admin, &*workload)? } else { None } {
            workload = build(Some(&loaded))?;
            plan.scale = workload.scale();
            plan.data_bytes_estimated = workload.data_bytes();
            plan.params = workload.params().iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        }
        data::admit(admin, plan.clients)?;
    }

    let mut recording = Recording::begin(&plan, &*workload, &args.out.out)?;
    for note in &server.notes {
        recording.record.warnings.push(note.clone());
    }
    recording.record.warnings.extend(workload.advice(plan.clients));
    for warning in &recording.record.warnings {
        progress.warn(warning);
    }
    let mut stage = Stage {
        plan: &plan,
        workload: &*workload,
        interrupt: &interrupt,
        progress: &progress,
        recording: &mut recording,
    };
    let lived = stage.live(&mut server, admin, template.as_ref());
    let (status, reason, code) = match &lived {
        Ok(end) => (end.status, end.reason.clone(), end.code),
        Err(failure) if failure.code() == Code::Interrupted => {
            (Status::Interrupted, Some(failure.text()), Code::Interrupted)
        }
        Err(failure) => (Status::Failed, Some(failure.text()), failure.code()),
    };
    let troubles = recording.end(status, reason, code, args.json.as_deref());
    progress.clear();
    if recording.record.summary.is_some() {
        print_report(&recording)?;
    }
    for trouble in &troubles {
        progress.warn(trouble);
    }
    super::print(format!("record: {}\n", recording.path().display()).as_bytes())?;
    lived.map(|_| code)
}

/// Transactions a minute as the server counts them: its count of the whole run, which is exact, shared out to
/// the measured window by the client's own counts. docs/metrics.md says why.
fn tpm(driven: &Driven, tpm_client: f64) -> Option<f64> {
    let outcome = &driven.outcome;
    let by_client: u64 = outcome.phases().iter().map(|totals| totals.part.all().completed()).sum();
    let by_server = driven.whole.as_ref()?.transactions();
    (by_client > 0).then(|| tpm_client * by_server as f64 / by_client as f64)
}

fn print_report(recording: &Recording) -> Result<()> {
    let render = pgdyno_report::format("text").ok_or_else(|| Failure::new(Code::Start, "no text format"))?;
    let mut bytes = b"\n".to_vec();
    render(&recording.record, super::look(), &mut bytes).or_fail(Code::Start)?;
    super::print(&bytes)
}

/// Whether the server is a null server, wherever it came from.
fn is_null(admin: &Admin) -> bool {
    admin.parameters().get("server_version") == Some(pgdyno_null::VERSION)
}

/// Raises the limit of open files, or says that it cannot be raised.
fn admit_files(clients: u32, progress: &Progress) -> Result<()> {
    match raise_file_limit(clients) {
        FileLimit::Enough => Ok(()),
        FileLimit::Raised { from, to } => {
            progress.note(&format!("raised the limit of open files from {from} to {to}"));
            Ok(())
        }
        FileLimit::TooLow { needed, hard } => {
            let error = format!("{clients} clients need {needed} open files, and the hard limit is {hard}");
            Err(Failure::new(Code::Start, error)
                .hint("raise it (ulimit -Hn, limits.conf, LimitNOFILE=), or lower --clients"))
        }
    }
}

/// How a run ended that began.
struct End {
    status: Status,
    reason: Option<String>,
    code: Code,
}

/// A run and all that it goes on among.
struct Stage<'a> {
    plan: &'a Plan,
    workload: &'a dyn Workload,
    interrupt: &'a Interrupt,
    progress: &'a Progress,
    recording: &'a mut Recording,
}

impl Stage<'_> {
    /// From the load to the last check. What is found out stands in the record at once.
    fn live(&mut self, server: &mut Server, admin: Option<Admin>, template: Option<&Template>) -> Result<End> {
        let (Some(options), Some(mut admin)) = (server.options.clone(), admin) else {
            let driven = self.drive(&Capabilities::default(), None, None)?;
            return Ok(self.conclude(&driven, None));
        };
        if is_null(&admin) {
            return self.against_nobody(&options);
        }
        let caps = pgdyno_server::capabilities(&mut admin).or_fail(Code::Start)?;
        self.recording.server_can(self.workload, &caps);
        let Some(template) = template else {
            self.provide(&options, &mut admin, &caps)?;
            return self.live_in(&options, &mut admin, &caps, server);
        };
        let there = template.options();
        if let Some(there) = &there {
            self.provide(there, &mut admin, &caps)?;
        }
        // A database can be copied only while nobody is connected to it.
        drop(admin);
        let fresh = self.copy(template)?;
        let lived = Admin::connect(&fresh.options()).or_fail(Code::Start).and_then(|mut admin| {
            if there.is_none() {
                self.provide(&fresh.options(), &mut admin, &caps)?;
            }
            self.live_in(&fresh.options(), &mut admin, &caps, server)
        });
        self.progress.note(&format!("dropping {}", fresh.name()));
        if let Err(error) = fresh.remove() {
            self.progress.warn(&error.to_string());
            self.recording.record.warnings.push(error.to_string());
        }
        lived
    }

    /// Sees to the data.
    fn provide(&mut self, options: &ConnectOptions, admin: &mut Admin, caps: &Capabilities) -> Result<()> {
        let site = Site { options, caps, progress: self.progress, stop: self.interrupt.control.stop_flag() };
        self.recording.record.load = data::provide(&site, admin, self.workload, self.plan.load, self.plan.loaders)?;
        Ok(())
    }

    /// Makes the copy that the run works on.
    fn copy(&mut self, template: &Template) -> Result<Fresh> {
        let stop = self.interrupt.control.stop_flag();
        let fresh = copies::make(template, &self.recording.record.id, stop, self.progress)?;
        self.recording.record.copy = Some(CopyRecord {
            template: template.name().to_owned(),
            database: fresh.name().to_owned(),
            seconds: fresh.seconds,
            bytes: fresh.bytes,
        });
        Ok(fresh)
    }

    /// In the database with the data: from the first check to the last one.
    fn live_in(
        &mut self,
        options: &ConnectOptions,
        admin: &mut Admin,
        caps: &Capabilities,
        server: &mut Server,
    ) -> Result<End> {
        let site = Site { options, caps, progress: self.progress, stop: self.interrupt.control.stop_flag() };
        let fresh = self.recording.record.load.is_some();
        self.recording.record.server = Some(server_record(admin, options, server)?);
        data::before_run(admin, self.workload)?;
        let baseline = if self.plan.checks { self.check_before(&site, admin, fresh)? } else { None };
        let orders_before = self.new_orders(admin);

        let sampler = Admin::connect(options).or_fail(Code::Start)?;
        let driven = self.drive(caps, Some(options), Some(sampler))?;
        let mut end = self.conclude(&driven, server.death());
        if !matches!(driven.outcome.ended, Ended::ServerLost(_)) {
            self.look_back(&site, admin, orders_before, baseline.as_ref(), &driven, &mut end);
        }
        Ok(end)
    }

    fn drive(
        &mut self,
        caps: &Capabilities,
        options: Option<&ConnectOptions>,
        sampler: Option<Admin>,
    ) -> Result<Driven> {
        drive::drive(
            self.plan,
            self.workload,
            caps,
            options,
            sampler,
            &self.interrupt.control,
            self.progress,
            self.recording,
        )
    }

    /// A null server keeps no data and no statistics.
    fn against_nobody(&mut self, options: &ConnectOptions) -> Result<End> {
        self.recording.record.server = Some(ServerRecord {
            version: "pgdyno null server".to_owned(),
            origin: "the figures are the driver's ceiling, no database's".to_owned(),
            local: options.is_local(),
            ..ServerRecord::default()
        });
        let driven = self.drive(&Capabilities::default(), Some(options), None)?;
        Ok(self.conclude(&driven, None))
    }

    fn check_before(&mut self, site: &Site<'_>, admin: &mut Admin, fresh: bool) -> Result<Option<Baseline>> {
        if fresh {
            let (set, _) = data::check(site, admin, self.workload, Moment::AfterLoad, "after the load")?;
            self.note_checks(&set);
            if !data::holds(&set) {
                return Err(data::broken(&set));
            }
        }
        // What was checked a moment ago needs no second look, only what the run must not change.
        let moment = if fresh { Moment::BeforeRun } else { Moment::AtRest };
        let (set, baseline) = data::check(site, admin, self.workload, moment, "before the run")?;
        self.note_checks(&set);
        if data::holds(&set) { Ok(Some(baseline)) } else { Err(data::broken(&set)) }
    }

    /// A moment at which nothing was asked is no line in the record.
    fn note_checks(&mut self, set: &CheckSet) {
        if !set.checks.is_empty() {
            self.recording.record.checks.push(set.clone());
        }
    }

    fn new_orders(&self, admin: &mut Admin) -> Option<u64> {
        data::number(admin, self.workload.new_order_count_query()?)
    }

    /// Fills in the figures, and says how the run ended.
    fn conclude(&mut self, driven: &Driven, death: Option<String>) -> End {
        let outcome = &driven.outcome;
        let measured = &outcome.measured;
        self.recording.summarize(measured, outcome.process.cpu_ns());
        let broken = figures::broken(outcome, &self.recording.txn_names());
        let tps = self.recording.tps_by_interval().to_vec();
        let record = &mut self.recording.record;
        figures::fill(record, outcome, measured, &tps);
        if let Some(summary) = &mut record.summary {
            summary.tpm = tpm(driven, summary.tpm_client);
            if let Some(work) = &driven.window {
                summary.cache_hit_ratio = work.hit_ratio();
                summary.wal_bytes = work.wal_bytes;
            }
        }
        let more = warnings::from_figures(record, outcome, self.plan);
        record.warnings.extend(more);
        self.verdict(driven, &broken, death)
    }

    /// Which status and exit code the run deserves.
    fn verdict(&self, driven: &Driven, broken: &[String], death: Option<String>) -> End {
        let outcome = &driven.outcome;
        let summary = self.recording.record.summary.as_ref();
        let end = |status, reason: Option<String>, code| End { status, reason, code };
        if let Some(reason) = drive::early_end(&outcome.ended) {
            return match outcome.ended {
                Ended::Interrupted => end(Status::Interrupted, Some(reason), Code::Interrupted),
                _ => end(
                    Status::Failed,
                    Some(death.map_or(reason.clone(), |death| format!("{reason}; {death}"))),
                    Code::Run,
                ),
            };
        }
        if !broken.is_empty() {
            return end(Status::Invalid, Some(broken.join("; ")), Code::Run);
        }
        if outcome.clients_lost + outcome.clients_aborted > 0 {
            let reason = format!("{} clients did not last to the end", outcome.clients_lost + outcome.clients_aborted);
            return end(Status::Invalid, Some(reason), Code::Run);
        }
        if summary.is_none_or(|s| s.committed == 0) {
            return end(
                Status::Failed,
                Some("no transaction was committed in the measured window".to_owned()),
                Code::Run,
            );
        }
        let hard_failures = summary.map_or(0, |s| {
            s.failed_by_class
                .iter()
                .filter(|(class, _)| !matches!(class.as_str(), "serialization" | "deadlock"))
                .map(|(_, n)| n)
                .sum()
        });
        if hard_failures > 0 {
            let reason = format!("{hard_failures} transactions failed other than by serialization or deadlock");
            return end(Status::Invalid, Some(reason), Code::Run);
        }
        end(Status::Complete, None, Code::Success)
    }

    /// After the run: is the data right, and did the server see the same New-Orders?
    fn look_back(
        &mut self,
        site: &Site<'_>,
        admin: &mut Admin,
        orders_before: Option<u64>,
        baseline: Option<&Baseline>,
        driven: &Driven,
        end: &mut End,
    ) {
        if let (Some(before), Some(after)) = (orders_before, self.new_orders(admin)) {
            let outcome = &driven.outcome;
            let kinds = self.workload.txns();
            let by_client: u64 = outcome
                .phases()
                .iter()
                .flat_map(|totals| totals.part.txns.iter().zip(&kinds))
                .filter(|(_, kind)| kind.is_new_order)
                .map(|(txn, _)| txn.committed)
                .sum();
            let by_server = after.saturating_sub(before);
            if let Some(summary) = &mut self.recording.record.summary {
                summary.new_orders_by_client = Some(by_client);
                summary.new_orders_by_server = Some(by_server);
            }
            // A cancelled transaction may have been committed a moment before.
            let unknown = outcome.cancelled_in_flight as u64 + outcome.measured.part.lost;
            if by_server.abs_diff(by_client) > unknown && end.status == Status::Complete {
                *end = End {
                    status: Status::Invalid,
                    reason: Some(format!(
                        "the server's tables count {by_server} New-Orders and the client {by_client}; does another program drive the same tables?"
                    )),
                    code: Code::Run,
                };
            }
        }
        if let Some(server) = &mut self.recording.record.server {
            server.database_bytes_after = data::number(admin, "select pg_database_size(current_database())");
        }
        if !self.plan.checks || self.interrupt.control.is_killing() {
            return;
        }
        // The first Ctrl-C ended the run, not the check that follows it.
        let site = Site { stop: &self.interrupt.at_once, ..*site };
        match data::check(
            &site,
            admin,
            self.workload,
            baseline.map_or(Moment::AtRest, Moment::AfterRun),
            "after the run",
        ) {
            Ok((set, _)) => {
                if !data::holds(&set) {
                    *end = End {
                        status: Status::Invalid,
                        reason: Some("the data is broken after the run".to_owned()),
                        code: Code::Check,
                    };
                }
                self.note_checks(&set);
            }
            Err(failure) => self
                .recording
                .record
                .warnings
                .push(format!("the data could not be checked after the run: {}", failure.text())),
        }
    }
}

fn server_record(admin: &mut Admin, options: &ConnectOptions, server: &Server) -> Result<ServerRecord> {
    figures::server(admin, options, &server.origin).or_fail(Code::Start)
}
