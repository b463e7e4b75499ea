//! `pgdyno cloud`: labs in a cloud.

mod json;
mod results;
mod screens;

use std::fs;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use pgdyno_cloud::{
    Engine, Lab, LabFile, LabOrder, LabSpec, LabStep, Leftover, Money, PASSWORD, Work, carry_out, check_ttl, delete,
    draft_targets, initial_file, is_recipe, local_root,
};
use pgdyno_life::events::EventSink as _;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::target::places;
use pgdyno_live::ProgressView;
use pgdyno_study::suite::check;
use rustix::process::{Pid, Signal, kill_process};

use super::confirm::agrees;
use super::suite;
use crate::cli::{CloudAction, EngineArgs, LabArgs, LabFileArgs, SweepArgs};
use crate::interrupt;

/// How often a lab in the hands of another process is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// How long `down` waits for the process that it has stopped.
const STOPPING: u32 = 3000;

pub(crate) fn run(action: &CloudAction) -> Result<Code> {
    match action {
        CloudAction::List { format } if format.is_json() => {
            super::print_form(&json::modules()?).map(|()| Code::Success)
        }
        CloudAction::List { .. } => super::print_lines(&screens::modules()?).map(|()| Code::Success),
        CloudAction::Init { what, module, output } => init(what, module.as_deref(), output),
        CloudAction::Plan { file, format } => plan(file, format.is_json()),
        CloudAction::Run { file, yes } => create(file, *yes),
        CloudAction::Status { name, out, format } => status(name.as_deref(), &out.out, format.is_json()),
        CloudAction::Attach(args) => attach(args),
        CloudAction::Resume { lab, engine } => {
            let lab = Lab::open(&lab.out.out, &lab.name)?;
            // The suites that have started have it on their drivers.
            let standings = lab.standings()?;
            if lab
                .file
                .sizes
                .iter()
                .any(|size| standings.get(&size.name).is_none_or(|it| it.step <= Some(LabStep::Driving)))
            {
                require_password(&lab.file)?;
            }
            let code = work(&lab, engine, &|order| carry_out(order))?;
            results::show(&lab)?;
            ended(&lab, code)
        }
        CloudAction::Fetch { lab, engine } => {
            let lab = Lab::open(&lab.out.out, &lab.name)?;
            work(&lab, engine, &|order| {
                let runs = pgdyno_cloud::fetch_now(order)?;
                super::print_lines(&format!(
                    "{} in {}\n",
                    pgdyno_text::units::plural(runs.len() as u64, "run"),
                    lab.results.display()
                ))?;
                Ok(Code::Success)
            })
        }
        CloudAction::Extend { lab, ttl, max_cost, engine } => {
            extend(&Lab::open(&lab.out.out, &lab.name)?, *ttl, max_cost.as_ref(), engine)
        }
        CloudAction::Down { name, discard_results, out, engine, .. } => {
            down(name.as_deref(), *discard_results, &out.out, engine)
        }
        CloudAction::Sweep(args) => sweep(args),
    }
}

/// Returns the password of the database, from the environment: nothing else holds it.
fn password() -> Option<String> {
    std::env::var(PASSWORD).ok().filter(|password| !password.is_empty())
}

fn require_password(file: &LabFile) -> Result<()> {
    if file.module.is_local() || password().is_some() {
        return Ok(());
    }
    let error = format!("the database of lab {} needs a password", file.name);
    Err(CommandError::new(Code::Start, error).hint(format!(
        "put one into the environment variable {PASSWORD}; it is stored nowhere, and `resume` needs the same one"
    )))
}

/// Without the cloud's command line, nobody could ask what is left.
fn require_cli(file: &LabFile) -> Result<()> {
    let (module, cli) = (&file.module.name, &file.module.cli);
    let path = std::env::var_os("PATH").unwrap_or_default();
    if cli.is_empty() || std::env::split_paths(&path).any(|directory| directory.join(cli).is_file()) {
        return Ok(());
    }
    let error = format!("module {module} needs {cli}, the cloud's command line, to find out what is left at the end");
    Err(CommandError::new(Code::Start, error).hint(format!("install {cli}, so that it is in PATH, and log in")))
}

