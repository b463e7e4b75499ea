//! What may differ between two runs of one program, made equal: measured times, and process numbers.

/// Beginnings of lines of a report that hold measured figures, after ` - ` of a script.
const MEASURED: &[&str] = &[
    "latency average = ",
    "latency stddev = ",
    "rate limit schedule lag: ",
    "initial connection time = ",
    "average connection time = ",
    "tps = ",
];

/// Every number of `text` as `N`; one that is none too, which a deviation is where rounding makes it so.
pub(super) fn numbers(text: &str) -> String {
    let mut masked = String::new();
    for c in text.replace("NaN", "0").chars() {
        if c.is_ascii_digit() || (c == '.' && masked.ends_with('N')) {
            if !masked.ends_with('N') {
                masked.push('N');
            }
        } else {
            masked.push(c);
        }
    }
    masked
}

/// A line of a report.
fn report_line(line: &str) -> String {
    let own = line.strip_prefix(" - ").unwrap_or(line);
    if MEASURED.iter().any(|measured| own.starts_with(measured)) {
        return numbers(line);
    }
    // `pgbench (18.6 …, server 15.18 …)`: who says so is another test's business.
    if line.starts_with("pgbench (") {
        return "BANNER".to_owned();
    }
    if let Some((before, _)) = line.split_once("tps = ") {
        return format!("{before}tps = N)");
    }
    // A row of `--report-per-command`; versions differ in the blanks between its columns.
    if line.starts_with("   ") {
        let mut columns = line.split_whitespace();
        let (first, rest): (Option<&str>, Vec<&str>) = (columns.next(), columns.collect());
        if first.is_some_and(|n| n.contains('.') && n.parse::<f64>().is_ok()) {
            return format!("ROW {}", rest.join(" "));
        }
    }
    line.to_owned()
}

/// A report.
pub(super) fn report(text: &str) -> String {
    text.lines().map(|line| report_line(line) + "\n").collect()
}

/// A report of ours, or of pgbench before 18, as far as both say the same.
pub(super) fn report_before_18(masked: &str) -> String {
    let mut common = String::new();
    for line in masked.lines() {
        // Since 18 a script has a line of its own for what was processed; one that was never run has none of those
        // that would be 0 of 0.
        let newer = line.starts_with(" - number of transactions actually processed");
        let older = line.contains("(NaN%)") || line == " - total number of retries: 0";
        if !newer && !older {
            common += &(line.replace(" of total, tps = N)", " of total)") + "\n");
        }
        // Before 18 a run in which all transactions failed ended here.
        if line
            .strip_prefix("number of transactions actually processed: 0")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        {
            break;
        }
    }
    common
}

/// Messages. With `--debug`, how often the server's answers were read in pieces is chance; with `--verbose-errors`,
/// how much of the time was used.
pub(super) fn messages(text: &str, unordered: bool) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = match line.split_once("% of the maximum time of tries was used") {
            Some((before, after)) => {
                let (before, _) = before.rsplit_once(", ").unwrap_or((before, ""));
                format!("{before}, N% used{after}")
            }
            None if line.starts_with("progress: ") => numbers(line),
            None if line.contains("(PID ") || line.contains("Process ") => numbers(line),
            None => line.to_owned(),
        };
        lines.push(line);
    }
    if unordered {
        lines.sort();
    }
    lines.dedup_by(|line, last| line == last && line.ends_with(" receiving"));
    lines.concat_lines()
}

/// A file that a program wrote: a log's times are masked, lags too where there are some, and all else stays.
pub(super) fn file(name: &str, text: &str, lags: bool) -> String {
    if !name.contains("log") {
        return text.to_owned();
    }
    let line = |line: &str| {
        let columns: Vec<&str> = line.split(' ').collect();
        // client, transaction, time, script, epoch, microseconds, then lag and retries or one of them.
        let masked = columns.iter().enumerate().map(|(n, column)| match n {
            2 | 4 | 5 if column.parse::<f64>().is_ok() => "N",
            6 if lags => "N",
            _ => column,
        });
        masked.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().concat_lines()
}

/// Lines as one text.
trait Lines {
    fn concat_lines(&self) -> String;
}

impl Lines for Vec<String> {
    fn concat_lines(&self) -> String {
        self.iter().map(|line| format!("{line}\n")).collect()
    }
}
