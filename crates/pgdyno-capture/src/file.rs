//! The file of a capture: a zip archive of JSON.

use std::io::{Read, Seek, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::form::{
    CaptureRecord, CapturedStatement, CapturedTransaction, FLOWS_MAX, FORMAT_VERSION, PROFILE_DRAWS, PROFILES_MAX,
    ParameterFlow, STEPS_MAX, TransactionStep, ValueProfile,
};

/// The members: what is small, the statements, and the relations.
const HEAD: &str = "capture.json";
const STATEMENTS: &str = "statements.json";
const RELATIONS: &str = "relations.json";

/// The member that only captures with a log have.
const TRANSACTIONS: &str = "transactions.json";

/// Bytes of a member that are read: far more than the server's counters can fill.
const MEMBER_MAX: u64 = 64 << 20;

/// Why a capture cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// It is no archive, or a damaged one.
    #[error("it is no capture, or a damaged one: {0}")]
    Archive(#[from] ZipError),
    /// A member is missing.
    #[error("it is no capture: it has no {0}")]
    Missing(&'static str),
    /// A member is too large.
    #[error("{0} is larger than 64 MiB: no capture is")]
    TooLarge(&'static str),
    /// A member cannot be written, or is not what a capture has.
    #[error("{member} of the capture: {source}")]
    Malformed {
        /// The member.
        member: &'static str,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A figure is none that a server counts.
    #[error("{0} is none that a server counts")]
    Absurd(&'static str),
    /// A newer version wrote it.
    #[error("its format is {found}, and this version reads {FORMAT_VERSION}")]
    Newer {
        /// The format.
        found: u32,
    },
}

/// Writes a capture.
///
/// # Errors
/// Those of `out`.
pub fn write(capture: &CaptureRecord, out: impl Write + Seek) -> Result<(), FileError> {
    let mut archive = ZipWriter::new(out);
    put(&mut archive, HEAD, &capture.head)?;
    put(&mut archive, STATEMENTS, &capture.statements)?;
    put(&mut archive, RELATIONS, &capture.relations)?;
    if let Some(transactions) = &capture.transactions {
        put(&mut archive, TRANSACTIONS, transactions)?;
    }
    archive.finish()?.flush().map_err(ZipError::from)?;
    Ok(())
}

fn put<T: Serialize>(
    archive: &mut ZipWriter<impl Write + Seek>,
    name: &'static str,
    value: &T,
) -> Result<(), FileError> {
    archive.start_file(name, SimpleFileOptions::default())?;
    serde_json::to_writer(archive, value).map_err(|source| FileError::Malformed { member: name, source })
}

/// Reads a capture. It may come from anyone: what is read is limited.
///
/// # Errors
/// When it is no capture, is damaged, or was written by a newer version.
pub fn read(file: impl Read + Seek) -> Result<CaptureRecord, FileError> {
    let mut archive = ZipArchive::new(file)?;
    let head = bytes(&mut archive, HEAD)?;
    let Format { format_version: found } = parsed(HEAD, &head)?;
    if found > FORMAT_VERSION {
        return Err(FileError::Newer { found });
    }
    let head = parsed(HEAD, &head)?;
    let statements = parsed(STATEMENTS, &bytes(&mut archive, STATEMENTS)?)?;
    let relations = parsed(RELATIONS, &bytes(&mut archive, RELATIONS)?)?;
    let transactions = match bytes(&mut archive, TRANSACTIONS) {
        Err(FileError::Missing(_)) => None,
        bytes => Some(parsed(TRANSACTIONS, &bytes?)?),
    };
    admit(CaptureRecord { head, statements, relations, transactions })
}

/// The greatest figure of a capture.
const FIGURE_MAX: f64 = 1e18;

/// The longest window, in seconds.
const WINDOW_MAX_S: f64 = 1e8;

/// Refuses figures that no server counts: a workload is made of them.
fn admit(capture: CaptureRecord) -> Result<CaptureRecord, FileError> {
    let seconds = capture.head.window.seconds;
    if !(seconds > 0.0 && seconds <= WINDOW_MAX_S) {
        return Err(FileError::Absurd("the length of its window"));
    }
    let is_counted = |statement: &CapturedStatement| {
        let CapturedStatement { calls, rows, exec_time_ms, shared_blks_hit, shared_blks_read, .. } = statement;
        [calls, rows, exec_time_ms, shared_blks_hit, shared_blks_read]
            .iter()
            .all(|figure| (0.0..=FIGURE_MAX).contains(*figure))
    };
    if !capture.statements.iter().all(is_counted) {
        return Err(FileError::Absurd("a figure of a statement"));
    }
    let mut kinds = capture.transactions.iter().flat_map(|transactions| &transactions.kinds);
    if !kinds.all(|kind| is_transaction(kind, capture.statements.len())) {
        return Err(FileError::Absurd("a transaction"));
    }
    let profiles = capture.transactions.as_ref().map_or(&[][..], |transactions| &transactions.profiles);
    if profiles.len() > PROFILES_MAX || !profiles.iter().all(|profile| is_profile(profile, capture.statements.len())) {
        return Err(FileError::Absurd("how often values are repeated"));
    }
    Ok(capture)
}

/// Returns true if a transaction is one of these statements, and its parameters have values of earlier ones.
fn is_transaction(kind: &CapturedTransaction, statements: usize) -> bool {
    let is_step = |step: &TransactionStep| step.statement < statements && (1.0..=FIGURE_MAX).contains(&step.calls_mean);
    let is_flow = |flow: &ParameterFlow| {
        let is_same = flow.step == flow.from_step && flow.parameter == flow.from_parameter;
        flow.step < kind.steps.len() && (flow.from_step < flow.step || is_same)
    };
    kind.count as f64 <= FIGURE_MAX
        && (1..=STEPS_MAX).contains(&kind.steps.len())
        && kind.steps.iter().all(is_step)
        && kind.flows.len() <= FLOWS_MAX
        && kind.flows.iter().all(is_flow)
}

/// Returns true if a profile is one of these statements, and can be that of its draws.
fn is_profile(profile: &ValueProfile, statements: usize) -> bool {
    let ValueProfile { statement, parameter, draws, distinct, most_frequent } = profile;
    *statement < statements
        && *parameter > 0
        && PROFILE_DRAWS.contains(draws)
        && (1..=*draws).contains(distinct)
        && most_frequent.len() == distinct.ilog2() as usize + 1
        && most_frequent.is_sorted()
        && most_frequent.iter().all(|of_first| of_first <= draws)
}

/// What every version has.
#[derive(Deserialize)]
struct Format {
    format_version: u32,
}

fn bytes(archive: &mut ZipArchive<impl Read + Seek>, name: &'static str) -> Result<Vec<u8>, FileError> {
    let file = match archive.by_name(name) {
        Err(ZipError::FileNotFound) => return Err(FileError::Missing(name)),
        file => file?,
    };
    let mut bytes = Vec::new();
    file.take(MEMBER_MAX + 1).read_to_end(&mut bytes).map_err(ZipError::from)?;
    if bytes.len() as u64 > MEMBER_MAX {
        return Err(FileError::TooLarge(name));
    }
    Ok(bytes)
}

fn parsed<T: DeserializeOwned>(member: &'static str, bytes: &[u8]) -> Result<T, FileError> {
    serde_json::from_slice(bytes).map_err(|source| FileError::Malformed { member, source })
}
