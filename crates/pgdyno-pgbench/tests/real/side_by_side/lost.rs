//! A server that dies in the middle of a run: of both programs each has its turn with it.

use super::cases::{Case, one};
use super::stage::{Stage, differences};

/// A statement that ends the server as a crash would, and then waits for its own end.
macro_rules! crash {
    () => {
        "copy (select 1) to program 'kill -QUIT $(head -1 postmaster.pid); sleep 5';\n"
    };
}

const CASES: &[Case] = &[
    one("-n -t 2", &[concat!("select 1;\n", crash!(), "select 2;\n")]),
    one("-n -t 2 -M prepared -r", &[concat!("select 1;\nbegin;\n", crash!(), "select 2;\nend;\n")]),
    one("-n -t 2 -C", &[concat!("select 1;\n\\if 1\n", crash!(), "\\endif\nselect 2;\n")]),
    one("-n -t 2 -M extended", &[concat!("\\startpipeline\nselect 1;\n", crash!(), "select 2;\n\\endpipeline\n")]),
    one("-n -t 2 -l", &[concat!("select 1 \\; ", crash!())]),
];

#[test]
fn a_server_that_dies_is_reported_the_same() {
    let Some(mut stage) = Stage::start("a server that dies") else { return };
    let mut wrong = Vec::new();
    for case in CASES {
        let mut turn = |ours: bool| {
            let mut did = stage.run_one(case, ours, "lane0");
            // Whether the server still comes to say so is chance.
            did.err = did.err.replace("WARNING:  terminating connection due to immediate shutdown command\n", "");
            stage.server.crash();
            stage.server.restart();
            did
        };
        let (theirs, ours) = (turn(false), turn(true));
        assert_eq!(theirs.code, 2, "{}", theirs.err);
        wrong.extend(differences(case, &ours, &theirs));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
