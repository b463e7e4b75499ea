//! Figures as text, for tables and lines.

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

/// Returns nanoseconds in microseconds, with useful digits only: `0.123`, `12.3`, `1,234`.
#[must_use]
pub fn us(ns: f64) -> String {
    ms((ns * 1e3).round() as u64)
}

/// Returns seconds with useful digits only: `0.123`, `12.3`, `1,234`.
#[must_use]
pub fn seconds(seconds: f64) -> String {
    ms((seconds * 1e6).round() as u64)
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

/// Returns a number of things: `1 client`, `1,000 clients`.
#[must_use]
pub fn plural(n: u64, one: &str) -> String {
    format!("{} {one}{}", count(n), ending(n))
}

/// Returns a number of things as options take the number: `1 client`, `1000 clients`.
#[must_use]
pub fn plain_plural(n: u64, one: &str) -> String {
    format!("{n} {one}{}", ending(n))
}

/// Returns a size by its name: `1 warehouse`, `10 warehouses`, `scale 10`.
#[must_use]
pub fn sized(name: &str, size: &str) -> String {
    match name.strip_suffix('s') {
        Some(one) => format!("{size} {}", if size == "1" { one } else { name }),
        None => format!("{name} {size}"),
    }
}

/// Returns the ending of a noun behind a number.
#[must_use]
pub fn ending(n: u64) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// Returns a size: `1.2 GiB`.
#[must_use]
pub fn bytes(n: u64) -> String {
    mean_bytes(n as f64)
}

/// Returns a size that need not be whole, such as a mean: `1.2 GiB`.
#[must_use]
pub fn mean_bytes(n: f64) -> String {
    let mut size = n;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if size < 1024.0 {
            return format!("{size:.*} {unit}", usize::from(unit != "B"));
        }
        size /= 1024.0;
    }
    format!("{size:.1} TiB")
}

/// Returns a size that is an estimate: `954 MiB`, `1.2 GiB`.
#[must_use]
pub fn estimated_bytes(n: u64) -> String {
    let mib = n as f64 / f64::from(1 << 20);
    if mib >= 1024.0 { format!("{:.1} GiB", mib / 1024.0) } else { format!("{mib:.0} MiB") }
}

/// Returns a share as a percentage: `43.1 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Returns a share that is 100 % only if it is whole: `99.87 %`, `above 99.99 %`.
#[must_use]
pub fn percent_of_whole(share: f64) -> String {
    let percent = format!("{:.2} %", share * 100.0);
    if share < 1.0 && percent.starts_with("100") { "above 99.99 %".to_owned() } else { percent }
}

/// Returns a share that may be small as a percentage, with two digits that count: `0.034 %`, `2.1 %`.
#[must_use]
pub fn small_percent(share: f64) -> String {
    let digits = (-(share.abs() * 100.0).log10().floor()).clamp(0.0, 9.0) as usize + 1;
    if share == 0.0 { percent(share) } else { format!("{:.digits$} %", share * 100.0) }
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
    fn small_shares_have_digits_that_count_and_only_the_whole_is_100_percent() {
        assert_eq!(
            [0.0, 0.000_034, 0.0012, 0.021, 0.34].map(small_percent),
            ["0.0 %", "0.0034 %", "0.12 %", "2.1 %", "34.0 %"]
        );
        assert_eq!([1.0, 0.99996, 0.9987].map(percent_of_whole), ["100.00 %", "above 99.99 %", "99.87 %"]);
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [ms(45_000), ms(1_234_000), ms(12_340_000), ms(123_400_000), ms(12_345_000_000)],
            ["0.045", "1.23", "12.3", "123", "12,345"]
        );
        assert_eq!([rate(0.5), rate(123.45), rate(1_234_567.8)], ["0.50", "123.5", "1,234,568"]);
        assert_eq!([bytes(512), bytes(1536), bytes(5 << 30)], ["512 B", "1.5 KiB", "5.0 GiB"]);
        assert_eq!([mean_bytes(511.7), mean_bytes(1536.4)], ["512 B", "1.5 KiB"]);
        assert_eq!([estimated_bytes(1_000_000_000), estimated_bytes(3 << 29)], ["954 MiB", "1.5 GiB"]);
        assert_eq!([plural(1, "client"), plural(1000, "client")], ["1 client", "1,000 clients"]);
        assert_eq!([plain_plural(1, "client"), plain_plural(1000, "client")], ["1 client", "1000 clients"]);
        assert_eq!([count(0), count(999), count(1000), count(1_000_000)], ["0", "999", "1,000", "1,000,000"]);
        assert_eq!(
            [duration(0.034), duration(0.84), duration(42.0), duration(200.0), duration(3900.0)],
            ["34 ms", "0.8 s", "42 s", "3 min 20 s", "1 h 5 min"]
        );
    }
}
