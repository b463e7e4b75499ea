//! One connection of a scripted server: enough of the protocol, without data.

use pgdyno_wire::{backend, frontend};

use super::{SimAnswer, SimRequest};
use crate::Tick;

/// Output of a server, and when it arrives; `None` is the end of the connection.
pub(super) type Reply = (Tick, Option<Vec<u8>>);

/// State of a COPY from the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CopyIn {
    #[default]
    No,
    /// By a simple query: ReadyForQuery ends it.
    Simple,
    /// By the extended protocol: after its failure everything is skipped up to a Sync.
    Extended,
}

#[derive(Default)]
pub(super) struct Server {
    /// When it has processed its input.
    free: Tick,
    reply: Vec<u8>,
    sql: String,
    in_block: bool,
    failed_block: bool,
    /// After an error it skips everything up to Sync.
    skipping: bool,
    copy_in: CopyIn,
}

impl Server {
    pub(super) fn receive(
        &mut self,
        client: usize,
        now: Tick,
        bytes: &[u8],
        behave: &mut dyn FnMut(&SimRequest<'_>) -> SimAnswer,
    ) -> Vec<Reply> {
        self.free = self.free.max(now);
        let (mut replies, mut rest) = (Vec::new(), bytes);
        while let Ok(Some(message)) = backend::next_message(rest) {
            rest = &rest[message.len..];
            if self.copy_in != CopyIn::No {
                if !self.copying(message.tag, &mut replies) {
                    replies.push((self.free, None));
                    break;
                }
                continue;
            }
            let holds = match message.tag {
                b'P' if !self.skipping => {
                    self.sql = text(message.body.split(|&b| b == 0).nth(1));
                    frontend::message(&mut self.reply, b'1', |_| {});
                    true
                }
                b'B' if !self.skipping => {
                    frontend::message(&mut self.reply, b'2', |_| {});
                    true
                }
                b'E' if !self.skipping => self.execute(client, CopyIn::Extended, behave),
                b'Q' => {
                    self.sql = text(message.body.split(|&b| b == 0).next());
                    let holds = self.execute(client, CopyIn::Simple, behave);
                    if holds && self.copy_in == CopyIn::No {
                        replies.push(self.ready());
                    }
                    holds
                }
                b'S' => {
                    replies.push(self.ready());
                    true
                }
                _ => true,
            };
            if self.copy_in != CopyIn::No {
                // It waits for data: earlier output is sent.
                replies.push((self.free, Some(std::mem::take(&mut self.reply))));
            }
            if !holds {
                if self.skipping {
                    // It said why before it closed the connection.
                    replies.push((self.free, Some(std::mem::take(&mut self.reply))));
                }
                replies.push((self.free, None));
                break;
            }
        }
        replies
    }

    /// While it waits for data, it ignores Sync; any other message but the end of the data closes the connection, as
    /// on a real server. Returns true if the connection holds.
    fn copying(&mut self, tag: u8, replies: &mut Vec<Reply>) -> bool {
        match tag {
            b'S' | b'H' | b'd' => {}
            b'f' | b'c' => {
                if tag == b'f' {
                    self.fail("ERROR", "57014");
                } else {
                    frontend::message(&mut self.reply, b'C', |out| frontend::cstr(out, "COPY 0"));
                }
                if std::mem::take(&mut self.copy_in) == CopyIn::Simple {
                    replies.push(self.ready());
                }
            }
            _ => return false,
        }
        true
    }

    fn fail(&mut self, severity: &str, code: &str) {
        self.failed_block = self.in_block;
        self.skipping = true;
        frontend::message(&mut self.reply, b'E', |out| {
            for field in [format!("S{severity}"), format!("C{code}"), "Msimulated".to_owned(), String::new()] {
                frontend::cstr(out, &field);
            }
        });
    }

    fn complete(&mut self, sql: &str, tag: &str) {
        match sql.split([' ', ';']).next().unwrap_or_default() {
            "BEGIN" => self.in_block = true,
            "END" | "COMMIT" | "ROLLBACK" => (self.in_block, self.failed_block) = (false, false),
            _ => {}
        }
        frontend::message(&mut self.reply, b'C', |out| frontend::cstr(out, tag));
    }

    /// Returns true if the connection holds.
    fn execute(
        &mut self,
        client: usize,
        copy_in: CopyIn,
        behave: &mut dyn FnMut(&SimRequest<'_>) -> SimAnswer,
    ) -> bool {
        let sql = std::mem::take(&mut self.sql);
        let answer = behave(&SimRequest { client, at: self.free, sql: &sql });
        let service_ns = match answer {
            SimAnswer::Complete { service_ns }
            | SimAnswer::Empty { service_ns }
            | SimAnswer::Fail { service_ns, .. }
            | SimAnswer::Notice { service_ns }
            | SimAnswer::CopyOut { service_ns }
            | SimAnswer::CopyIn { service_ns }
            | SimAnswer::Tagged { service_ns, .. }
            | SimAnswer::Warned { service_ns, .. } => service_ns,
            SimAnswer::Die { .. } => 0,
            SimAnswer::Disconnect => return false,
        };
        self.free = self.free.after(service_ns);
        let copy = |out: &mut Vec<u8>| out.extend_from_slice(&[0, 0, 0]);
        match answer {
            SimAnswer::Fail { code, .. } => self.fail("ERROR", code),
            SimAnswer::Die { severity, code } => {
                self.fail(severity, code);
                return false;
            }
            SimAnswer::Tagged { tag, .. } => self.complete(&sql, tag),
            SimAnswer::Warned { fields, .. } => {
                frontend::message(&mut self.reply, b'N', |out| {
                    fields.iter().chain(&[""]).for_each(|field| frontend::cstr(out, field));
                });
                self.complete(&sql, "COMMIT");
            }
            SimAnswer::CopyIn { .. } => {
                self.copy_in = copy_in;
                frontend::message(&mut self.reply, b'G', copy);
            }
            SimAnswer::CopyOut { .. } => {
                frontend::message(&mut self.reply, b'H', copy);
                frontend::message(&mut self.reply, b'd', |out| out.extend_from_slice(b"1\n"));
                frontend::message(&mut self.reply, b'c', |_| {});
                self.complete(&sql, "SELECT 1");
            }
            SimAnswer::Notice { .. } => {
                frontend::message(&mut self.reply, b'N', |out| {
                    for field in ["SNOTICE", "C00000", "Mready, ready", ""] {
                        frontend::cstr(out, field);
                    }
                });
                self.complete(&sql, "SELECT 1");
            }
            SimAnswer::Empty { .. } => self.complete(&sql, "SELECT 0"),
            SimAnswer::Complete { .. } | SimAnswer::Disconnect => self.complete(&sql, "SELECT 1"),
        }
        true
    }

    fn ready(&mut self) -> Reply {
        self.skipping = false;
        let status = match (self.in_block, self.failed_block) {
            (false, _) => b'I',
            (true, false) => b'T',
            (true, true) => b'E',
        };
        frontend::message(&mut self.reply, b'Z', |out| out.push(status));
        (self.free, Some(std::mem::take(&mut self.reply)))
    }
}

fn text(bytes: Option<&[u8]>) -> String {
    String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
}
