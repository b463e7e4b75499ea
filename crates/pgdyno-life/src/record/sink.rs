//! The recording of a run as an event sink: it begins when there is something to record, and takes intervals and warnings
//! beside the view.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pgdyno_results::{CycleRecord, ObjectiveRecord, RunRecord, TargetRecord, Warning};

use crate::events::{EventSink, RunEvent};
use crate::failure::Result;
use crate::plan::resolve::{Resolved, RunRequest};
use crate::record::Recording;

/// Records a run from the moment at which the run calls [`RecordSink::begin`]. Nothing is recorded before that.
pub(crate) struct RecordSink<'a> {
    request: &'a RunRequest,
    /// The plan at the beginning.
    draft: &'a Resolved,
    target: Option<TargetRecord>,
    recording: Mutex<Option<Recording>>,
}

impl<'a> RecordSink<'a> {
    pub(crate) fn new(request: &'a RunRequest, draft: &'a Resolved, target: Option<TargetRecord>) -> Self {
        Self { request, draft, target, recording: Mutex::new(None) }
    }

    /// Begins the record, unless it has begun.
    ///
    /// # Errors
    /// When its directory cannot be created.
    pub(crate) fn begin(&self) -> Result<()> {
        let mut recording = self.lock();
        if recording.is_none() {
            let order = &self.request.order;
            let Resolved { plan, workload, .. } = self.draft;
            let mut begun = Recording::begin(plan, &self.request.source, &workload.drive, order.results())?;
            begun.record.target.clone_from(&self.target);
            begun.record.labels = order.labels.iter().cloned().collect();
            let objective = |text: &String| ObjectiveRecord { objective: text.clone(), ..ObjectiveRecord::default() };
            begun.record.objectives = order.objectives.iter().map(objective).collect();
            *recording = Some(begun);
        }
        Ok(())
    }

    /// Changes the recording, if it has begun.
    pub(crate) fn edit(&self, change: impl FnOnce(&mut Recording)) {
        if let Some(recording) = self.lock().as_mut() {
            change(recording);
        }
    }

    /// Returns what `read` reads of the recording; the default if it has not begun.
    pub(crate) fn read<T: Default>(&self, read: impl FnOnce(&Recording) -> T) -> T {
        self.lock().as_ref().map(read).unwrap_or_default()
    }

    /// Returns the run directory.
    pub(crate) fn path(&self) -> PathBuf {
        self.read(|recording| recording.path().to_owned())
    }

    /// Adds steps to the record, and writes it.
    pub(crate) fn note_steps(&self, steps: &mut Vec<CycleRecord>) {
        self.edit(|recording| recording.note_steps(steps));
    }

    /// Adds a warning that is not shown while the run goes on.
    pub(crate) fn add_warning(&self, warning: Warning) {
        self.edit(|recording| recording.record.warnings.push(warning));
    }

    /// Returns a copy of the record, if it has begun.
    pub(crate) fn snapshot(&self) -> Option<RunRecord> {
        self.read(|recording| Some(recording.record.clone()))
    }

    /// Returns the recording, if it has begun.
    pub(crate) fn into_recording(self) -> Option<Recording> {
        self.recording.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Recording>> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for RecordSink<'_> {
    fn event(&self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Interval { interval } => self.edit(|recording| recording.interval(interval)),
            RunEvent::Warning { text } => self.add_warning(Warning::note(*text)),
            RunEvent::LeftOut { text } => self.add_warning(Warning::LeftOut { text: (*text).to_owned() }),
            _ => {}
        }
    }
}
