//! Private servers of a PostgreSQL that is named by its directory.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::postgres;
use crate::program::{Home, finish};

/// A copy of the PostgreSQL of these tests below `to`: another build, as far as its programs show. Returns its programs.
pub(crate) fn copy(to: &Path) -> PathBuf {
    let done = |command: &mut Command| assert!(command.status().unwrap().success(), "{command:?}");
    let (bin, to) = (postgres::bin(), to.display());
    let prefix = bin.parent().unwrap();
    if prefix.join("share").is_dir() {
        done(Command::new("cp").arg("-a").arg(prefix).arg(to.to_string()));
        return PathBuf::from(format!("{to}/bin"));
    }
    // Debian's: the programs find the rest by the way from lib/postgresql/15/bin to share/postgresql/15.
    let version = prefix.file_name().unwrap().to_str().unwrap();
    let (lib, share) = (format!("{to}/lib/postgresql/{version}"), format!("{to}/share/postgresql"));
    done(Command::new("mkdir").args(["-p", &format!("{lib}/bin"), &share]));
    done(Command::new("cp").args(["postgres", "initdb"].map(|name| bin.join(name))).arg(format!("{lib}/bin")));
    done(Command::new("ln").arg("-s").arg(prefix.join("lib")).arg(&lib));
    done(Command::new("ln").arg("-s").arg(format!("/usr/share/postgresql/{version}")).arg(&share));
    PathBuf::from(format!("{lib}/bin"))
}

#[test]
fn two_builds_side_by_side_in_a_suite_are_distinguished() {
    if !postgres::available("two builds in a suite") {
        return;
    }
    let home = Home::of_an_ordinary_user();
    let bins = ["one", "two"].map(|name| copy(&home.join(name)));
    let below = bins[1].strip_prefix(home.path()).unwrap().display();
    std::fs::write(home.join("pgdyno.toml"), format!("[target.two]\ndsn = 'embedded:{below}'\n")).unwrap();
    let text = format!(
        "name = 'builds'\ntargets = ['embedded:./{}', 'two']\n[[run]]\nwhat = 'select-only'\nscale = 1\nclients = 1\n\
         transactions = 100\n",
        bins[0].strip_prefix(home.path()).unwrap().display()
    );
    std::fs::write(home.join("builds.toml"), text).unwrap();
    home.run(&["suite", "run", "builds.toml"]).ok().says(&["2 of 2 runs complete"]);
    let runs = home.runs();
    let seen: Vec<_> = runs.iter().map(|run| (run.text("/plan/target"), run.text("/server/build/bindir"))).collect();
    let [one, two] = bins.each_ref().map(|bin| bin.to_str().unwrap());
    assert_eq!(seen, [(format!("embedded:{one}").as_str(), one), ("two", two)]);
    assert!(runs.iter().all(|run| run.text("/server/build/configure").contains("--prefix")));
    let [base, new] = [0, 1].map(|n: usize| runs[n].path.to_str().unwrap());
    home.run(&["compare", base, new]).prints(&["programs"]);
    // Text shortens long paths.
    let form = home.run(&["compare", base, new, "--format", "json"]).stdout;
    assert!(form.contains(&format!("\"{one}\"")) && form.contains(&format!("\"{two}\"")), "{form}");
    home.assert_clean();
}

#[test]
fn a_build_is_named_by_path_by_file_and_by_the_environment() {
    if !postgres::available("a build by its directory") {
        return;
    }
    let home = Home::of_an_ordinary_user();
    let bin = copy(&home.join("pg"));
    let below = bin.strip_prefix(home.path()).unwrap().display().to_string();
    let step = format!("start a private PostgreSQL from {}", bin.display());
    for target in [format!("embedded:{}", bin.display()), format!("embedded:./{below}"), format!("embedded:~/{below}")]
    {
        home.run(&["plan", "--target", &target]).ok().prints(&[&step]);
    }
    // A file's paths are relative to the file.
    std::fs::create_dir(home.join("sub")).unwrap();
    std::fs::write(home.join("sub/t.toml"), format!("[target.pg]\ndsn = 'embedded:../{below}'\n")).unwrap();
    home.run(&["plan", "--target", "pg", "--config", "sub/t.toml"]).ok().prints(&["pg"]);
    let run = ["run", "select-only", "-s", "1", "-c", "1", "-T", "1", "--ramp", "0", "-q", "--no-check"];
    home.run(&[&run[..], &["--target", "pg", "--config", "sub/t.toml"]].concat()).ok();
    assert_eq!(home.the_run().text("/server/build/bindir"), bin.to_str().unwrap());

    // What `embedded` means can be said once for all.
    let mut command = home.command(run);
    command.env("PGDYNO_POSTGRES", &bin);
    finish(command).ok();
    let last = home.runs().pop().unwrap();
    assert_eq!(last.text("/plan/target"), "embedded");
    assert_eq!(last.text("/server/build/bindir"), bin.to_str().unwrap());
    assert_eq!(last.text("/server/origin"), format!("private, from {}", bin.display()));
    home.assert_clean();
}

#[test]
fn a_directory_that_is_no_postgresql_is_refused_before_anything_is_done() {
    let home = Home::new();
    let refused = |target: &str, words: &[&str]| {
        home.run(&["run", "select-only", "--target", target]).ended(1).says(words);
    };
    refused("embedded:./none", &["there is no directory", "/none"]);
    std::fs::create_dir(home.join("empty")).unwrap();
    refused("embedded:./empty", &["neither postgres nor bin/postgres in it"]);
    refused("embedded:~you/pg", &["write the whole path"]);
    let suite = "name = 's'\ntargets = ['embedded:./empty']\n[[run]]\nwhat = 'select-only'\n";
    std::fs::write(home.join("s.toml"), suite).unwrap();
    home.run(&["suite", "run", "s.toml"]).ended(1).says(&["run 1", "neither postgres nor bin/postgres"]);
    if rustix::process::geteuid().is_root() && postgres::available("a build that is closed to the server's user") {
        let closed = home.join("closed");
        std::fs::create_dir(&closed).unwrap();
        std::fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let bin = copy(&closed.join("other"));
        refused(&format!("embedded:{}", bin.display()), &["user postgres", "has no access to", "chmod o+rx"]);
    }
    assert!(!home.join("pgdyno-results").exists());
}
