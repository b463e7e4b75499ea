//! Compares a setting as it was asked for with the value that the server shows: they are often written differently.

/// A setting as `pg_settings` has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shown {
    /// The name as the server writes it.
    pub(super) name: String,
    /// The value in its base unit.
    pub(super) setting: String,
    /// The base unit: `8kB`, `ms`; empty where there is none.
    pub(super) unit: String,
    /// `bool`, `integer`, `real`, `enum`, `string`.
    pub(super) vartype: String,
    /// The value as SHOW returns it.
    pub(super) value: String,
    /// Who may set it, and when. Source: PostgreSQL documentation, `pg_settings`.
    pub(super) context: String,
}

impl Shown {
    /// Returns true if the server may show this value after `asked` is set: with -1 the server often chooses the value
    /// that it shows.
    pub(super) fn may_come_of(&self, asked: &str) -> bool {
        self.is(asked) || asked.trim() == "-1" && matches!(self.vartype.as_str(), "integer" | "real")
    }

    /// Returns true if `asked` is another way to write this value.
    pub(super) fn is(&self, asked: &str) -> bool {
        let asked = asked.trim();
        match self.vartype.as_str() {
            "bool" => truth(asked).is_some_and(|asked| truth(&self.setting) == Some(asked)),
            "integer" => base(asked, &self.unit).map(f64::round) == self.setting.parse().ok(),
            "real" => match (base(asked, &self.unit), self.setting.parse::<f64>()) {
                (Some(asked), Ok(shown)) => (asked - shown).abs() <= 1e-6 * asked.abs().max(1e-6),
                _ => false,
            },
            "enum" => {
                asked.eq_ignore_ascii_case(&self.setting)
                    || truth(asked).is_some_and(|asked| truth(&self.setting) == Some(asked))
            }
            _ => asked == self.value || list(asked) == list(&self.value),
        }
    }
}

/// Parses a Boolean: any unambiguous prefix counts. Source: PostgreSQL, `parse_bool`.
fn truth(text: &str) -> Option<bool> {
    let text = text.to_ascii_lowercase();
    let begins = |word: &str, least: usize| text.len() >= least && word.starts_with(&text);
    match text.as_str() {
        "1" => Some(true),
        "0" => Some(false),
        _ if begins("true", 1) || begins("yes", 1) || begins("on", 2) => Some(true),
        _ if begins("false", 1) || begins("no", 1) || begins("off", 2) => Some(false),
        _ => None,
    }
}

/// Parses a number with or without a unit; returns it in the base unit.
fn base(text: &str, unit: &str) -> Option<f64> {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, given) = text.split_at(at);
    let number: f64 = number.trim().parse().ok()?;
    match given {
        "" => Some(number),
        _ => Some(number * size(given)? / size(unit)?),
    }
}

/// Returns the bytes or microseconds of a unit such as `8kB` or `min`.
fn size(unit: &str) -> Option<f64> {
    let at = unit.find(|c: char| c.is_ascii_alphabetic())?;
    let factor = if at == 0 { 1.0 } else { unit[..at].parse().ok()? };
    let one = match &unit[at..] {
        "B" => 1.0,
        "kB" => 1024.0,
        "MB" => 1024.0_f64.powi(2),
        "GB" => 1024.0_f64.powi(3),
        "TB" => 1024.0_f64.powi(4),
        "us" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        "min" => 60e6,
        "h" => 3600e6,
        "d" => 86_400e6,
        _ => return None,
    };
    Some(factor * one)
}

/// Returns the elements of a list, without spaces and quotes around them.
fn list(text: &str) -> Vec<&str> {
    text.split(',').map(|element| element.trim().trim_matches('"')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(vartype: &str, setting: &str, unit: &str) -> Shown {
        let text = str::to_owned;
        Shown {
            setting: text(setting),
            unit: text(unit),
            vartype: text(vartype),
            value: text(setting),
            ..Shown::default()
        }
    }

    #[test]
    fn what_means_the_same_is_the_same() {
        for (vartype, setting, unit, asked) in [
            ("integer", "16384", "8kB", "128MB"),
            ("integer", "16384", "8kB", "16384"),
            ("integer", "4096", "kB", "4 MB"),
            ("integer", "300", "s", "5min"),
            ("integer", "100", "", "100"),
            ("real", "0.9", "", "0.90"),
            ("real", "2", "ms", "2000us"),
            ("bool", "off", "", "false"),
            ("bool", "on", "", "ON"),
            ("enum", "on", "", "true"),
            ("enum", "replica", "", "Replica"),
            ("string", "a, b", "", "a,b"),
            ("string", "\"$user\", public", "", "\"$user\", public"),
            ("string", "", "", ""),
        ] {
            assert!(shown(vartype, setting, unit).is(asked), "{asked} is {setting}{unit}");
        }
    }

    #[test]
    fn what_is_left_to_the_server_may_be_anything() {
        assert!(shown("integer", "512", "8kB").may_come_of("-1"));
        assert!(!shown("integer", "512", "8kB").may_come_of("-2") && !shown("string", "a", "").may_come_of("-1"));
    }

    #[test]
    fn what_did_not_take_is_not_the_same() {
        for (vartype, setting, unit, asked) in [
            ("integer", "16384", "8kB", "129MB"),
            ("integer", "16384", "8kB", "16384kB"),
            ("integer", "300", "s", "5MB5"),
            ("integer", "100", "", "none"),
            ("integer", "512", "8kB", "-1"),
            ("real", "0.9", "", "0.91"),
            ("bool", "off", "", "on"),
            ("bool", "off", "", "o"),
            ("enum", "local", "", "on"),
            ("string", "a", "", "a,b"),
        ] {
            assert!(!shown(vartype, setting, unit).is(asked), "{asked} is not {setting}{unit}");
        }
    }
}