fn engine(args: &EngineArgs, of_lab: Option<&Path>) -> Result<Engine> {
    let path = std::env::var_os("PATH");
    // A lab stays with the engine that has written its state.
    Engine::find(args.engine.as_deref().or(of_lab.filter(|path| path.exists())), path.as_deref())
}

fn init(what: &str, module: Option<&str>, output: &Path) -> Result<Code> {
    let text = initial_file(what, module)?;
    if output == Path::new("-") {
        return super::print(text.as_bytes()).map(|()| Code::Success);
    }
    write_new(output, &text)?;
    let file = output.display();
    super::print_lines(&format!("wrote {file}: fill it in, then `pgdyno cloud plan {file}`\n"))?;
    Ok(Code::Success)
}

fn write_new(path: &Path, text: &str) -> Result<()> {
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
    written.map_err(|error| {
        CommandError::new(Code::Start, format!("failed to write {}: {error}", path.display()))
            .hint("give another place by -o, or remove it")
    })
}

/// Returns the lab of a file, or of a recipe: then its file is written here first, unless it is there.
fn read(args: &LabFileArgs) -> Result<(LabFile, String, PathBuf)> {
    let mut path = PathBuf::from(&args.lab);
    if !path.exists() && is_recipe(&args.lab)? {
        path = PathBuf::from(format!("{}.toml", args.lab.replace('/', "-")));
        let is_new = !path.exists();
        if is_new {
            write_new(&path, &initial_file(&args.lab, args.module.as_deref())?)?;
        }
        let how = if is_new { "wrote" } else { "the lab is" };
        ProgressView::new(false).note(&format!("{how} {}", path.display()));
    }
    let (file, text) = LabFile::open(&path)?;
    check_ttl(args.ttl.unwrap_or(file.ttl_s)).map_err(|error| CommandError::new(Code::Start, error))?;
    check_suites(&file, &path)?;
    let max = args.max_cost.as_ref().or(file.max_cost.as_ref());
    file.admit_cost(max, args.ttl.unwrap_or(file.ttl_s))?;
    Ok((file, text, path))
}

/// Checks what would run on each size, as far as that is possible without a server.
fn check_suites(file: &LabFile, path: &Path) -> Result<()> {
    let part = std::env::temp_dir().join(format!("pgdyno-lab-{}.toml", std::process::id()));
    let checked = file.sizes.iter().try_for_each(|size| {
        fs::write(&part, draft_targets(file, size)).or_fail(Code::Start)?;
        let (path, text) = match (&file.work, file.suite_text(size)) {
            (Work::Suite(path), _) => {
                let text = fs::read_to_string(path).map_err(|error| {
                    CommandError::new(Code::Start, format!("failed to read the suite {}: {error}", path.display()))
                })?;
                (path.clone(), text)
            }
            (_, text) => (path.to_owned(), text.unwrap_or_default()),
        };
        let plan = check::read(&path, &text)?;
        check::drafts(&plan, &path, &part, &suite::order_of)?;
        match plan.cells.iter().find(|cell| cell.target.as_str() != "lab") {
            Some(cell) => {
                let error = format!("{}: {} runs on another target than lab", path.display(), cell.key);
                Err(CommandError::new(Code::Start, error)
                    .hint("write targets = [\"lab\"]: that is the server of each size"))
            }
            None => Ok(()),
        }
    });
    // It holds no secret, and the next command has its own.
    let _ = fs::remove_file(&part);
    checked
}

fn plan(args: &LabFileArgs, is_json: bool) -> Result<Code> {
    let (file, _, path) = read(args)?;
    if is_json {
        super::print_form(&json::plan(&file, args.ttl.unwrap_or(file.ttl_s)))?;
        return Ok(Code::Success);
    }
    super::print_lines(&screens::plan(&file, args.ttl.unwrap_or(file.ttl_s), &path)?)?;
    Ok(Code::Success)
}

