//! Messages there and back.

use std::hint::black_box;

use pgdyno_wire::{Capture, ParamType, ParamValue, QueryMode, Received, Session, Statement, StmtId, TextParams};

use super::Path;
use super::server::answer;

const UNITS: u64 = 1_000;
const ID: StmtId = StmtId(0);

/// How a statement goes out.
type Send = fn(&mut Session, &Statement, i32, &mut Vec<u8>);

fn typed(session: &mut Session, statement: &Statement, aid: i32, out: &mut Vec<u8>) {
    session.execute(ID, statement, &[ParamValue::Int4(black_box(aid))], Capture::Nothing, out);
    session.sync(out);
}

/// With parameters in text and a Describe, as libpq does it.
fn as_libpq(session: &mut Session, _: &Statement, aid: i32, out: &mut Vec<u8>) {
    let digits = [0, 0, 0, 1, b'0' + black_box(aid % 10) as u8];
    let params = TextParams { count: 1, encoded: &digits };
    session.query_prepared(ID, b"P_0", params, Capture::Nothing, out);
    session.sync(out);
}

fn receive(session: &mut Session, reply: &[u8]) {
    let mut done = 0;
    while let Ok(Received::Event { event, used }) = session.receive(&reply[done..]) {
        black_box(&event);
        done += used;
    }
}

fn exchange(name: &'static str, send: Send) -> Path {
    let statement =
        Statement::new("SELECT abalance FROM pgbench_accounts WHERE aid = $1", &[ParamType::Int4]).numbered(ID);
    let (mut session, mut out) = (Session::new(QueryMode::Prepared, 1), Vec::new());
    typed(&mut session, &statement, 1, &mut out);
    receive(&mut session, &answer(&out));
    out.clear();
    send(&mut session, &statement, 1, &mut out);
    let reply = answer(&out);
    receive(&mut session, &reply);
    let run = move || {
        for aid in 0..UNITS as i32 {
            out.clear();
            send(&mut session, &statement, aid, &mut out);
            receive(&mut session, black_box(&reply));
        }
    };
    Path { name, units: UNITS, run: Box::new(run) }
}

/// A large result that nobody reads.
fn passed_over() -> Path {
    let statement = Statement::new("SELECT 1", &[]).numbered(ID);
    let (mut session, mut out) = (Session::new(QueryMode::Prepared, 1), Vec::new());
    session.execute(ID, &statement, &[], Capture::Nothing, &mut out);
    session.sync(&mut out);
    receive(&mut session, &answer(&out));
    let row = b"D\0\0\0\x0b\0\x01\0\0\0\x011";
    let reply = [b"2\0\0\0\x04".as_slice(), &row.repeat(UNITS as usize), b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I"].concat();
    let run = move || {
        out.clear();
        session.execute(ID, &statement, &[], Capture::Nothing, &mut out);
        session.sync(&mut out);
        receive(&mut session, black_box(&reply));
    };
    Path { name: "decode-row", units: UNITS, run: Box::new(run) }
}

pub(super) fn paths() -> Vec<Path> {
    vec![exchange("exchange-native", typed), exchange("exchange-libpq", as_libpq), passed_over()]
}
