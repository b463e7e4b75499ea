//! The servers of a run beside its target: that of the queries, and the readers.

use pgdyno_net::ConnectOptions;
use pgdyno_plan::{TargetName, TargetOrder};

use crate::exit_code::Code;
use crate::failure::{CommandError, Result};
use crate::plan::resolve::RunRequest;
use crate::target::{Target, TargetServer};

/// A server beside the target, as an order names it.
pub struct OtherServer {
    /// Its name in plans, without a password.
    pub name: String,
    /// How to connect to it; `None` for the standby of a private pair, which has not been started.
    pub options: Option<ConnectOptions>,
}

impl OtherServer {
    /// Returns how to connect to it, now that the target is there.
    ///
    /// # Errors
    /// When the standby of the pair cannot be named.
    pub(crate) fn reach(self, target: &TargetServer) -> Result<(String, ConnectOptions)> {
        let options = match self.options {
            Some(options) => Some(options),
            None => target.standby()?,
        };
        match options {
            Some(options) => Ok((self.name, options)),
            None => Err(CommandError::new(Code::Server, format!("the target has no standby for {}", self.name))),
        }
    }
}

impl RunRequest {
    /// Finds the other server of queries, if the order names one.
    ///
    /// # Errors
    /// When it cannot be read, or is no server.
    pub fn analytics(&self) -> Result<Option<OtherServer>> {
        let named = self.order.analytics.target.as_deref();
        named.map(|named| self.other_server("--analytics-target", named)).transpose()
    }

    /// Finds the readers that the order names.
    ///
    /// # Errors
    /// When one of them cannot be read, or is no server.
    pub fn readers(&self) -> Result<Vec<OtherServer>> {
        self.order.drive.readers.iter().map(|named| self.other_server("--reader", named)).collect()
    }

    fn other_server(&self, option: &str, named: &str) -> Result<OtherServer> {
        let of_target = &self.order.target;
        if named == TargetName::STANDBY && of_target.shown_as.is_none() && Target::resolve(of_target)?.is_pair() {
            return Ok(OtherServer { name: named.to_owned(), options: None });
        }
        let config = of_target.config.clone();
        let order = TargetOrder { target: Some(named.into()), config, ..TargetOrder::default() };
        let target = Target::resolve(&order)?;
        let Some(options) = target.given() else {
            let error = format!("{option} {named} is no server that could have the same data as the target");
            return Err(CommandError::new(Code::Start, error).hint(
                "name a standby of the target by a connection string, or by its name in pgdyno.toml; `standby` is that of \
                 --target embedded:ha",
            ));
        };
        Ok(OtherServer { name: target.name().into(), options: Some(options.clone()) })
    }
}
