//! The database that a single step works on: `load`, `check` or `drop`.

use std::sync::Arc;

use pgdyno_load::{DataState, LoadError};
use pgdyno_net::{Admin, ConnectOptions, Stop};
use pgdyno_plan::{TargetOrder, WorkloadOrder};
use pgdyno_workload::{Capabilities, Workload};

use super::loaded::loaded;
use super::{DataAccess, admit_size};
use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::interrupt::Interrupt;
use crate::plan::workload_source::{ClientSetup, WorkloadSource};
use crate::target::reach::is_null;
use crate::target::{Target, TargetServer, named};

/// The database of a single step.
pub struct Reached {
    server: TargetServer,
    options: ConnectOptions,
    caps: Capabilities,
    events: Arc<dyn EventSink>,
}

impl Reached {
    /// Connects to the database of a given server, or of the kept private one. Returns the connection, too.
    ///
    /// # Errors
    /// When the workload has no data, or the server cannot be reached.
    pub fn reach(
        order: &TargetOrder,
        workload: &Workload,
        interrupt: &Interrupt,
        events: Arc<dyn EventSink>,
    ) -> Result<(Self, Admin)> {
        if workload.data.is_empty() {
            return Err(CommandError::new(Code::Start, format!("{} has no data", workload.meta.id)));
        }
        // The first database of a command receives reports of long waits.
        let _ = interrupt.events.set(Arc::clone(&events));
        let server = Target::resolve(order)?.reach(order)?;
        let Some(options) = server.options().map(|options| interrupt.options(options)) else {
            return Err(CommandError::new(Code::Start, "there is no server to reach"));
        };
        let mut admin = Admin::connect(&options).or_fail(Code::Start)?;
        if is_null(&admin) {
            return Err(CommandError::new(Code::Start, format!("{options} is a null server, which keeps no data")));
        }
        events.note(&format!("target: {}", named(&mut admin, &options, &server.origin)?));
        let caps = pgdyno_server::capabilities(&mut admin, &options).or_fail(Code::Start)?;
        Ok((Self { server, options, caps, events }, admin))
    }

    /// Returns what its server can do.
    #[must_use]
    pub fn caps(&self) -> &Capabilities {
        &self.caps
    }

    /// Returns how to connect for code that handles signals itself.
    #[must_use]
    pub fn plain(&self) -> &ConnectOptions {
        self.server.options().unwrap_or(&self.options)
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// When the server refuses it.
    pub fn admin(&self) -> Result<Admin> {
        Admin::connect(&self.options).or_fail(Code::Start)
    }

    /// Returns the workload. The size and parameters that the arguments leave open are those of the loaded data.
    ///
    /// # Errors
    /// When the data is missing, unfinished, damaged or another program's.
    pub fn as_loaded(
        &self,
        admin: &mut Admin,
        order: &WorkloadOrder,
        source: &WorkloadSource,
        workload: &Workload,
    ) -> Result<Workload> {
        match loaded(admin, workload)? {
            Some(loaded) if loaded.complete => {
                if let Some(maker) = &loaded.maker {
                    self.events.note(&format!("data loaded by {maker}"));
                }
                let workload = source.build(order, None, Some(&loaded), &ClientSetup::NONE)?;
                for data in &workload.data {
                    admit_size(admin, data.as_ref())?;
                }
                Ok(workload)
            }
            partial => {
                let id = workload.meta.id;
                for data in &workload.data {
                    match pgdyno_load::state(admin, data.as_ref()).or_fail(Code::Load)? {
                        DataState::Partial { damage, .. } if !damage.is_empty() => {
                            let error = format!("{} holds damaged data of {id}: {}", self.options, damage.join("; "));
                            let hint = format!("restore that, or load again with `pgdyno load {id} --replace`");
                            return Err(CommandError::new(Code::Check, error).hint(hint));
                        }
                        DataState::Taken(taken) => {
                            return Err(CommandError::new(Code::Load, LoadError::Taken(Box::new(taken))));
                        }
                        _ => {}
                    }
                }
                let (what, does) = match partial {
                    Some(_) => ("an unfinished load", "resumes it"),
                    None => ("no data", "loads it"),
                };
                let error = format!("{} holds {what} of {id}", self.options);
                Err(CommandError::new(Code::Start, error).hint(format!("`pgdyno load {id}` {does}")))
            }
        }
    }

    /// Returns the access for steps of the life cycle.
    pub fn access<'a>(&'a self, stop: &'a Stop) -> DataAccess<'a> {
        for note in &self.server.notes {
            self.events.warn(note);
        }
        let data_dir = self.server.data_dir();
        DataAccess { options: &self.options, caps: &self.caps, events: &*self.events, stop, data_dir }
    }
}
