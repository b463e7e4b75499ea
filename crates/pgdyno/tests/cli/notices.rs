//! What the server says beside its answers, while the clients are at work.

use crate::given_server::{Place, TRUST};
use crate::own::write;
use crate::postgres;
use crate::skipped::skipped;

const SHOUT: &str = "begin;
begin;
do $$ begin raise notice 'row % of the table', (random() * 1000)::int using hint = 'look at it'; end $$;
end;
";

#[test]
fn each_kind_is_reported_once_and_counted() {
    let Some(place) = Place::new("notices of a run", "", TRUST) else { return };
    write(&place.home, ".", &[("shout.sql", SHOUT)]);
    let ran = place.run("run ./shout.sql -c 2 -t 20 --ramp 0 -v").ok();
    let reported = |begin: &str| ran.stderr.lines().filter(|line| line.starts_with(begin)).collect::<Vec<_>>();
    let (notices, warnings) = (reported("NOTICE:  row "), reported("WARNING:  "));
    assert!(notices.len() == 2 && notices[1] == format!("{}: 40 times", notices[0]), "{}", ran.stderr);
    let warning = "WARNING:  there is already a transaction in progress";
    assert_eq!(warnings, [warning, &format!("{warning}: 40 times")], "{}", ran.stderr);
    assert_eq!(reported("HINT:  look at it").len(), 1, "{}", ran.stderr);
    ran.prints(&["WARNING × 40: there is already a transaction in progress", "NOTICE × 40: row "]);
    let record = place.home.the_run().record;
    let facts = |nth: usize| [&record["notices"][nth]["severity"], &record["notices"][nth]["sqlstate"]];
    assert_eq!((facts(0), facts(1)), ([&"WARNING".into(), &"25001".into()], [&"NOTICE".into(), &"00000".into()]));
    assert_eq!(record["notices"].as_array().unwrap().len(), 2);
    assert_eq!([0, 1].map(|nth| &record["notices"][nth]["count"]), [&40.into(), &40.into()] as [&serde_json::Value; 2]);
    let page = std::fs::read_to_string(place.home.the_run().path.join("report.html")).unwrap();
    assert!(page.contains("<h2>Notices of the server</h2>") && page.contains("<td>25001</td>"));

    // With -q they are not printed, and the record has them all the same.
    let ran = place.run("run ./shout.sql -c 1 -t 1 --ramp 0 -q").ok();
    assert!(!ran.stderr.contains("NOTICE") && !ran.stderr.contains("WARNING"), "{}", ran.stderr);
    ran.prints(&["WARNING × 1: "]);
}

#[test]
fn what_the_server_says_to_clients_that_connect_is_asked_too() {
    if postgres::major() < 15 {
        return skipped("notices of connections: no PostgreSQL before 15 warns of another version of collations");
    }
    let Some(place) = Place::new("notices of connections", "", TRUST) else { return };
    write(&place.home, ".", &[("one.sql", "select 1;\n")]);
    place.execute("update pg_database set datcollversion = 'another' where datname = 'postgres'");
    let ran = place.run("run ./one.sql -c 3 -t 1 --ramp 0").ok();
    let reported = ran.stderr.lines().find(|line| line.starts_with("WARNING:  database \"postgres\" has "));
    assert!(ran.stderr.contains(&format!("{}: 3 times", reported.unwrap())), "{}", ran.stderr);
}
