use super::*;

const MS: u64 = 1_000_000;

fn txns(committed: [u64; 5], rolled_back: u64) -> [TxnFigures; 5] {
    let mut txns = committed.map(|committed| TxnFigures {
        committed,
        rolled_back: 0,
        response_ns_p90: if committed > 0 { MS } else { 0 },
    });
    txns[0].rolled_back = rolled_back;
    txns
}

/// Two hours of a hundred terminals that meet all rules.
fn good() -> ([TxnFigures; 5], [u64; 5]) {
    (txns([148_500, 143_333, 13_333, 13_333, 13_333], 1_500), [1_500_000, 15_000, 21_500, 86_000, 8_000])
}

fn judged(rules: Rules, seconds: f64, clients: u32, txns: &[TxnFigures], tallies: &[u64]) -> Vec<Judgement> {
    judge(rules, &WindowFigures { seconds, clients, txns, tallies })
}

const SPEC: Rules = Rules { profile: Profile::Spec, waits: true, warehouses: 10 };

fn broken(judgements: &[Judgement]) -> Vec<&str> {
    judgements.iter().filter(|j| j.holds == Some(false)).map(|j| j.rule.as_str()).collect()
}

fn find<'a>(judgements: &'a [Judgement], what: &str) -> &'a Judgement {
    judgements.iter().find(|j| j.rule.contains(what)).unwrap()
}

#[test]
fn a_run_by_the_clauses_breaks_none() {
    let (_, tallies) = good();
    // 12.5 a minute for each of ten warehouses, 12.375 of them committed, over two hours.
    let small = [(14_850, 150), (14_333, 0), (1_333, 0), (1_333, 0), (1_333, 0)]
        .map(|(committed, rolled_back)| TxnFigures { committed, rolled_back, response_ns_p90: MS });
    let all = judged(SPEC, 7_200.0, 100, &small, &tallies.map(|t| t / 10));
    assert_eq!(broken(&all), Vec::<&str>::new());
    assert_eq!(find(&all, "at most 12.86").found, "12.50");
    // 15,000 orders are too few for a range of a tenth of a percent.
    let rollbacks = find(&all, "rolled back");
    assert_eq!((rollbacks.holds, rollbacks.found.as_str()), (None, "1.00 % of 15000, too few for a verdict"));
    assert_eq!(find(&all, "payments by last name").holds, Some(true));
}

#[test]
fn enough_transactions_get_a_verdict_on_every_input() {
    let (txns, tallies) = good();
    let all = judged(Rules { warehouses: 100, ..SPEC }, 7_200.0, 1_000, &txns, &tallies);
    assert_eq!(broken(&all), Vec::<&str>::new());
    assert!(all.iter().filter(|j| j.name.starts_with("9.2.2.5")).all(|j| j.holds == Some(true)), "{all:#?}");
}

#[test]
fn each_rule_can_be_broken() {
    let (good_txns, good_tallies) = good();
    let rules = Rules { warehouses: 100, ..SPEC };
    let broken_by = |change: &dyn Fn(&mut [TxnFigures; 5], &mut [u64; 5])| {
        let (mut txns, mut tallies) = (good_txns, good_tallies);
        change(&mut txns, &mut tallies);
        broken(&judged(rules, 7_200.0, 1_000, &txns, &tallies)).join("; ")
    };
    assert_eq!(broken_by(&|t, _| t[1].response_ns_p90 = 5_001 * MS), "90th percentile of payment at most 5 s");
    assert_eq!(broken_by(&|t, _| t[4].response_ns_p90 = 20_001 * MS), "90th percentile of stock-level at most 20 s");
    assert_eq!(broken_by(&|t, _| t[3].response_ns_p90 = 80_000 * MS), "");
    assert_eq!(
        broken_by(&|t, _| t[3].response_ns_p90 = 80_001 * MS),
        "90th percentile of delivery, executed deferred, at most 80 s"
    );
    assert!(broken_by(&|t, _| t[2].committed = 11_000).contains("share of order-status at least 4 %"));
    assert!(broken_by(&|t, _| t[0].rolled_back = 3_000).contains("New-Orders rolled back: 0.9 % to 1.1 %"));
    assert_eq!(broken_by(&|_, n| (n[0], n[1]) = (1_400_000, 14_000)), "lines of an order: 9.5 to 10.5 on average");
    assert_eq!(broken_by(&|_, n| n[1] = 0), "lines supplied by another warehouse: 0.95 % to 1.05 %");
    assert_eq!(broken_by(&|_, n| n[2] = 25_000), "payments of another warehouse's customers: 14 % to 16 %");
    assert_eq!(broken_by(&|_, n| n[3] = 80_000), "payments by last name: 57 % to 63 %");
    assert_eq!(broken_by(&|_, n| n[4] = 7_000), "order-status by last name: 57 % to 63 %");
    let all = judged(Rules { waits: false, ..rules }, 60.0, 16, &good_txns, &good_tallies);
    assert_eq!(find(&all, "90th percentile of delivery").rule, "90th percentile of delivery at most 5 s");
    assert_eq!(
        broken(&all),
        [
            "keying times before and think times after each transaction",
            "10 terminals for each warehouse: 1000",
            "measured for at least 120 minutes",
            "at most 12.86 New-Orders a minute for each warehouse",
        ]
    );
    let all = judged(rules, 72_000.0, 1_000, &good_txns, &good_tallies);
    assert_eq!(broken(&all), ["at least 9 New-Orders a minute for each warehouse"]);
}

/// The deck has exactly the minimum; a window seldom ends with a deck.
#[test]
fn decks_that_the_window_cuts_do_not_break_the_mix() {
    let txns = txns([4_504, 4_296, 400, 400, 400], 0);
    let all = judged(SPEC, 60.0, 100, &txns, &[0; 5]);
    assert_eq!(find(&all, "share of payment").holds, Some(true));
    assert_eq!(find(&all, "share of payment").found, "42.96 % of 10000");
}

#[test]
fn hammerdbs_profile_shows_and_condemns_only_what_cannot_be() {
    let rules = Rules { profile: Profile::HammerDb, waits: false, warehouses: 4 };
    let txns = txns([9_900, 10_000, 1_000, 1_000, 1_000], 100);
    let all = judged(rules, 60.0, 4, &txns, &[100_000, 1_000, 1_500, 6_000, 600]);
    assert!(all.iter().all(|j| j.holds.is_none()), "{all:#?}");
    assert_eq!(find(&all, "share of payment: expected 43.48 %").found, "43.48 % of 23000");
    let all = judged(rules, 60.0, 4, &txns, &[100_000, 0, 1_500, 6_000, 600]);
    assert_eq!(broken(&all), ["lines supplied by another warehouse: expected 1 %"]);
}

#[test]
fn nothing_is_remote_with_one_warehouse_and_nothing_is_divided_by_zero() {
    for profile in [Profile::HammerDb, Profile::Spec] {
        let rules = Rules { profile, waits: true, warehouses: 1 };
        let all = judged(rules, 60.0, 10, &txns([990, 950, 88, 88, 88], 10), &[10_000, 0, 0, 570, 53]);
        for what in ["supplied by another", "another warehouse's customers"] {
            assert_eq!(find(&all, what).holds, None);
        }
        for (seconds, tallies) in [(0.0, &[0; 5][..]), (1.0, &[])] {
            for judgement in judged(rules, seconds, 0, &[], tallies) {
                assert!(!judgement.found.contains("NaN") && !judgement.found.contains("inf"), "{judgement:?}");
            }
        }
    }
}
