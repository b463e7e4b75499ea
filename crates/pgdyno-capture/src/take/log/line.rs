//! A line of a log: who executed which statement when.

use serde::{Deserialize, Deserializer};

use super::records::{LogFormat, fields};

/// A line, as far as it is used. The names are those of `jsonlog`, and of the entries of managed services, which have a line in stderr's form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct LogLine {
    /// The time in the zone of `log_timezone`, with milliseconds and the zone's name; in UTC in an entry of a service.
    #[serde(alias = "time", alias = "TimeGenerated")]
    pub(super) timestamp: String,
    /// The database.
    #[serde(rename = "dbname")]
    pub(super) database: String,
    pub(super) session_id: String,
    /// What the session does, as `ps` shows it: the command, `PARSE` or `BIND`.
    pub(super) ps: String,
    /// The virtual identifier of the transaction.
    pub(super) vxid: String,
    /// The SQLSTATE.
    pub(super) state_code: String,
    pub(super) message: String,
    #[serde(alias = "Detail", deserialize_with = "text_or_null")]
    pub(super) detail: String,
    /// The statement's identifier, 0 if the server computes none.
    pub(super) query_id: i64,
    /// A line in stderr's form, in an entry of Google Cloud Logging or a row of Azure Monitor.
    #[serde(rename = "textPayload", alias = "Message")]
    pub(super) payload: Option<String>,
    /// The same in a record of Azure Monitor.
    pub(super) properties: Option<AzureProperties>,
    /// Whether the form of the log has no identifier of the transaction.
    #[serde(skip)]
    pub(super) lacks_transaction: bool,
}

/// Properties of a record of Azure Monitor (category `PostgreSQLLogs`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct AzureProperties {
    /// The line without its detail.
    message: Option<String>,
    #[serde(deserialize_with = "text_or_null")]
    detail: String,
}

fn text_or_null<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(Option::<String>::deserialize(from)?.unwrap_or_default())
}

impl LogLine {
    /// Returns a line from a record of CSV or JSON, if it is one.
    pub(super) fn of(record: &[u8], format: LogFormat) -> Option<Self> {
        match format {
            LogFormat::Json => {
                // Servers write names and statements in the encoding of each database.
                let mut line: Self = serde_json::from_str(&String::from_utf8_lossy(record)).ok()?;
                if let Some(AzureProperties { message, detail }) = line.properties.take() {
                    (line.payload, line.detail) = (message, detail);
                }
                return Some(line);
            }
            LogFormat::Stderr => return None,
            LogFormat::Csv => {}
        }
        // PostgreSQL 13 has 24 columns; later ones have further columns at the end.
        let mut fields = fields(&String::from_utf8_lossy(record));
        let query_id = fields.get(25).and_then(|field| field.parse().ok()).unwrap_or_default();
        if fields.len() < 24 {
            return None;
        }
        let mut take = |place: usize| std::mem::take(&mut fields[place]);
        Some(Self {
            timestamp: take(0),
            database: take(2),
            session_id: take(5),
            ps: take(7),
            vxid: take(9),
            state_code: take(12),
            message: take(13),
            detail: take(14),
            query_id,
            ..Self::default()
        })
    }

    /// Returns the session.
    pub(super) fn session(&self) -> &str {
        &self.session_id
    }

    /// Returns the number of the transaction; `None` after its end, and for a statement that was one by itself in the simple protocol.
    pub(super) fn transaction(&self) -> Option<&str> {
        self.vxid.split_once('/').map(|(_, number)| number).filter(|number| *number != "0" && !number.is_empty())
    }

    /// Returns true if it is the error of a statement: neither success nor a warning.
    pub(super) fn is_error(&self) -> bool {
        !self.state_code.is_empty() && !["00", "01", "02"].iter().any(|class| self.state_code.starts_with(class))
    }

    /// Returns the text that was executed. The words of the message may be in any language: `duration: 0.123 ms  execute a: SELECT 1`.
    pub(super) fn executed(&self) -> Option<&str> {
        if self.ps == "PARSE" || self.ps == "BIND" {
            return None;
        }
        let after = after_duration(&self.message)?;
        let (label, text) = after.split_once(": ").or_else(|| after.split_once('：'))?;
        // Where the server does not set titles of processes, only the message has it.
        let is_other = label.contains('\n')
            || ["parse ", "bind ", "execute fetch from "].iter().any(|word| label.trim().starts_with(word));
        (!is_other).then_some(text)
    }

