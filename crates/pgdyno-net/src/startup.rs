//! The startup, from a new transport to the first ReadyForQuery.

use std::collections::BTreeMap;
use std::io;

use pgdyno_wire::auth::{AuthError, AuthProgress, Authenticator, Binding};
use pgdyno_wire::backend::{self, Message, ServerMessage};
use pgdyno_wire::frontend;

use crate::channel::{Channel, ReceiveError};
use crate::{ConnectError, ConnectOptions, Interrupter, Peer, Secret};

/// Messages of the server during the startup.
pub(crate) struct Started {
    pub(crate) parameters: BTreeMap<String, String>,
    pub(crate) process_id: i32,
    pub(crate) secret_key: Secret<Vec<u8>>,
    pub(crate) channel_bound: bool,
    pub(crate) notices: Vec<ServerMessage>,
}

/// Limit of notices that are kept.
pub(crate) const MAX_NOTICES: usize = 1_000;

/// Limits on messages from the start to the first ReadyForQuery. Each message may be as long as in libpq; a limit on
/// all together, which libpq lacks, ends a flood of notices or parameters.
#[derive(Default)]
pub(crate) struct Allowance {
    authenticated: bool,
    bytes: usize,
}

impl Allowance {
    /// Limits of the authentication request, and of an error before the server knows the user; libpq's numbers.
    const REQUEST_BYTES: usize = 2_000;
    const ERROR_BYTES: usize = 30_000;
    /// Limit of all messages together: some thousand notices of a login trigger.
    const ALL_BYTES: usize = 1 << 20;

    /// Returns the limits for queries on an accepted connection.
    pub(crate) fn authenticated() -> Self {
        Self { authenticated: true, bytes: 0 }
    }

    /// Returns true if a message of this type and length is possible now.
    pub(crate) fn permits(&self, tag: u8, len: usize) -> bool {
        let single = match tag {
            _ if self.authenticated => true,
            b'R' | b'v' => len <= Self::REQUEST_BYTES,
            b'E' => len <= Self::ERROR_BYTES,
            _ => len <= Self::ALL_BYTES,
        };
        single && self.bytes.saturating_add(len) <= Self::ALL_BYTES
    }

    pub(crate) fn spend(&mut self, message: &Message<'_>) {
        self.bytes += message.len;
    }
}

/// A refusal, and whether it came before the server knew the user: only then another way of encryption is worth a
/// try.
pub(crate) struct StartupError {
    pub(crate) error: ConnectError,
    pub(crate) before_auth: bool,
}

/// Names a peer, so that all errors of one attempt are alike.
pub(crate) struct Attempt<'a> {
    pub(crate) options: &'a ConnectOptions,
    pub(crate) peer: &'a Peer,
    pub(crate) password: Option<&'a Secret>,
}

