//! Who hears of a benchmark beside its user: what writes files that pgbench does not have.

use pgdyno_measure::Interval;
use pgdyno_net::{Admin, ConnectOptions};

use crate::messages::Failure;
use crate::options::RunOptions;
use crate::run::ran::Ran;

/// Hears of one benchmark. Nothing of it is wanted by pgbench's own output, which is the same without one.
pub trait Witness {
    /// The options were read, and nothing was done yet.
    ///
    /// # Errors
    /// When there is no use in beginning: it ends here.
    fn options(&mut self, _options: &RunOptions) -> Result<(), Failure> {
        Ok(())
    }

    /// The tables are as they should be; clients connect next. `admin` is the connection that saw to it, by `target`.
    ///
    /// # Errors
    /// When there is no use in beginning: it ends here.
    fn set_up(&mut self, _target: &ConnectOptions, _admin: &mut Admin) -> Result<(), Failure> {
        Ok(())
    }

    /// The clients are connected, and begin.
    fn started(&mut self) {}

    /// An interval ended.
    fn interval(&mut self, _interval: &Interval) {}

    /// It is over, and the report was printed.
    ///
    /// # Errors
    /// With what could not be written. Where all else went well, the exit code is this failure's.
    fn ended(&mut self, _options: &RunOptions, _ran: &Ran) -> Result<(), Failure> {
        Ok(())
    }
}

/// Nobody.
impl Witness for () {}
