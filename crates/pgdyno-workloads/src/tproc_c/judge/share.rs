//! Judges shares of random draws within their statistical error.

use pgdyno_workload::Judgement;

/// Standard errors beyond which chance is ruled out.
const ERRORS: f64 = 3.0;

/// Cards of a deck; see [`at_least`].
const CARDS: u64 = 100;

/// Formats `43.21 % of 1000`.
pub(super) fn percent(count: u64, total: u64) -> String {
    if total == 0 {
        return "there was none".to_owned();
    }
    format!("{:.2} % of {total}", 100.0 * count as f64 / total as f64)
}

/// Judges a share of the mix that must be at least `cards` in a hundred (clause 5.2.3).
///
/// The deck has exactly the minimum, so a window that cuts a deck may show a little less. That much is tolerated: the
/// standard error of one deck per client.
pub(super) fn at_least(what: String, cards: u8, count: u64, total: u64, clients: u32) -> Judgement {
    let minimum = f64::from(cards) / 100.0;
    let cut = total.min(CARDS * u64::from(clients)) as f64;
    let slack = ERRORS * (minimum * (1.0 - minimum) * cut).sqrt();
    Judgement {
        name: "5.2.3",
        rule: format!("{what} at least {cards} %,except for decks that the window cuts"),
        found: percent(count, total),
        holds: (total > 0).then_some(count as f64 >= minimum * total as f64 - slack),
    }
}

/// A random input, and the range of its share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    pub(super) low: f64,
    pub(super) drawn: f64,
    pub(super) high: f64,
    /// Whether the range is a rule; if not, only a value that chance cannot explain is wrong.
    pub(super) strict: bool,
}

impl Range {
    /// Judges a share of `total`.
    pub(super) fn share(self, count: u64, total: u64) -> Judgement {
        let shown = |share: f64| format!("{:.4}", 100.0 * share).trim_end_matches('0').trim_end_matches('.').to_owned();
        let rule = match self.strict {
            true => format!("{}: {} % to {} %", self.what, shown(self.low), shown(self.high)),
            false => format!("{}: expected {} %", self.what, shown(self.drawn)),
        };
        let found = percent(count, total);
        self.judge(rule, found, count as f64, total, (self.drawn * (1.0 - self.drawn)).sqrt())
    }

    /// Judges the mean number of lines, 5 to 15 with equal probability.
    pub(super) fn lines(self, lines: u64, orders: u64) -> Judgement {
        let rule = match self.strict {
            true => format!("{}: {} to {} on average", self.what, self.low, self.high),
            false => format!("{}: expected {} on average", self.what, self.drawn),
        };
        let found = match orders {
            0 => "there was none".to_owned(),
            _ => format!("{:.2} in {orders} orders", lines as f64 / orders as f64),
        };
        // Eleven numbers: a variance of (11² - 1) / 12.
        self.judge(rule, found, lines as f64, orders, 10f64.sqrt())
    }

    /// `deviation`: the standard deviation of a single draw.
    fn judge(self, rule: String, found: String, sum: f64, draws: u64, deviation: f64) -> Judgement {
        let mut holds = None;
        if draws > 0 {
            let (mean, error) = (sum / draws as f64, ERRORS * deviation / (draws as f64).sqrt());
            let slack = (self.drawn - self.low).min(self.high - self.drawn);
            if (mean - self.drawn).abs() > slack + error {
                holds = Some(false);
            } else if self.strict && error <= slack {
                holds = Some((self.low..=self.high).contains(&mean));
            }
        }
        let too_few = if self.strict && holds.is_none() && draws > 0 { ", too few for a verdict" } else { "" };
        Judgement { name: self.name, rule, found: format!("{found}{too_few}"), holds }
    }
}
