//! Pressure on a machine: processes that wait for CPU, I/O or memory, swapping, and TCP segments sent again.
//!
//! Kernels and containers lack some of these files; what is missing is `None`.

use super::proc::ProcTexts;

/// Counts since the machine's start. Sources: the kernel's documentation `accounting/psi`, proc_vmstat(5), proc_net_snmp(5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pressure {
    /// Time in which at least one process waited for a CPU, for I/O and for memory, in microseconds.
    waited_us: [Option<u64>; 3],
    swapped_in: Option<u64>,
    swapped_out: Option<u64>,
    /// TCP segments sent, and those of them that were sent again.
    segments: Option<(u64, u64)>,
}

/// Pressure between two looks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PressureUse {
    pub(crate) cpu: Option<f64>,
    pub(crate) io: Option<f64>,
    pub(crate) memory: Option<f64>,
    pub(crate) swap_in_pages: Option<f64>,
    pub(crate) swap_out_pages: Option<f64>,
    pub(crate) retransmitted: Option<f64>,
}

impl Pressure {
    pub(crate) fn parse(texts: &ProcTexts) -> Self {
        let vmstat = |name: &str| {
            let line = texts.file("vmstat").lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.and_then(|number| number.trim().parse().ok())
        };
        Self {
            waited_us: ["pressure/cpu", "pressure/io", "pressure/memory"].map(|file| waited_us(texts.file(file))),
            swapped_in: vmstat("pswpin"),
            swapped_out: vmstat("pswpout"),
            segments: segments(texts.file("net/snmp")),
        }
    }

    /// Returns the pressure since an earlier look, `seconds` ago.
    pub(crate) fn since(&self, earlier: &Self, seconds: f64) -> PressureUse {
        let rate = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?) as f64 / seconds);
        let share = |nth: usize| Some((rate(self.waited_us[nth], earlier.waited_us[nth])? / 1e6).min(1.0));
        let sent_again = |now: (u64, u64), then: (u64, u64)| {
            let (sent, again) = (now.0.saturating_sub(then.0), now.1.saturating_sub(then.1));
            if sent == 0 { 0.0 } else { (again as f64 / sent as f64).min(1.0) }
        };
        PressureUse {
            cpu: share(0),
            io: share(1),
            memory: share(2),
            swap_in_pages: rate(self.swapped_in, earlier.swapped_in),
            swap_out_pages: rate(self.swapped_out, earlier.swapped_out),
            retransmitted: self.segments.zip(earlier.segments).map(|(now, then)| sent_again(now, then)),
        }
    }
}

/// Returns the total of the line `some avg10=… avg60=… avg300=… total=…`.
fn waited_us(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    line.split_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

/// Returns the TCP segments sent, and those sent again. The file has a line of names and a line of numbers for each protocol.
fn segments(text: &str) -> Option<(u64, u64)> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp: "));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let number = |name: &str| {
        let nth = names.split_whitespace().position(|known| known == name)?;
        numbers.split_whitespace().nth(nth)?.parse().ok()
    };
    Some((number("OutSegs")?, number("RetransSegs")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(cpu_us: u64, pages: u64, sent: u64) -> ProcTexts {
        let mut texts = ProcTexts::default();
        let mut set = |name: &str, text: String| *texts.place(name).unwrap() = text;
        set("pressure/cpu", format!("some avg10=7.1 avg60=4.5 avg300=2.1 total={cpu_us}\nfull avg10=0 total=9\n"));
        set("vmstat", format!("nr_free_pages 5\npswpin {pages}\npswpout 7\n"));
        set("net/snmp", format!("Ip: A\nIp: 1\nTcp: InSegs OutSegs RetransSegs\nTcp: 5 {sent} {}\n", sent / 10));
        texts
    }

    #[test]
    fn what_grew_is_a_share_or_a_rate() {
        let [before, after] =
            [texts(1_000_000, 10, 100), texts(2_000_000, 50, 300)].map(|texts| Pressure::parse(&texts));
        let used = after.since(&before, 2.0);
        assert_eq!((used.cpu, used.io, used.memory), (Some(0.5), None, None));
        assert_eq!((used.swap_in_pages, used.swap_out_pages), (Some(20.0), Some(0.0)));
        assert_eq!(used.retransmitted, Some(0.1));
        assert_eq!(before.since(&after, 2.0).cpu, Some(0.0));
        assert_eq!(Pressure::parse(&ProcTexts::default()).since(&before, 1.0), PressureUse::default());
    }

    #[test]
    fn broken_lines_are_nothing() {
        for text in ["some", "some total=x", "full total=1"] {
            assert_eq!(waited_us(text), None, "{text}");
        }
        for text in ["Tcp: OutSegs RetransSegs", "Tcp: OutSegs RetransSegs\nTcp: 1", "Tcp: A\nTcp: 1"] {
            assert_eq!(segments(text), None, "{text}");
        }
    }
}
