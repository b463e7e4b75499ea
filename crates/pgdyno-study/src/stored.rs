//! What a study stores of what was asked for: its name, and orders without passwords.

use jiff::Timestamp;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};
use pgdyno_net::without_secrets;
use pgdyno_plan::{Order, TargetName};
use pgdyno_results::run_id;

/// Returns the name of a study that starts now.
pub(crate) fn name(started: Timestamp, what: &str) -> String {
    run_id(started, what, started.as_nanosecond() as u64 ^ u64::from(std::process::id()))
}

/// Returns an order as a file may hold it: its connection strings have no passwords.
pub(crate) fn without_passwords(order: &Order) -> Result<Order> {
    let mut order = order.clone();
    order.target.target = order.target.target.map(|target| storable(&target)).transpose()?;
    for dsn in [&mut order.analytics.target, &mut order.meeting.meet] {
        let stored = dsn.as_deref().map(|dsn| storable(&dsn.into())).transpose()?;
        *dsn = stored.map(Into::into);
    }
    let stored = |reader: &String| storable(&reader.as_str().into()).map(String::from);
    order.drive.readers = order.drive.readers.iter().map(stored).collect::<Result<_>>()?;
    Ok(order)
}

/// Returns a target as a file may hold it: a connection string loses its password.
pub(crate) fn storable(target: &TargetName) -> Result<TargetName> {
    match target.kind().may_hold_password() {
        true => Ok(without_secrets(target.as_str()).or_fail(Code::Start)?.into()),
        false => Ok(target.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_connection_string_of_an_order_takes_its_password_to_a_file() {
        let dsn = |name: &str| Some(format!("host={name} password=geheim"));
        let mut order = Order::of("noop");
        (order.target.target, order.analytics.target, order.meeting.meet) =
            (dsn("a").map(Into::into), dsn("b"), dsn("c"));
        order.drive.readers = vec!["host=d password=geheim".to_owned(), "standby".to_owned()];
        let stored = without_passwords(&order).unwrap_or_else(|failure| panic!("{}", failure.text()));
        let text = serde_json::to_string(&stored).unwrap();
        assert!(["host=a", "host=b", "host=c", "host=d", "standby"].iter().all(|host| text.contains(host)), "{text}");
        assert!(!text.contains("geheim"), "{text}");
    }
}
