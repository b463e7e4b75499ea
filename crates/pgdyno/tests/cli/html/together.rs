//! Runs beside each other: the page of a comparison, and of a scaling.

use super::made_up;
use crate::browser::{browser, charts, look};
use crate::compare::{store, store_five, store_intervals};
use crate::program::Home;

/// The page that a command has written, whose path it has printed.
fn page(home: &Home, args: &[&str], file: &str) -> String {
    home.run(args).ok().prints(&[file]);
    std::fs::read_to_string(home.join(file)).unwrap()
}

#[test]
fn two_runs_are_compared_on_the_same_axes() {
    let home = Home::new();
    for (id, tps) in [("old", 1000), ("new", 950)] {
        store(&home, id, tps as f64, |record| record["plan"]["ramp_s"] = (tps / 100).into());
        store_intervals(&home, id, tps, 60);
        made_up::write_samples(&home.join("pgdyno-results").join(id), 60, "");
    }
    let page = page(
        &home,
        &["compare", "old", "new", "--format", "html", "--run-noise", "0.1%"],
        "pgdyno-results/compare.html",
    );
    for words in ["Slower: NOPM -5.0 %", "one run each", "class=\"change slower\"", "Differences", "<td>ramp</td>"] {
        assert!(page.contains(words), "{words}");
    }
    let reported =
        home.run(&["compare", "old", "new", "--format", "html", "-o", "-", "--run-noise", "0.1%"]).ok().stdout;
    assert_eq!(reported, page);
    let Some(browser) = browser("the page of a comparison") else { return };
    let seen = look(&browser, &home.join("pgdyno-results/compare.html"));
    seen.is_whole(&[
        "Throughput",
        "What active sessions waited for: BASE",
        "What active sessions waited for: NEW",
        "WAL",
    ]);
    assert!(seen.dom.contains("aria-label=\"Throughput over time. BASE: from 1 to 1,00"), "each line is a run");
}

#[test]
fn several_runs_of_each_side_are_reported_by_their_side() {
    let home = Home::new();
    store_five(&home, "old", 1000.0, |_| {});
    store_five(&home, "new", 900.0, |_| {});
    for run in std::fs::read_dir(home.join("pgdyno-results")).unwrap() {
        store_intervals(&home, run.unwrap().file_name().to_str().unwrap(), 1000, 30);
    }
    let args = ["compare", "old-*", "new-*", "--format", "html", "-o", "x.html", "--fail-if-slower", "3%"];
    let ran = home.run(&args).ended(20);
    ran.prints(&["x.html"]);
    let page = std::fs::read_to_string(home.join("x.html")).unwrap();
    assert!(page.contains("slower by 3 % at most: NOT held") && page.contains(">BASE 5<") && page.contains(">NEW 5<"));
    let Some(browser) = browser("the page of several runs of each side") else { return };
    let seen = look(&browser, &home.join("x.html"));
    seen.is_whole(&["Throughput"]);
    assert_eq!(seen.dom.matches("stroke=\"var(--c0)\" stroke-width=\"1\"").count() % 5, 0, "five thin lines of a side");
}

#[test]
fn a_scaling_is_a_page_with_its_runs_in_the_order_of_the_axis() {
    let home = Home::new();
    for (clients, tps) in [(8, 5000_u32), (1, 1000), (4, 3000)] {
        for nth in [1, 2] {
            let id = format!("c{clients}-{nth}");
            store(&home, &id, f64::from(tps + nth), |record| record["plan"]["clients"] = clients.into());
            store_intervals(&home, &id, u64::from(tps), 30);
        }
    }
    let page = page(&home, &["scaling", "c*", "--axis", "clients", "--format", "html"], "pgdyno-results/scaling.html");
    let charts = charts(&page);
    assert!(charts.contains(&"NOPM by clients".to_owned()), "{charts:?}");
    let names = ["clients 1", "clients 1 (2)", "clients 4", "clients 4 (2)", "clients 8", "clients 8 (2)"];
    let places = names.map(|name| page.find(&format!("<td>{name}</td>")).expect(name));
    assert!(places.is_sorted(), "{places:?}");
    let Some(browser) = browser("the page of a scaling") else { return };
    let seen = look(&browser, &home.join("pgdyno-results/scaling.html"));
    seen.is_whole(&["NOPM by clients", "Response times by clients", "Throughput"]);
    assert!(seen.dom.contains("in proportion to the first"));
}
