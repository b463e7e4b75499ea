//! Named prepared statements without parameters, over the extended protocol.

use pgdyno_wire::frontend;

use crate::{Admin, AdminError};

impl Admin {
    /// Prepares `sql` as `name`.
    ///
    /// # Errors
    /// When the server refuses.
    pub fn prepare(&mut self, name: &str, sql: &str) -> Result<(), AdminError> {
        let mut out = Vec::new();
        frontend::parse(&mut out, name.as_bytes(), sql.as_bytes());
        self.exchange(out, sql)
    }

    /// Executes the statement `name`; its rows are dropped.
    ///
    /// # Errors
    /// When there is none of this name, or it fails.
    pub fn execute_prepared(&mut self, name: &str) -> Result<(), AdminError> {
        let mut out = Vec::new();
        frontend::bind_text(&mut out, name.as_bytes(), 0, &[]);
        frontend::execute(&mut out);
        self.exchange(out, name)
    }

    /// Deallocates the statement `name`. A missing one is no error.
    ///
    /// # Errors
    /// When the connection is lost.
    pub fn close_prepared(&mut self, name: &str) -> Result<(), AdminError> {
        let mut out = Vec::new();
        frontend::message(&mut out, b'C', |out| {
            out.push(b'S');
            frontend::cstr(out, name);
        });
        self.exchange(out, name)
    }

    fn exchange(&mut self, mut out: Vec<u8>, what: &str) -> Result<(), AdminError> {
        frontend::sync(&mut out);
        self.send(&out, what)?;
        self.answer(what, false).map(drop)
    }
}
