use pgdyno_wire::backend::DataRow;
use pgdyno_wire::{QueryMode, Session};
use pgdyno_workload::{ReplyBuffer, Rng};

use super::*;
use crate::tproc_c::{
    population::Seed,
    strings::LastName,
    txns::{Draw, Payment, TxnKind},
};

/// Returns rows in the server's format.
fn reply(rows: &[&[&str]]) -> ReplyBuffer {
    let mut buffer = ReplyBuffer::new();
    for row in rows {
        let mut body = (row.len() as u16).to_be_bytes().to_vec();
        for column in *row {
            body.extend_from_slice(&(column.len() as u32).to_be_bytes());
            body.extend_from_slice(column.as_bytes());
        }
        buffer.row(DataRow::new(&body)).unwrap();
    }
    buffer
}

/// Returns the statements of one step, its action, and its messages.
fn sent(inputs: &Inputs, number: u8, rows: &[&[&str]]) -> (Vec<String>, Next, String) {
    let statements: Vec<_> = statements().list().iter().map(|listed| listed.statement.clone()).collect();
    let mut session = Session::new(QueryMode::Simple, statements.len());
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let buffer = reply(rows);
    let mut batch = Batch::new(&mut session, &statements, &mut out, &mut notes);
    let next = step(inputs, number, buffer.reply(), &mut batch);
    batch.close();
    let (mut texts, mut rest) = (Vec::new(), out.as_slice());
    while let Some(message) = pgdyno_wire::backend::next_message(rest).unwrap() {
        texts.push(String::from_utf8(message.body.strip_suffix(b"\0").unwrap().to_vec()).unwrap());
        rest = &rest[message.len..];
    }
    (texts, next, notes.iter().map(Note::text).collect())
}

/// Returns the first words of each statement.
fn words(texts: &[String]) -> Vec<String> {
    texts.iter().map(|t| t.split_whitespace().take(3).collect::<Vec<_>>().join(" ")).collect()
}

/// Returns an order with or without an unused item.
fn order(unused: bool) -> Inputs {
    let mut rng = Rng::new(3);
    let mut draw = Draw { rng: &mut rng, constants: Seed(1).run_constants(), warehouses: 4 };
    loop {
        let inputs = Inputs::draw(TxnKind::NewOrder, 2, 1, &mut draw);
        let Inputs::NewOrder(order) = &inputs else { unreachable!() };
        if (order.items().last() == Some(&100_001)) == unused {
            return inputs;
        }
    }
}

/// Returns the server's rows of an order's items: each once, at 1.25.
fn item_rows(inputs: &Inputs) -> Vec<String> {
    let Inputs::NewOrder(order) = inputs else { unreachable!() };
    let mut items: Vec<i32> = order.items().iter().copied().filter(|i| *i <= 100_000).collect();
    items.sort_unstable();
    items.dedup();
    items.iter().map(ToString::to_string).collect()
}

fn second_step(inputs: &Inputs) -> (Vec<String>, Next) {
    let items = item_rows(inputs);
    let items: Vec<[&str; 4]> = items.iter().map(|i| [i.as_str(), "1.25", "name", "data"]).collect();
    let mut rows: Vec<&[&str]> = vec![&["3001", "0.1000"], &["BARBARBAR", "GC", "0.5000", "0.2000"]];
    rows.extend(items.iter().map(|row| &row[..]));
    let (texts, next, _) = sent(inputs, 1, &rows);
    (texts, next)
}

#[test]
fn a_new_order_is_two_round_trips() {
    let inputs = order(false);
    let (texts, next, _) = sent(&inputs, 0, &[]);
    assert_eq!(words(&texts), ["BEGIN", "UPDATE district SET", "SELECT c_last, c_credit,", "SELECT i_id, i_price,"]);
    assert_eq!(next, Next::Await);
    let (texts, next) = second_step(&inputs);
    assert_eq!(words(&texts), ["INSERT INTO orders", "INSERT INTO new_order", "WITH line AS", "COMMIT"]);
    assert_eq!(next, Next::Finish(Verdict::Committed));
    let Inputs::NewOrder(order) = inputs else { unreachable!() };
    let list = |numbers: Vec<i32>| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let amounts = list(order.quantities().iter().map(|q| q * 125).collect());
    for expected in [list(order.items().to_vec()), list(order.quantities().to_vec()), amounts] {
        assert!(texts[2].contains(&format!("'{{{expected}}}'::int4[]")), "{expected} in {}", texts[2]);
    }
}