    /// Returns the values of parameters by their numbers, from `$1` on: `Parameters: $1 = '5', $2 = NULL`.
    pub(super) fn parameters(&self) -> Vec<Option<String>> {
        let mut values = Vec::new();
        let Some(mut rest) = self.detail.find("$1 = ").map(|at| &self.detail[at..]) else { return values };
        loop {
            let begin = format!("${} = ", values.len() + 1);
            let Some(after) = rest.strip_prefix(&begin) else { return values };
            let (value, after) = match after.strip_prefix('\'') {
                Some(quoted) => match value(quoted) {
                    Some((value, after)) => (Some(value), after),
                    None => return values,
                },
                None => (None, after.strip_prefix("NULL").unwrap_or_default()),
            };
            values.push(value);
            rest = after.strip_prefix(", ").unwrap_or_default();
        }
    }
}

/// Returns what follows the first `123.456 ` and its unit.
fn after_duration(message: &str) -> Option<&str> {
    let number = &message[message.find(|c: char| c.is_ascii_digit())?..];
    let (whole, after) = number.split_once(['.', ','])?;
    let decimals = after.get(..3)?;
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let after = after[3..].strip_prefix(' ')?;
    (is_number(whole) && is_number(decimals)).then(|| after.split_once(' ').map(|(_, after)| after)).flatten()
}

