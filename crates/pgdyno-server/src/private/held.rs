//! The private server of one run: it ends with its owner.

use pgdyno_net::Secret;
use rustix::process::Signal;

use crate::private::cache::{Cache, Keeping, KeptData, WantedData};
use crate::private::error::EmbeddedError;
use crate::private::fingerprint;
use crate::private::handle::Handle;
use crate::private::pipe::Order;
use crate::private::prepare::{Prepared, PrivateServerOptions, PrivateServerWarning, extra_settings, merge, prepare};
use crate::private::programs::want::Want;
use crate::private::progress::StartStep;
use crate::private::server::{PrivateServer, SUPERUSER};
use crate::private::sizing::Setting;
use crate::process;

/// A private server that ends with this value, or with this process, however that ends.
#[derive(Debug)]
pub struct HeldServer {
    handle: Handle,
    server: PrivateServer,
    /// Its settings without those of restarts.
    sized: Vec<Setting>,
    password: Option<Secret>,
    warnings: Vec<PrivateServerWarning>,
    cached: Option<KeptData>,
    /// The data that it is to have, and where it is kept.
    data: Option<(WantedData, Cache)>,
}

impl HeldServer {
    /// Starts one and waits until it accepts connections. Takes a second or two, and more if PostgreSQL must be
    /// downloaded. Calls `progress` at the start of each step.
    ///
    /// # Errors
    /// When PostgreSQL is not available or does not start; nothing is left of it then.
    pub fn start(
        want: &Want,
        options: &PrivateServerOptions,
        progress: &mut dyn FnMut(StartStep),
    ) -> Result<Self, EmbeddedError> {
        let Prepared { mut spec, sized, warnings } = prepare(want, options, false, progress)?;
        let wanted = options.data.clone().filter(|wanted| wanted.cache_bytes_max > 0);
        let data = wanted.map(|wanted| (wanted, Cache::at(&options.places)));
        // Nobody removes it until it is copied.
        let used = data.as_ref().filter(|(wanted, _)| !wanted.is_loaded_anew);
        let held = used.and_then(|(wanted, cache)| cache.find(&fingerprint::key(&wanted.identity, &spec.installation)));
        spec.data = held.as_ref().map(|held| held.data.clone());
        let mut handle = Handle::spawn(&options.supervisor, &spec)?;
        let mut is_empty = false;
        let server = handle.await_ready(&spec.installation, &mut |step| {
            is_empty |= matches!(step, StartStep::Initialising { .. });
            progress(step);
        })?;
        let cached = held.filter(|_| !is_empty).map(|held| held.entry);
        let password = match options.tcp {
            true => Some(server.set_password()?),
            false => None,
        };
        Ok(Self { handle, server, sized, password, warnings, cached, data })
    }

    /// Returns what it is and how to connect.
    #[must_use]
    pub fn server(&self) -> &PrivateServer {
        &self.server
    }

    /// Returns the superuser's password for TCP, if TCP was asked for.
    #[must_use]
    pub fn password(&self) -> Option<&Secret> {
        self.password.as_ref()
    }

    /// Returns warnings about its figures.
    #[must_use]
    pub fn warnings(&self) -> &[PrivateServerWarning] {
        &self.warnings
    }

    /// Returns the kept data that it began with a copy of.
    #[must_use]
    pub fn cached(&self) -> Option<&KeptData> {
        self.cached.as_ref()
    }

    /// Returns true if its data may be kept. A password would be kept with it.
    #[must_use]
    pub fn can_keep_data(&self) -> bool {
        self.data.is_some() && self.password.is_none()
    }

    /// Keeps a copy of its data, which is that of its options, for later servers: it is shut down cleanly and started again at its
    /// address.
    ///
    /// # Errors
    /// When it does not start again. Everything else is reported as a reason.
    pub fn keep_data(&mut self) -> Result<Keeping, EmbeddedError> {
        let Some((wanted, cache)) = self.data.clone().filter(|_| self.can_keep_data()) else {
            return Ok(Keeping::Not("this server keeps none".to_owned()));
        };
        let making = match cache.begin(self.server.data_bytes(), wanted.cache_bytes_max) {
            Ok(making) => making,
            Err(error) => return Ok(Keeping::Not(error.to_string())),
        };
        self.carry_out(&Order::CopyTo(making.data()))?;
        if let Some(refused) = self.server.refused.take() {
            return Ok(Keeping::Not(refused.what));
        }
        let build = &self.server.installation;
        let made = cache.finish(making, &fingerprint::key(&wanted.identity, build), &wanted, build);
        Ok(made.map_or_else(|error| Keeping::Not(error.to_string()), Keeping::Kept))
    }

    /// Returns the last lines of its log.
    #[must_use]
    pub fn log_tail(&self) -> Vec<String> {
        self.handle.log_tail()
    }

    /// Checks that it is running. Does not wait or query: call it when connections fail.
    ///
    /// # Errors
    /// When it has ended, with the end of its log.
    pub fn check(&mut self) -> Result<(), EmbeddedError> {
        match self.handle.death() {
            None => Ok(()),
            Some((what, log)) => Err(self.failed(what, log)),
        }
    }

    /// Kills it with all of its backends (SIGKILL), and starts it again on the remaining data. Returns when it has
    /// recovered and accepts connections, at the same address.
    ///
    /// # Errors
    /// When it does not start again, with the end of its log.
    pub fn crash(&mut self) -> Result<(), EmbeddedError> {
        self.carry_out(&Order::Crash)
    }