fn create(args: &LabFileArgs, yes: bool) -> Result<Code> {
    let (file, text, path) = read(args)?;
    let ttl_s = args.ttl.unwrap_or(file.ttl_s);
    require_password(&file)?;
    if !file.module.is_local() && args.client_cidr.is_none() {
        return Err(CommandError::new(Code::Start, "the drivers need the one address from which they admit ssh")
            .hint("give --client-cidr with the public address of this machine, as 198.51.100.7/32"));
    }
    require_cli(&file)?;
    let engine = engine(&args.engine, None)?;
    consent(&file, ttl_s, yes)?;
    let base = std::path::absolute(&path).or_fail(Code::Start)?;
    let max_cost = args.max_cost.as_ref().or(file.max_cost.as_ref());
    let spec = LabSpec {
        base: base.parent().unwrap_or(Path::new("/")).to_owned(),
        root: local_root(places()?.root(), &args.out.out, &file.name),
        client_cidr: args.client_cidr.clone(),
        engine: engine.path().to_owned(),
        max_cost: max_cost.map(ToString::to_string),
    };
    let lab = Lab::create(&args.out.out, file, &text, spec, ttl_s)?;
    let code = work(&lab, &args.engine, &|order| carry_out(order))?;
    results::show(&lab)?;
    ended(&lab, code)
}

/// Asks before the first resource is created.
fn consent(file: &LabFile, ttl_s: f64, yes: bool) -> Result<()> {
    if yes || file.module.is_local() {
        return Ok(());
    }
    let cost = screens::bound(file, ttl_s);
    let refused = || CommandError::new(Code::Start, "nothing was created").hint("give --yes");
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(refused());
    }
    let sizes: Vec<_> = file.sizes.iter().map(|size| size.name.as_str()).collect();
    match agrees(&format!(
        "Lab {} creates {} by module {}: {cost}. Go on?",
        file.name,
        sizes.join(", "),
        file.module.name
    ))? {
        true => Ok(()),
        false => Err(refused()),
    }
}