/// Returns the value whose opening quote precedes the text, and what follows its end. Two quotes within it are one.
fn value(text: &str) -> Option<(String, &str)> {
    let (mut value, mut rest) = (String::new(), text);
    loop {
        let (part, after) = rest.split_once('\'')?;
        value += part;
        match after.strip_prefix('\'') {
            Some(after) => {
                value.push('\'');
                rest = after;
            }
            None => return Some((value, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(message: &str, ps: &str) -> LogLine {
        LogLine { message: message.to_owned(), ps: ps.to_owned(), ..LogLine::default() }
    }

    #[test]
    fn a_line_of_each_format_is_read() {
        let csv = "2026-11-28 15:01:27.584 CET,\"app\",\"shop\",3440,\"[local]\",6b0aecc7.d70,3,\"INSERT\",\
                   2026-11-28 15:01:27 CET,3/17,725,LOG,00000,\"duration: 0.236 ms  statement: insert into t values (1,'it''s\nof \"\"2\"\"')\"\
                   ,\"parameters: $1 = '5'\",,,,,,,,\"psql\",\"client backend\"";
        let line = LogLine::of(format!("{csv}\n").as_bytes(), LogFormat::Csv).unwrap();
        assert_eq!((line.database.as_str(), line.session(), line.transaction()), ("shop", "6b0aecc7.d70", Some("17")));
        assert_eq!(line.executed(), Some("insert into t values (1,'it''s\nof \"2\"')"));
        let failed = csv.replace("LOG,00000", "ERROR,40001");
        assert!(!line.is_error() && LogLine::of(failed.as_bytes(), LogFormat::Csv).unwrap().is_error());
        assert_eq!((line.query_id, line.parameters()), (0, vec![Some("5".to_owned())]), "PostgreSQL 13");
        let later = LogLine::of(format!("{csv},,-1188886778293541203\n").as_bytes(), LogFormat::Csv).unwrap();
        assert_eq!(later.query_id, -1_188_886_778_293_541_203);
        let json = r#"{"timestamp":"2026-11-28 15:01:27.585 UTC","user":"app","dbname":"shop","pid":3440,"session_id":"6b0aecc7.d70",
            "ps":"COMMIT","vxid":"3/0","message":"duration: 0.035 ms  statement: commit","query_id":8085340880788646241}"#;
        let line = LogLine::of(json.as_bytes(), LogFormat::Json).unwrap();
        assert_eq!(
            (line.executed(), line.transaction(), line.query_id),
            (Some("commit"), None, 8_085_340_880_788_646_241)
        );
        // Of a database in LATIN1.
        let latin: Vec<u8> =
            json.replace("shop", "m~ller").bytes().map(|byte| if byte == b'~' { 0xfc } else { byte }).collect();
        let line = LogLine::of(&latin, LogFormat::Json).unwrap();
        assert_eq!((line.database.as_str(), line.executed()), ("m\u{fffd}ller", Some("commit")));
    }

    #[test]
    fn an_entry_of_a_service_has_a_line_and_its_detail() {
        let of = |json: &str| LogLine::of(json.as_bytes(), LogFormat::Json).unwrap();
        let google = of(r#"{"timestamp":"2026-11-28T15:01:27Z","textPayload":"a","severity":"INFO"}"#);
        let azure = of(
            r#"{"time":"2026-11-28T15:01:27Z","category":"PostgreSQLLogs","properties":{"prefix":"","message":"a","detail":"b"}}"#,
        );
        let row = of(r#"{"TimeGenerated":"2026-11-28T15:01:27Z","Message":"a","Detail":null,"ProcessId":7}"#);
        for (line, detail) in [(&google, ""), (&azure, "b"), (&row, "")] {
            assert_eq!((line.timestamp.as_str(), line.payload.as_deref()), ("2026-11-28T15:01:27Z", Some("a")));
            assert_eq!(line.detail, detail);
        }
        // A record of another category.
        assert_eq!(of(r#"{"time":"2026-11-28T15:01:27Z","properties":{"count":1}}"#).payload, None);
    }

    #[test]
    fn what_is_no_line_is_none() {
        for record in ["", "a,b", "\"", "{", "{\"message\":7}", "\u{0}"] {
            assert_eq!(LogLine::of(record.as_bytes(), LogFormat::Csv), None, "{record}");
            assert_eq!(LogLine::of(record.as_bytes(), LogFormat::Json), None, "{record}");
        }
        let csv = LogLine::of(&[b','; 30], LogFormat::Csv).unwrap();
        assert_eq!((csv.executed(), csv.transaction()), (None, None));
        let deep = "[".repeat(100_000);
        assert_eq!(LogLine::of(deep.as_bytes(), LogFormat::Json), None);
    }

    #[test]
    fn executions_are_found_in_any_language() {
        for (message, ps, wanted) in [
            ("duration: 0.012 ms  execute <unnamed>: select 1", "SELECT", Some("select 1")),
            ("duration: 0.012 ms  execute S_1/C_2: select a::int", "SELECT", Some("select a::int")),
            ("duration: 0.012 ms  bind <unnamed>: select 1", "BIND", None),
            ("duration: 0.012 ms  parse S_1: select 1", "", None),
            // Further rows of a statement that was executed.
            ("duration: 0.012 ms  execute fetch from S_1/C_2: select 1", "SELECT", None),
            ("Dauer: 0.012 ms  Ausführen <unnamed>: select 1", "SELECT", Some("select 1")),
            ("Dauer: 0.012 ms  Parsen S_1: select 1", "PARSE", None),
            ("durée : 12.345 ms, instruction : select 1", "SELECT", Some("select 1")),
            ("期間: 0.012 ミリ秒 文: select 1", "SELECT", Some("select 1")),
            ("duration: 0.012 ms", "SELECT", None),
            ("duration: 1.012 ms  plan:\nQuery Text: select 1", "SELECT", None),
            ("temporary file: path \"base/pgsql_tmp/pgsql_tmp1.0\", size 14", "SELECT", None),
            ("duration: 1.0é2 ms a: b", "SELECT", None),
            ("", "", None),
        ] {
            assert_eq!(with(message, ps).executed(), wanted, "{message}");
        }
    }

    #[test]
    fn parameters_are_read_as_far_as_they_are_whole() {
        let of = |detail: &str| LogLine { detail: detail.to_owned(), ..LogLine::default() }.parameters();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(of("parameters: $1 = 'a''b, $2 = ', $2 = NULL, $3 = ''"), [some("a'b, $2 = "), None, some("")]);
        assert_eq!(of("Parameter: $1 = '5', $2 = 'cut..."), [some("5")]);
        for detail in ["", "$1 = ", "$1 = '", "$2 = '5'", "prepare: PREPARE a AS SELECT $1"] {
            assert!(of(detail).iter().all(Option::is_none), "{detail}");
        }
    }
}
