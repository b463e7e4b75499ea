//! Experiments, searches and frontiers in the store: a record each, which grows as long as the study goes on.

use std::collections::BTreeSet;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pgdyno_net::quote::literal;
use pgdyno_results::{Study, StudyKind};
use pgdyno_text::hex;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::error::{CentralError, io_error};
use crate::schema;
use crate::store::{
    PUSHES_MAX, Pushed, Store, StoredItem, StoredKind, json_literal, retain_deleted, text_literal, utc,
};

/// The file of a study's record.
#[derive(Clone, Debug)]
pub struct StudyFile {
    /// What it says.
    pub study: Study,
    content: Vec<u8>,
}

impl StudyFile {
    /// Reads the record at `path`.
    ///
    /// # Errors
    /// When it cannot be read, is no record of this kind, or has a newer format.
    pub fn read(kind: StudyKind, path: &Path) -> Result<Self, CentralError> {
        let content = pgdyno_results::read_ordinary(path).map_err(io_error("read", path))?;
        let study = Study::parse(kind, path, &String::from_utf8_lossy(&content))?;
        Ok(Self { study, content })
    }

    /// Returns the SHA-256 of the file.
    #[must_use]
    pub fn digest(&self) -> String {
        hex(&Sha256::digest(&self.content))
    }

    /// Returns the length of the file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.content.len() as u64
    }
}

impl Store {
    /// Stores the record of a study. An earlier state of the same study, one whose runs the record all has, is replaced;
    /// the same record is left as it is. Where the connection is lost, it tries again for some seconds.
    ///
    /// # Errors
    /// When another state is there and `replace` is false, or the store refuses it, or is too old for studies.
    pub fn push_study(&mut self, file: &StudyFile, replace: bool) -> Result<Pushed, CentralError> {
        self.in_time(file.bytes(), |store| store.attempt_study(file, replace))
    }

    fn attempt_study(&mut self, file: &StudyFile, replace: bool) -> Result<Pushed, CentralError> {
        let StudyFile { study, .. } = file;
        if !self.has_studies() {
            return Err(CentralError::NoStudies { database: self.options().dbname().to_owned() });
        }
        let (id, digest) = (text_literal(&study.id), file.digest());
        for _ in 0..PUSHES_MAX {
            let stored = self.stored_studies(&format!("WHERE study = {id}"))?.pop();
            if let Some((stored, runs)) = &stored {
                if stored.digest == digest {
                    return Ok(Pushed::WasThere);
                }
                let ours: BTreeSet<_> = study.runs.iter().collect();
                let goes_on = stored.kind == StoredKind::Study(study.kind) && runs.iter().all(|run| ours.contains(run));
                if !goes_on && !replace {
                    let StoredItem { kind, name, pushed_at, pushed_by, .. } = stored.clone();
                    return Err(CentralError::Differs { kind: kind.name(), name, pushed_at, pushed_by });
                }
            }
            // Another process may have stored it meanwhile.
            if self.write_study(file, stored.as_ref().map(|(stored, _)| &*stored.digest))? {
                return Ok(if stored.is_some() { Pushed::Replaced } else { Pushed::Stored });
            }
        }
        Err(CentralError::Contended { name: study.id.clone() })
    }

    /// Writes a study if the store has none of its name, or the one with this digest. Returns false if it has another one.
    fn write_study(&mut self, file: &StudyFile, instead_of: Option<&str>) -> Result<bool, CentralError> {
        let StudyFile { study, content } = file;
        let record: Value = serde_json::from_slice(content).unwrap_or_default();
        let conflict = match instead_of {
            None => "DO NOTHING".to_owned(),
            Some(digest) => format!(
                "DO UPDATE SET kind = excluded.kind, digest = excluded.digest,
                 started_at = excluded.started_at, status = excluded.status, workload = excluded.workload,
                 runs = excluded.runs, record = excluded.record, content = excluded.content,
                 pushed_at = excluded.pushed_at, pushed_by = excluded.pushed_by WHERE studies.digest = {}",
                text_literal(digest)
            ),
        };
        let sql = format!(
            "INSERT INTO pgdyno_results.studies (study, kind, digest, started_at, status, workload, runs, record, content)
             VALUES ({}, {}, {}, {}, {}, {}, ARRAY[{}]::text[], {}, decode('{}', 'base64'))
             ON CONFLICT (study) {conflict}",
            text_literal(&study.id),
            literal(study.kind.name()),
            literal(&file.digest()),
            text_literal(&study.started_at),
            text_literal(&study.status),
            text_literal(&study.workload),
            study.runs.iter().map(|run| text_literal(run)).collect::<Vec<_>>().join(", "),
            json_literal(record),
            STANDARD.encode(content),
        );
        Ok(self.change(&sql)? > 0)
    }

    /// Returns the studies of the store, the oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn studies(&mut self) -> Result<Vec<StoredItem>, CentralError> {
        Ok(self.stored_studies("")?.into_iter().map(|(stored, _)| stored).collect())
    }

    /// Returns studies, and the names of their runs.
    pub(crate) fn stored_studies(&mut self, condition: &str) -> Result<Vec<(StoredItem, Vec<String>)>, CentralError> {
        if !self.has_studies() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "SELECT kind, study, digest, {}, status, workload, length(content), {}, pushed_by, to_json(runs)
             FROM pgdyno_results.studies {condition} ORDER BY studies.started_at, study",
            utc("started_at"),
            utc("pushed_at"),
        );
        let rows = self.ask(&sql)?;
        let study = |row: Vec<Option<String>>| {
            let kind = StudyKind::named(row.first()?.as_deref()?)?;
            let runs = row.get(9)?.as_deref().and_then(|runs| serde_json::from_str(runs).ok()).unwrap_or_default();
            Some((StoredItem::of_row(StoredKind::Study(kind), row.into_iter().skip(1)), runs))
        };
        // A newer program may know more kinds.
        Ok(rows.into_iter().filter_map(study).collect())
    }

    /// Returns the names of the runs of a study.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn runs_of(&mut self, study: &str) -> Result<Vec<String>, CentralError> {
        let found = self.stored_studies(&format!("WHERE study = {}", text_literal(study)))?.pop();
        Ok(found.map_or_else(Vec::new, |(_, runs)| runs))
    }

    /// Deletes studies, as [`Store::prune`] does.
    pub(crate) fn prune_studies(&mut self, condition: &str, only_list: bool) -> Result<Vec<StoredItem>, CentralError> {
        let mut old: Vec<_> = self.stored_studies(condition)?.into_iter().map(|(stored, _)| stored).collect();
        if !only_list && !old.is_empty() {
            let names: Vec<_> = old.iter().map(|study| literal(&study.name)).collect();
            let sql =
                format!("DELETE FROM pgdyno_results.studies WHERE study IN ({}) RETURNING study", names.join(", "));
            let options = self.options().clone();
            let deleted = self.admin().query(&sql).map_err(|error| schema::not_allowed(error, &options, "write to"))?;
            retain_deleted(&mut old, &deleted.rows);
        }
        Ok(old)
    }

    /// Changes something that the role may not be allowed to write. Returns the number of rows.
    fn change(&mut self, sql: &str) -> Result<u64, CentralError> {
        let options = self.options().clone();
        self.admin().execute(sql).map_err(|error| schema::not_allowed(error, &options, "write to"))
    }
}
