//! Figures within sentences: as many digits as help the reader.

/// Returns a share: `63 %`, `4.2 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() < 10.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// Returns a length of time: `4.1 ms`, `30 s`, `5 min`.
#[must_use]
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.1 => format!("{:.1} ms", s * 1e3),
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// Returns a number: `12,345`, `34`, `3.4`, `0.34`.
#[must_use]
pub fn number(n: f64) -> String {
    match n {
        n if n >= 1000.0 => {
            let digits = format!("{n:.0}");
            let chunks: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
            chunks.join(",")
        }
        n if n >= 10.0 => format!("{n:.0}"),
        n if n >= 1.0 => format!("{n:.1}"),
        n => format!("{n:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!([percent(0.634), percent(0.0423), percent(1.0)], ["63 %", "4.2 %", "100 %"]);
        assert_eq!(
            [duration(0.0041), duration(4.26), duration(30.0), duration(300.0)],
            ["4.1 ms", "4.3 s", "30 s", "5 min"]
        );
        assert_eq!(
            [number(1_234_567.0), number(34.2), number(3.42), number(0.342)],
            ["1,234,567", "34", "3.4", "0.34"]
        );
    }
}