/// Clause 2.4.2.3: the whole profile, without the line of the unused item, and then the rollback.
#[test]
fn an_order_with_an_unused_item_does_everything_and_is_rolled_back() {
    let inputs = order(true);
    let (texts, next) = second_step(&inputs);
    assert_eq!(words(&texts), ["INSERT INTO orders", "INSERT INTO new_order", "WITH line AS", "ROLLBACK"]);
    assert_eq!(next, Next::Finish(Verdict::RolledBack));
    assert!(!texts[2].contains("100001"));
    let Inputs::NewOrder(order) = inputs else { unreachable!() };
    assert!(texts[0].contains(&format!("NULL, {}, ", order.items().len())), "all lines are counted: {}", texts[0]);
}

#[test]
fn what_is_not_there_is_reported_and_ends_the_client() {
    let (district, customer, item) =
        (&["3001", "0.1"][..], &["BAR", "GC", "0.1", "0.2"][..], &["1", "1.25", "n", "d"][..]);
    for rows in [&[][..], &[customer, item], &[district, item], &[district]] {
        let (texts, next, said) = sent(&order(false), 1, rows);
        assert!(texts.is_empty(), "{texts:?}");
        assert_eq!(next, Next::Abort);
        assert!(said.contains("warehouse 2 is not in the database"), "{said}");
    }
    let by_name = Inputs::OrderStatus(OrderStatus { w_id: 7, d_id: 1, customer: Customer::Name(LastName::new(1)) });
    assert_eq!(sent(&by_name, 1, &[]).1, Next::Abort);
    assert_eq!(sent(&by_name, 2, &[]).1, Next::Abort);
}

#[test]
fn a_customer_by_name_is_the_one_in_the_middle() {
    for (rows, expected) in [
        (&[&["11"][..]][..], 11),
        (&[&["11"], &["12"]], 11),
        (&[&["11"], &["12"], &["13"]], 12),
        (&[&["11"], &["12"], &["13"], &["14"]], 12),
    ] {
        assert_eq!(middle(reply(rows).reply()), Some(expected));
    }
    assert_eq!(middle(reply(&[]).reply()), None);
}

fn payment(customer: Customer) -> Inputs {
    Inputs::Payment(Payment { w_id: 1, d_id: 2, c_w_id: 3, c_d_id: 4, customer, amount_cents: 1_205 })
}

/// One round trip by number, two by name; the contended warehouse is last.
#[test]
fn a_payment_holds_the_warehouse_for_no_round_trip() {
    let all = ["UPDATE customer SET", "UPDATE district SET", "INSERT INTO history", "UPDATE warehouse SET", "COMMIT"];
    let by_id = payment(Customer::Id(5));
    let (texts, next, _) = sent(&by_id, 0, &[]);
    assert_eq!(words(&texts), [&["BEGIN"], &all[..]].concat());
    assert_eq!(next, Next::Await);
    assert!(texts[1].contains("c_balance - 12.05,"), "{}", texts[1]);
    assert_eq!(sent(&by_id, 1, &[&["c"], &["d"], &["w"]]).1, Next::Finish(Verdict::Committed));
    assert_eq!(sent(&by_id, 1, &[&["d"], &["w"]]).1, Next::Abort);

    let by_name = payment(Customer::Name(LastName::new(0)));
    let (texts, _, _) = sent(&by_name, 0, &[]);
    assert_eq!(words(&texts), ["BEGIN", "SELECT c_id FROM"]);
    let (texts, next, _) = sent(&by_name, 1, &[&["8"], &["9"], &["10"]]);
    assert_eq!((words(&texts), next), (all.map(str::to_owned).to_vec(), Next::Await));
    assert!(texts[0].contains("c_id = 9"), "{}", texts[0]);
    assert_eq!(sent(&by_name, 2, &[&["c"], &["d"], &["w"]]).1, Next::Finish(Verdict::Committed));
}

#[test]
fn a_delivery_takes_what_there_is() {
    let inputs = Inputs::Delivery(Delivery { w_id: 1, carrier_id: 7 });
    assert_eq!(words(&sent(&inputs, 0, &[]).0), ["BEGIN", "SELECT d.d_id, n.no_o_id"]);
    let (texts, next, _) = sent(&inputs, 1, &[&["1", "2101"], &["3", "2102"]]);
    assert_eq!(words(&texts), ["DELETE FROM new_order", "WITH picked AS", "COMMIT"]);
    assert!(texts[0].contains("unnest('{1,3}'::int4[], '{2101,2102}'::int4[])"), "{}", texts[0]);
    assert_eq!(next, Next::Finish(Verdict::Committed));
    assert_eq!(sent(&inputs, 1, &[]).0, ["COMMIT"]);
}
