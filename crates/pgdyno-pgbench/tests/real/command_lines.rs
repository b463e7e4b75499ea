//! Command lines that both refuse, or whose first connection fails in both. No server is needed.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::programs::{Pgbench, Ran, ours};

/// Arguments, split at blanks; `·` stands for a blank and `''` for an empty argument. A variable of the environment
/// may come first, as `NAME=value;`.
const SAME: &[&str] = &[
    // What getopt says.
    "--zzz",
    "--zzz=3",
    "--s",
    "--s=3",
    "--pro",
    "--pro=4",
    "--init",
    "--la",
    "--tr=1 --zz",
    "--client",
    "--client=",
    "--connect=3",
    "--conn=3",
    "--log=",
    "-c",
    "-d",
    "-Z",
    "-nZ",
    "-x4",
    "-cd",
    "-c -n",
    "--no-vacuum=1",
    "--help=3",
    "--file",
    "-n --help",
    "-n -?",
    "-n -V",
    "-nV",
    "-S --version",
    "-- -x -y",
    "-- a b",
    "a b",
    "a b c -c 0",
    "a -n b",
    "POSIXLY_CORRECT=1; a -n",
    "POSIXLY_CORRECT=1; -n a",
    "- -",
    "-i a b",
    "--rate",
    "--sampling",
    "--partition",
    "--partition=3",
    "--index=3 a b",
    // Numbers.
    "-c 0",
    "-c -1",
    "-c abc",
    "-c 5x",
    "-c ·5",
    "-c 5·",
    "-c 5·x",
    "-c +5",
    "-c ''",
    "-c 2147483648",
    "-c 99999999999999999999",
    "-j 0",
    "-j x",
    "-t 0",
    "-t 1.5",
    "-t x",
    "-T 0",
    "-T -3",
    "-T 5s",
    "-P 0",
    "-P ''",
    "-s 0",
    "-s x",
    "-s 0 -i",
    "-i -s 2147483648",
    "-F 9 -i",
    "-F 101 -i",
    "-F x -i",
    "-i --partitions=-1",
    "-i --partitions=x",
    "--aggregate-interval=0",
    "--aggregate-interval=x",
    "-L 0",
    "-L -1",
    "-L x",
    "-R 0",
    "-R -5",
    "-R x",
    "--sampling-rate=0",
    "--sampling-rate=1.01",
    "--sampling-rate=x",
    "--max-tries=-1",
    "--max-tries=0",
    "--max-tries=x",
    "--max-tries=99999999999999999999",
    "--max-tries=99999999999",
    "--max-tries=0 -L 100",
    "--max-tries=0 -T 5",
    "--max-tries=0 -L 0.0001",
    // Words.
    "-M foo",
    "-M Simple",
    "-M ''",
    "-I z -i",
    "-I ''",
    "-I dtgz",
    "-i --partition-method=list",
    "-i --partition-method=hash",
    "-i --partition-method=RANGE --partitions=0",
    "-D a",
    "-D =3",
    "-D a=",
    "-D a·b=3",
    "-D 1a=3",
    "-D a-b=3",
    "-D ä=3 -D a=1 -D a=2",
    // Seeds.
    "--random-seed=abc",
    "--random-seed=",
    "--random-seed=0x5",
    "--random-seed=5·",
    "--random-seed=5 -D a",
    "--random-seed=·5 -D a",
    "--random-seed=-5 -D a",
    "--random-seed=99999999999999999999999 -D a",
    "--random-seed=1 --random-seed=2",
    "PGBENCH_RANDOM_SEED=abc; -D a",
    "PGBENCH_RANDOM_SEED=; -D a",
    "PGBENCH_RANDOM_SEED=7; -i",
    "PGBENCH_RANDOM_SEED=7; --random-seed=8 -D a",
    // Scripts.
    "-b list",
    "-b list -c 0",
    "-c 0 -b list",
    "-b zz",
    "-b ''",
    "-b s",
    "-b se@x",
    "-b se@",
    "-b se@-1",
    "-b se@2147483648",
    "-b se@99999999999999999999",
    "-b se@0",
    "-b se@0 -b si@0",
    "-N -b zz",
    "-f /nonexistent/file",
    "-f @3",
    "-f /etc/passwd@x",
    "-f /nonexistent/file -c 0",
    "-c 0 -f /nonexistent/file",
    "-f /",
    "-f /dev/null",
    "-f -",
    "--show-script=se",
    "--show-script=simple-update",
    "--show-script=t",
    "--show-script=zz",
    "--show-script=s",
    "--show-script=",
    // What cannot be together.
    "-i -S",
    "-i -c 2",
    "-i -l",
    "-i -f /etc/hostname",
    "-i --random-seed=3",
    "-i --progress-timestamp",
    "--unlogged-tables",
    "-q",
    "-F 90 -S",
    "-I d",
    "--foreign-keys",
    "--tablespace=x",
    "--partitions=2",
    "-t 5 -T 3",
    "-l --sampling-rate=0.5 --aggregate-interval=1",
    "--sampling-rate=0.5",
    "--sampling-rate=0.5 --aggregate-interval=1",
    "--aggregate-interval=1",
    "--log-prefix=x",
    "--log-prefix=",
    "-l --aggregate-interval=3 -T 2",
    "-l --aggregate-interval=3 -T 10",
    "-l --aggregate-interval=3 -t 10",
    "--progress-timestamp",
    "-t 5 -T 3 --sampling-rate=0.5",
    "-q -t 5 -T 3",
    "a b -t 5 -T 3",
    "-b se@0 a b",
    "-c 2000000000",
    // What only fails to connect.
    "",
    "-i",
    "-nSvc4 -j2 -t5 -M prepared a",
    "--cl=3 --tim 5 --no-v --conn",
    "-l --log-p=x --sampling-rate=.5",
    "-C -r -R 10.5 -L 1e3 -P 1 --progress-timestamp",
    "-i -qn -I ·d·t· -F10 --partitions=3 --partition-method=HASH",
    "-i --foreign-keys --unlogged-tables --tablespace=a --index-tablespace=b",
    "--failures-detailed --max-tries=3 --verbose-errors -D a=b=c",
    "-b se@2 -b si@0 -f /etc/hostname@3",
    "-U me -p 7 db",
    "-p abc",
    "-p 70000",
    "-p 0",
    "foo=bar",
    "sslmode=zz",
    "target_session_attrs=foo",
    "host=/nonexistent,/nonexistent2 -p 1,2",
    "service=nonexistent",
    "host=a port=1,2",
    "host=a hostaddr=1,2",
    "host=127.0.0.1 port=1",
    "host=localhost port=1",
    "postgresql://127.0.0.1:1/x",
    "postgresql://localhost:1,127.0.0.1:1/x",
    "host=no.such.host.invalid",
];