/// Does something with a lab while this process holds its lock.
fn work(lab: &Lab, args: &EngineArgs, work: &dyn Fn(&LabOrder<'_>) -> Result<Code>) -> Result<Code> {
    let _lock = lab.lock()?;
    unlocked(lab, args, work)
}

fn unlocked(lab: &Lab, args: &EngineArgs, work: &dyn Fn(&LabOrder<'_>) -> Result<Code>) -> Result<Code> {
    let engine = engine(args, Some(&lab.spec.engine))?;
    let (interrupt, progress, password) = (interrupt::listen()?, ProgressView::new(false), password());
    let order =
        LabOrder { lab, engine: &engine, password: password.as_deref(), interrupt: &interrupt, events: &progress };
    let name = &lab.file.name;
    // What is left is said also after Ctrl-C.
    let worked = match work(&order) {
        Err(left) if left.code() == Code::LeftOver => return Err(left),
        worked => interrupt.attribute_to_signal(worked),
    };
    worked.map_err(|error| match error.code() {
        Code::Interrupted => error.hint(format!(
            "what was created is still there: `pgdyno cloud resume {name}` goes on, `pgdyno cloud down {name}` destroys it"
        )),
        _ => error,
    })
}

/// Says how a lab ended.
fn ended(lab: &Lab, code: Code) -> Result<Code> {
    let name = &lab.file.name;
    let cost = screens::cost(lab.cost()?);
    let how = if code == Code::Success { "closed" } else { "closed, after failures" };
    super::print_lines(&format!("\nlab {name} is {how}: nothing is left; cost {cost}\n"))?;
    Ok(code)
}

fn status(name: Option<&str>, results: &Path, is_json: bool) -> Result<Code> {
    let names = name.map_or_else(|| Lab::names(results), |name| vec![name.to_owned()]);
    let labs = names.iter().map(|name| Lab::open(results, name)).collect::<Result<Vec<_>>>()?;
    if is_json {
        super::print_form(&json::labs(&labs)?)?;
        return Ok(Code::Success);
    }
    if labs.is_empty() {
        super::print_lines(&format!("no labs in {}\n", results.display()))?;
    }
    for (nth, lab) in labs.iter().enumerate() {
        let gap = if nth > 0 { "\n" } else { "" };
        super::print_lines(&format!("{gap}{}", screens::status(lab)?))?;
    }
    Ok(Code::Success)
}

/// Prints the lines of the journal until no process works on the lab.
fn attach(args: &LabArgs) -> Result<Code> {
    let lab = Lab::open(&args.out.out, &args.name)?;
    let mut shown = 0;
    loop {
        let lives = lab.holder().is_some();
        let entries = lab.journal.entries().or_fail(Code::Start)?;
        for entry in entries.iter().skip(shown) {
            super::print_lines(&screens::entry(entry))?;
        }
        shown = entries.len();
        if !lives {
            break;
        }
        thread::sleep(POLL_INTERVAL);
    }
    if lab.is_closed()? {
        let standings = lab.standings()?;
        let has_failed = standings.values().any(|standing| standing.failure.is_some());
        return Ok(if has_failed { Code::Run } else { Code::Success });
    }
    let name = &args.name;
    Err(CommandError::new(Code::Run, format!("no process works on lab {name}, which is not closed"))
        .hint(format!("`pgdyno cloud resume {name}` goes on, `pgdyno cloud down {name}` destroys it")))
}

fn extend(lab: &Lab, ttl_s: f64, max_cost: Option<&Money>, args: &EngineArgs) -> Result<Code> {
    if lab.is_closed()? {
        return Err(CommandError::new(Code::Start, format!("lab {} is closed", lab.file.name)));
    }
    let of_lab = lab
        .spec
        .max_cost
        .as_deref()
        .map(Money::parse)
        .transpose()
        .map_err(|error| CommandError::new(Code::Start, error))?;
    let max = max_cost.or(of_lab.as_ref());
    // The process that works on the lab reads the journal: its lock is not needed, and the engine has its own.
    let code = unlocked(lab, args, &|order| pgdyno_cloud::extend(order, ttl_s, max).map(|()| Code::Success))?;
    super::print_lines(&screens::status(lab)?)?;
    Ok(code)
}

fn down(name: Option<&str>, discarded: bool, results: &Path, args: &EngineArgs) -> Result<Code> {
    let names = name.map_or_else(|| Lab::names(results), |name| vec![name.to_owned()]);
    if names.is_empty() {
        super::print_lines(&format!("no labs in {}\n", results.display()))?;
    }
    let mut first: Option<CommandError> = None;
    for name in names {
        match down_one(&name, discarded, results, args) {
            Ok(()) => {}
            // One that cannot be read must not keep the others, which cost money, too.
            Err(error) if first.is_none() => first = Some(error),
            Err(error) => ProgressView::new(false).warn(&error.text()),
        }
    }
    first.map_or(Ok(Code::Success), Err)
}

fn down_one(name: &str, discarded: bool, results: &Path, args: &EngineArgs) -> Result<()> {
    let lab = Lab::open(results, name)?;
    if lab.is_closed()? {
        return super::print_lines(&format!("lab {name} is closed\n"));
    }
    stop_holder(&lab);
    let code = work(&lab, args, &|order| pgdyno_cloud::down(order, discarded))?;
    ended(&lab, code).map(drop)
}

/// Stops the process that works on a lab, cleanly, and waits for it.
fn stop_holder(lab: &Lab) {
    let Some(pid) = lab.holder().and_then(|pid| Pid::from_raw(pid.cast_signed())) else { return };
    // One that has ended needs none.
    let _ = kill_process(pid, Signal::INT);
    for _ in 0..STOPPING {
        if lab.holder().is_none() {
            return;
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// What a sweep asks for: a lab's file, and where what it has made here is.
struct Swept {
    file: LabFile,
    root: PathBuf,
    modules: PathBuf,
    lab: Option<Lab>,
    /// The modules of a file whose lab is not here, removed with this.
    _written: Option<tempfile::TempDir>,
}

fn sweep(args: &SweepArgs) -> Result<Code> {
    let results = &args.out.out;
    let names = if args.labs.is_empty() { Lab::names(results) } else { args.labs.clone() };
    if names.is_empty() {
        let error = format!("there is no lab in {} to ask for", results.display());
        return Err(CommandError::new(Code::Start, error).hint("name a lab's file: `pgdyno cloud sweep lab.toml`"));
    }
    let (mut left, mut asked, mut failed) = (Vec::new(), 0, None);
    // What fails for one lab, or for one resource, must not keep the others, which cost money, too.
    let mut note = |failure: CommandError| match &failed {
        None => failed = Some(failure),
        Some(_) => ProgressView::new(false).warn(&failure.text()),
    };
    for name in &names {
        let found = swept(results, name).and_then(|swept| {
            let found = pgdyno_cloud::sweep(&swept.file, &swept.root, &swept.modules)?;
            Ok((swept, found))
        });
        let (swept, found) = match found {
            Ok(found) => found,
            Err(failure) => {
                note(failure);
                continue;
            }
        };
        asked += 1;
        for leftover in found {
            let may_go = || if args.force { Ok(true) } else { may_go(&swept, &leftover) };
            let deleted = if args.delete { may_go() } else { Ok(false) };
            match deleted.and_then(|may| if may { delete(&leftover).map(|()| true) } else { Ok(false) }) {
                Ok(true) => {
                    super::print_lines(&format!("deleted {} {}\n", leftover.kind, leftover.id))?;
                    continue;
                }
                Ok(false) => {}
                Err(failure) => note(failure),
            }
            left.push((swept.file.name.clone(), leftover));
        }
    }
    if asked > 0 {
        super::print_lines(&screens::left(&left, asked))?;
    }
    match failed {
        Some(failure) => Err(failure),
        None => Ok(if left.is_empty() { Code::Success } else { Code::LeftOver }),
    }
}

fn swept(results: &Path, name: &str) -> Result<Swept> {
    let path = Path::new(name);
    if path.is_file() {
        let (file, _) = LabFile::open(path)?;
        let lab = Lab::open(results, &file.name).ok();
        let root = local_root(places()?.root(), results, &file.name);
        let Some(lab) = lab else {
            let written = tempfile::tempdir().or_fail(Code::Start)?;
            file.module.write(written.path()).or_fail(Code::Start)?;
            return Ok(Swept { file, root, modules: written.path().to_owned(), lab: None, _written: Some(written) });
        };
        return Ok(Swept { file, root, modules: lab.directory.join("modules"), lab: Some(lab), _written: None });
    }
    let lab = Lab::open(results, name)?;
    let (file, root, modules) = (lab.file.clone(), lab.spec.root.clone(), lab.directory.join("modules"));
    Ok(Swept { file, root, modules, lab: Some(lab), _written: None })
}

/// Returns true if something may be deleted: it has expired, or its lab here is past its use, and no process works on it. A lab that is
/// closed has left nothing: what has its name now is another's.
fn may_go(swept: &Swept, leftover: &Leftover) -> Result<bool> {
    let now = jiff::Timestamp::now().as_second().unsigned_abs();
    if leftover.expires_s.is_some_and(|expires| expires < now) {
        return Ok(true);
    }
    let Some(lab) = &swept.lab else { return Ok(false) };
    if lab.holder().is_some() {
        return Ok(false);
    }
    let is_past = || Ok(lab.standings()?.values().all(|standing| standing.step >= Some(LabStep::Destroying)));
    let may_be_others = lab.is_closed()? && !lab.file.module.is_local();
    Ok(!may_be_others && (is_past()? || lab.left_s()? == 0))
}
