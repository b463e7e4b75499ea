//! Numbers as text.

use pgdyno_plan::Plan;
use pgdyno_results::{Metric, Unit};

/// Returns nanoseconds in milliseconds, with useful digits only: `0.123`, `12.3`, `1,234`.
#[must_use]
pub fn ms(ns: u64) -> String {
    let ms = ns as f64 / 1e6;
    match ms {
        _ if ms >= 1000.0 => grouped(ms),
        _ if ms >= 100.0 => format!("{ms:.0}"),
        _ if ms >= 10.0 => format!("{ms:.1}"),
        _ if ms >= 1.0 => format!("{ms:.2}"),
        _ => format!("{ms:.3}"),
    }
}

/// Returns seconds with useful digits only: `0.123`, `12.3`, `1,234`.
#[must_use]
pub fn seconds(seconds: f64) -> String {
    ms((seconds * 1e6).round() as u64)
}

/// Returns the value of a metric in a list: rates as whole numbers, seconds with useful digits.
#[must_use]
pub fn listed(metric: &Metric, value: f64) -> String {
    if metric.unit() == Unit::Seconds { seconds(value) } else { grouped(value) }
}

/// Returns a rate: a whole number from 1,000, otherwise with decimals.
#[must_use]
pub fn rate(per_s: f64) -> String {
    match per_s {
        _ if per_s >= 1000.0 => grouped(per_s),
        _ if per_s >= 10.0 => format!("{per_s:.1}"),
        _ => format!("{per_s:.2}"),
    }
}

/// Returns a whole number with thousands separators.
#[must_use]
pub fn grouped(n: f64) -> String {
    count(n.round().max(0.0) as u64)
}

/// Returns a whole number with thousands separators.
#[must_use]
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns the scale of a plan: `1,000`, or a fraction as it was given.
#[must_use]
pub fn size(plan: &Plan) -> String {
    plan.fraction().map_or_else(|| count(plan.scale), str::to_owned)
}

/// Returns a size: `1.2 GiB`.
#[must_use]
pub fn bytes(n: u64) -> String {
    let mut size = n as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if size < 1024.0 {
            return if unit == "B" { format!("{n} B") } else { format!("{size:.1} {unit}") };
        }
        size /= 1024.0;
    }
    format!("{size:.1} TiB")
}

/// Returns a share as a percentage: `43.1 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Returns a length of time: `34 ms`, `0.8 s`, `42 s`, `3 min 20 s`, `1 h 5 min`.
#[must_use]
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.1 => format!("{:.0} ms", s * 1e3),
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 3600.0 => format!("{:.0} min {:.0} s", (s / 60.0).floor(), (s % 60.0).floor()),
        s => format!("{:.0} h {:.0} min", (s / 3600.0).floor(), (s % 3600.0 / 60.0).floor()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [ms(45_000), ms(1_234_000), ms(12_340_000), ms(123_400_000), ms(12_345_000_000)],
            ["0.045", "1.23", "12.3", "123", "12,345"]
        );
        assert_eq!([rate(0.5), rate(123.45), rate(1_234_567.8)], ["0.50", "123.5", "1,234,568"]);
        assert_eq!([bytes(512), bytes(1536), bytes(5 << 30)], ["512 B", "1.5 KiB", "5.0 GiB"]);
        assert_eq!([count(0), count(999), count(1000), count(1_000_000)], ["0", "999", "1,000", "1,000,000"]);
        assert_eq!(
            [duration(0.034), duration(0.84), duration(42.0), duration(200.0), duration(3900.0)],
            ["34 ms", "0.8 s", "42 s", "3 min 20 s", "1 h 5 min"]
        );
    }
}
