//! Any bytes as a client's messages, answered by the null server; and our own statements, answered and read back.

use pgdyno_null::fuzzing::Answering;
use pgdyno_wire::{
    Capture, Event, ParamType, ParamValue, QueryMode, Received, Session, Statement, StmtId, Wire, frontend,
};

pub(crate) fn run(input: &[u8]) {
    let whole = answers([input]);
    assert_eq!(answers(input.chunks(1 + input.len() % 7)), whole, "reads of any length");
    ours(input);
}

/// Returns the answers until the connection ends, and whether it ends.
fn answers<'a>(reads: impl IntoIterator<Item = &'a [u8]>) -> (Vec<u8>, bool) {
    let (mut answering, mut out) = (Answering::default(), Vec::new());
    for read in reads {
        if !answering.answer(read, &mut out) {
            return (out, false);
        }
    }
    (out, true)
}

/// Sends statements with values from `input` to the null server and reads its answers.
fn ours(input: &[u8]) {
    let Some((&[mode, capture], values)) = input.split_first_chunk::<2>() else { return };
    let mode = [QueryMode::Simple, QueryMode::Extended, QueryMode::Prepared][usize::from(mode % 3)];
    let statement = Statement::new("SELECT $1, $2, $3", &[ParamType::Int4, ParamType::Text, ParamType::Int8]);
    let mut session = Session::new(mode, 1);
    if capture & 0x10 != 0 {
        session.speak(Wire::Libpq);
    }
    let capture = [Capture::Nothing, Capture::Rows, Capture::Results, Capture::Count][usize::from(capture % 4)];
    let (mut answering, mut sent, mut answered) = (Answering::default(), Vec::new(), Vec::new());
    frontend::startup(&mut sent, [("user", "u"), ("database", "d")]);
    assert!(answering.answer(&sent, &mut answered));
    for text in values.chunks(40) {
        sent.clear();
        answered.clear();
        let number = i64::from_le_bytes([text[0], 0, 0x80, 0, 0, 0, 0xff, text[text.len() - 1]]);
        // A text in PostgreSQL contains no zero byte.
        let text = String::from_utf8_lossy(text).replace('\0', "");
        let values = [ParamValue::Int4(number as i32), ParamValue::Text(&text), ParamValue::Int8(number)];
        session.execute(StmtId(0), &statement, &values, capture, &mut sent);
        session.sync(&mut sent);
        assert!(answering.answer(&sent, &mut answered), "what we send goes on");
        let (mut at, mut done) = (0, 0);
        while let Received::Event { event, used } = session.receive(&answered[at..]).expect("what was answered") {
            at += used;
            match event {
                Event::Complete(_) => done += 1,
                Event::Ready { all_done, text, .. } => {
                    assert!(all_done);
                    done += usize::from(text.is_some());
                }
                Event::Part(_) | Event::Row(_) | Event::Columns(_) => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((done, at, session.is_busy()), (1, answered.len(), false));
    }
}