impl Attempt<'_> {
    /// Sends the startup message, authenticates, and reads until ReadyForQuery.
    pub(crate) fn start(&self, channel: &mut Channel, binding: Binding) -> Result<Started, StartupError> {
        let options = self.options;
        let mut out = Vec::new();
        let identity = [("user", options.user()), ("database", options.dbname())];
        let parameters = options.parameters.iter().map(|(k, v)| (*k, v.as_str()));
        frontend::startup(&mut out, identity.into_iter().chain(parameters));
        let password = self.password.map(|p| p.reveal().as_bytes());
        let mut auth = Authenticator::new(options.user(), password, binding, options.channel_binding)
            .allow(&options.allowed_methods);
        let mut allowance = Allowance::default();
        let fail = |error, before_auth| StartupError { error, before_auth };
        channel.send(&out).map_err(|e| fail(self.transport_error(e), true))?;
        let mut started = Started {
            parameters: BTreeMap::new(),
            process_id: 0,
            secret_key: Secret::new(Vec::new()),
            channel_bound: false,
            notices: Vec::new(),
        };
        let mut received = false;
        let (deadline, interrupter) = (channel.deadline(), options.interrupter.as_ref());
        let mut go_on = || !deadline.has_passed() && !interrupter.is_some_and(Interrupter::is_interrupted);
        loop {
            out.clear();
            let before_auth = !allowance.authenticated;
            let message = match channel.receive_if(|tag, len| allowance.permits(tag, len), None) {
                Ok(message) => message,
                Err(error) => {
                    return Err(fail(self.receive_error(error, channel.unread(), received), before_auth));
                }
            };
            allowance.spend(&message);
            match message.tag {
                b'R' if before_auth => match auth.answer_while(message.body, &mut out, &mut go_on) {
                    Ok(AuthProgress::Continue) => {}
                    Ok(AuthProgress::Done) => {
                        allowance.authenticated = true;
                        started.channel_bound = auth.is_channel_bound();
                    }
                    Err(error) => return Err(fail(self.auth_error(error), true)),
                },
                b'E' => {
                    let error = self.refusal(ServerMessage::parse(message.body), &auth);
                    return Err(fail(error, before_auth));
                }
                b'S' if !before_auth => {
                    if let Some((name, value)) = backend::parameter_status(message.body) {
                        started.parameters.insert(name.into(), value.into());
                    }
                }
                b'K' if !before_auth => {
                    if let Some((process_id, key)) = backend::backend_key(message.body) {
                        started.process_id = process_id;
                        started.secret_key = Secret::new(key.to_vec());
                    }
                }
                b'Z' if !before_auth => return Ok(started),
                b'N' if !before_auth => {
                    if started.notices.len() < MAX_NOTICES {
                        started.notices.push(ServerMessage::parse(message.body));
                    }
                }
                // Options of a newer protocol that the server does not know.
                b'v' if before_auth => {}
                tag => {
                    let detail = format!("it sent message '{}' out of turn", tag.escape_ascii());
                    return Err(fail(self.not_postgres(detail), before_auth));
                }
            }
            received = true;
            if !out.is_empty() {
                channel.send(&out).map_err(|e| fail(self.transport_error(e), before_auth))?;
            }
        }
    }

    fn refusal(&self, message: ServerMessage, auth: &Authenticator) -> ConnectError {
        // A server that offers SCRAM to a role without a password sends the same error as for a wrong one. Only the
        // case without a request for a password is known.
        let error = ConnectError::from_server(self.peer, self.options.user(), self.options.dbname(), message);
        match error {
            ConnectError::WrongPassword { peer, source, .. } if !auth.used_password() => {
                ConnectError::Server { peer, source }
            }
            other => other,
        }
    }

    fn auth_error(&self, source: AuthError) -> ConnectError {
        let (peer, user) = (self.peer.clone(), self.options.user().to_owned());
        match source {
            AuthError::NoPassword => ConnectError::NoPassword { peer, user },
            source => ConnectError::Auth { peer, user, source },
        }
    }

    pub(crate) fn not_postgres(&self, detail: String) -> ConnectError {
        ConnectError::NotPostgres { peer: self.peer.clone(), detail }
    }

    /// Returns the error of a failed read. `received` is whether a message came before.
    pub(crate) fn receive_error(&self, error: ReceiveError, unread: &[u8], received: bool) -> ConnectError {
        match error {
            ReceiveError::Io(error) => self.transport_error(error),
            // No answer to the first bytes: a server with another protocol closed the connection.
            ReceiveError::Closed if !received && unread.is_empty() => self.not_postgres(
                "it closed the connection without an answer (a PostgreSQL server that crashes does \
                 so too: see its log)"
                    .into(),
            ),
            ReceiveError::Closed if received => {
                ConnectError::Lost { peer: self.peer.clone(), source: io::ErrorKind::UnexpectedEof.into() }
            }
            ReceiveError::Unexpected { tag, .. } if !received && !matches!(tag, b'R' | b'E' | b'v') => {
                self.not_postgres(format!("it says \"{}\"", excerpt(unread)))
            }
            ReceiveError::Unexpected { tag, len } if len > Allowance::ALL_BYTES || !matches!(tag, b'S' | b'N') => {
                self.not_postgres(format!("it announces {len} bytes for message '{}'", tag.escape_ascii()))
            }
            ReceiveError::Unexpected { .. } => self.not_postgres(format!(
                "it sent more than {} bytes of notices and parameters before it was ready for a query",
                Allowance::ALL_BYTES
            )),
            ReceiveError::Closed | ReceiveError::Decode(_) => {
                self.not_postgres(format!("it says \"{}\"", excerpt(unread)))
            }
        }
    }

    /// Returns the error of a failed read or write.
    pub(crate) fn transport_error(&self, source: io::Error) -> ConnectError {
        let peer = self.peer.clone();
        match source.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
                ConnectError::Timeout { peer, seconds: self.options.connect_timeout.map_or(0, |t| t.as_secs()) }
            }
            _ => {
                let inner = source.get_ref().and_then(|e| e.downcast_ref::<rustls::Error>());
                match inner {
                    Some(error) => self.tls_error(error),
                    None => ConnectError::Lost { peer, source },
                }
            }
        }
    }
}

/// Returns the first line of a foreign server's message, made printable.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    let line = bytes.split(|b| *b == b'\r' || *b == b'\n').next();
    let line = line.unwrap_or_default();
    line[..line.len().min(60)].escape_ascii().to_string()
}