    /// Shuts it down and starts it again with its present settings: in fast mode, or in immediate mode, after which it recovers.
    /// Returns when it accepts connections, at the same address.
    ///
    /// # Errors
    /// When it does not start again, with the end of its log.
    pub fn restart_as_is(&mut self, immediately: bool) -> Result<(), EmbeddedError> {
        self.carry_out(&if immediately { Order::RestartImmediately } else { Order::Restart(None) })?;
        self.not_refused()
    }

    /// Counts all that it has written as synced. Only for a server that journals its writes.
    ///
    /// # Errors
    /// When it has no journal, with the reason.
    pub fn mark_synced(&mut self) -> Result<(), EmbeddedError> {
        self.carry_out(&Order::MarkSynced)
    }

    /// Simulates a loss of power: kills it, undoes all writes that were not synced, and starts it again on what is left. Only for a
    /// server that journals its writes. Returns when it has recovered and accepts connections, at the same address.
    ///
    /// # Errors
    /// When it does not start again, with the end of its log: without `fsync` that may be so.
    pub fn lose_power(&mut self) -> Result<(), EmbeddedError> {
        self.carry_out(&Order::LosePower)
    }

    /// Kills it with all of its backends (SIGKILL). It stays down; its directory stays until this value is dropped.
    pub fn kill(&self) {
        let pid = self.server.postmaster_pid;
        // While it is stopped, it starts no backend that would be missed.
        process::send(pid, Signal::STOP);
        process::kill_with_children(pid);
    }

    /// Starts a standby that streams from it, on a copy of its data: it is shut down cleanly for that, and started again at its
    /// address. Both need options of a pair.
    ///
    /// # Errors
    /// When its data cannot be copied, or one of them does not start.
    pub fn start_standby(&mut self, options: &PrivateServerOptions) -> Result<Self, EmbeddedError> {
        let place = self.server.dir.join("standby");
        self.carry_out(&Order::CopyTo(place.clone()))?;
        self.not_refused()?;
        let want = Want::Directory(self.server.installation.bindir.clone());
        let Prepared { mut spec, mut sized, warnings } = prepare(&want, options, false, &mut |_| {})?;
        let (host, port) = (self.server.socket_dir.display(), self.server.port);
        let primary = format!("host='{host}' port={port} user={SUPERUSER} application_name=standby");
        let primary = Setting::new("primary_conninfo", primary, "it streams from its primary");
        (sized, spec.settings) =
            (merge(sized, vec![primary.clone()]), merge(std::mem::take(&mut spec.settings), vec![primary]));
        (spec.is_standby, spec.data) = (true, Some(place.clone()));
        let mut handle = Handle::spawn(&options.supervisor, &spec)?;
        let server = handle.await_ready(&spec.installation, &mut |_| {})?;
        // What is left of it goes with the primary's directory.
        let _ = std::fs::remove_dir_all(place);
        Ok(Self { handle, server, sized, password: self.password.clone(), warnings, cached: None, data: None })
    }

    /// Kills one of its backends (SIGKILL): it ends all sessions and recovers. Returns false if `pid` is not one of its processes.
    #[must_use]
    pub fn kill_backend(&self, pid: i32) -> bool {
        let is_ours = process::children_of(self.server.postmaster_pid).contains(&pid);
        if is_ours {
            process::send(pid, Signal::KILL);
        }
        is_ours
    }

    /// Shuts it down cleanly and starts it again on its data, with these settings added to the sized ones or
    /// replacing them; those of an earlier restart no longer apply. Returns when it accepts connections, at the same
    /// address.
    ///
    /// # Errors
    /// For an invalid setting. When it does not start with them, with the end of its log: then it runs again with its
    /// earlier settings, unless that fails, too.
    pub fn restart(&mut self, settings: &[(String, String)]) -> Result<(), EmbeddedError> {
        let settings = merge(self.sized.clone(), extra_settings(settings)?);
        self.carry_out(&Order::Restart(Some(settings)))?;
        self.not_refused()
    }

    /// Replaces the data of another server of the same build by a copy of its own: both are shut down cleanly and started again
    /// at their addresses, with their settings.
    ///
    /// # Errors
    /// When they are of different builds, the data cannot be copied, or a server does not start again.
    pub fn copy_data_to(&mut self, other: &mut Self) -> Result<(), EmbeddedError> {
        if self.server.installation != other.server.installation {
            return Err(self.failed("only a server of the same build can have its data".to_owned(), Vec::new()));
        }
        let place = other.server.dir.join("data.copy");
        self.carry_out(&Order::CopyTo(place.clone()))?;
        self.not_refused()?;
        other.carry_out(&Order::Adopt(place))
    }

    /// Returns why the last order was not carried out, though the server runs.
    fn not_refused(&mut self) -> Result<(), EmbeddedError> {
        match self.server.refused.take() {
            None => Ok(()),
            Some(refused) => Err(self.failed(refused.what, refused.log)),
        }
    }

    /// Sends an order to the supervisor, after which the server runs again.
    fn carry_out(&mut self, order: &Order) -> Result<(), EmbeddedError> {
        let ordered = self.handle.order(order);
        ordered.map_err(|source| self.failed(format!("its supervisor is gone: {source}"), Vec::new()))?;
        let installation = self.server.installation.clone();
        self.server = self.handle.await_ready(&installation, &mut |_| {})?;
        Ok(())
    }

    fn failed(&self, what: String, log: Vec<String>) -> EmbeddedError {
        EmbeddedError::Start {
            version: self.server.installation.version.text.clone(),
            bindir: self.server.installation.bindir.clone(),
            what,
            log,
        }
    }

    /// Ends it, and returns when its processes and directories are gone. Dropping it does the same.
    pub fn stop(self) {}
}