/// What versions before the first number say, but for their newest minor releases, where 18 has something else: in 18, in
/// those.
const OLDER_WORDS: &[(u32, &str, &str)] =
    &[(18, "-c/--client\n", "-c/--clients\n"), (18, "-c/--client ", "-c/--clients ")];

/// What only 18 reads so: `-d` was `--debug` before 17.
const OTHERWISE_BEFORE_17: &[&str] = &["-d"];

/// Options that came later than in 15, and what must be said of them by a pgbench that has them.
const SINCE_17: &[&str] =
    &["--exit-on-abort -c 0", "--debug -c 0", "--debug=3", "--dbname=x y", "-d x y", "-d x", "--exit"];

fn split(line: &str) -> (Vec<(String, String)>, Vec<String>) {
    let (vars, args) = line.split_once("; ").map_or(("", line), |(vars, args)| (vars, args));
    let vars = vars.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    let args = args.split_whitespace().map(|arg| if arg == "''" { String::new() } else { arg.replace('·', " ") });
    (vars.into_iter().collect(), args.collect())
}

/// Both, without a server: the socket is looked for where none can be.
fn both(pgbench: &Pgbench, line: &str) -> (Ran, Ran) {
    let (vars, args) = split(line);
    let mut vars: Vec<(&str, &str)> = vars.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    vars.push(("PGHOST", "/nonexistent"));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    (ours(&args, &vars), pgbench.run(&args, &vars))
}

#[test]
fn command_lines_are_refused_in_the_same_words() {
    let Some(pgbench) = Pgbench::find("command lines") else { return };
    // pgbench names the limit of open files in force, pgdyno the one that it may raise it to.
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    let mut wrong = Vec::new();
    let later: &[&str] = if pgbench.version >= 17 { SINCE_17 } else { &[] };
    for line in SAME.iter().chain(later) {
        let (ours, mut theirs) = both(&pgbench, line);
        for (before, newer, older) in OLDER_WORDS {
            if pgbench.version < *before {
                theirs.err = theirs.err.replace(older, newer);
            }
        }
        let otherwise = pgbench.version < 17 && OTHERWISE_BEFORE_17.contains(line);
        if (ours == theirs) == otherwise {
            wrong.push(format!("{line}\n  ours:   {ours:?}\n  theirs: {theirs:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), SAME.len(), wrong.join("\n"));
}

#[test]
fn help_has_pgbenchs_options_in_its_groups() {
    let Some(pgbench) = Pgbench::find("help") else { return };
    let (ours, theirs) = both(&pgbench, "--help");
    assert_eq!((ours.code, ours.err.as_str()), (0, ""));
    // Headings, and options with the names of their values; not what is said of them.
    let facts = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.starts_with("   ") && !line.is_empty());
        let fact = |line: &str| match line.trim() {
            // The only one whose description follows after one blank.
            text if text.starts_with("--aggregate-interval=NUM ") => "--aggregate-interval=NUM".to_owned(),
            text => text.split("  ").next().unwrap().to_owned(),
        };
        lines.map(fact).collect()
    };
    let (ours, theirs) = (facts(&ours.out), facts(&theirs.out));
    let own = ours.iter().position(|line| line == "pgdyno's own options:").unwrap();
    let newer = |line: &String| {
        line.starts_with("--continue-on-error")
            || (pgbench.version < 17 && ["--exit-on-abort", "--debug", "-d,"].iter().any(|name| line.starts_with(name)))
    };
    let end = theirs.iter().position(|line| line.starts_with("Report bugs")).unwrap();
    let first_word = |line: &String| line.split(" report").next().unwrap().to_owned();
    let ours: Vec<String> = ours[1..own].iter().filter(|line| !newer(line)).map(first_word).collect();
    let theirs: Vec<String> = theirs[1..end].iter().filter(|line| !newer(line)).map(first_word).collect();
    assert_eq!(ours, theirs);
}

#[test]
fn the_version_shows_whose_it_is() {
    let Some(pgbench) = Pgbench::find("version") else { return };
    for option in ["--version", "-V"] {
        let (ours, theirs) = both(&pgbench, option);
        assert_eq!((ours.code, ours.err), (theirs.code, theirs.err));
        // In the form that builds of others have: "pgbench (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)".
        let begins = "pgbench (PostgreSQL) ";
        assert!(theirs.out.starts_with(begins), "{}", theirs.out);
        assert!(ours.out.starts_with(begins) && ours.out.contains(" (pgdyno "), "{}", ours.out);
    }
}
