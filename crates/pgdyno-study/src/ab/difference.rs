//! A difference between the two sides of an experiment, as the user writes it.

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_plan::{Order, TargetName};
use pgdyno_workloads::registry;

/// Applies a difference to an order: `NAME=VALUE` for a setting of the server, `target=…`, `reader=…`, `script=…`, `mode=…`,
/// `param:NAME=VALUE`, or a private server as it is.
///
/// # Errors
/// When it is none of these.
pub(crate) fn differ(order: &mut Order, difference: &str) -> Result<()> {
    let target = TargetName::from(difference);
    if target.kind().is_private() || difference.contains("://") {
        order.target.target = Some(target);
        return Ok(());
    }
    let refuse = |error: String| {
        CommandError::new(Code::Start, error)
            .hint("write shared_buffers=8GB, target=db1, reader=db2, embedded:/opt/pg18/bin, script=FILE, mode=prepared or param:NAME=VALUE")
    };
    let (name, value) = difference
        .split_once('=')
        .ok_or_else(|| refuse(format!("'{difference}' is not a difference: it has no value")))?;
    match name {
        "target" => order.target.target = Some(value.into()),
        "reader" => order.drive.readers.push(value.to_owned()),
        "script" => order.workload.names = vec![value.to_owned()],
        "mode" => {
            let mode = serde_json::from_value(value.into()).or_fail(Code::Start);
            order.drive.mode = Some(mode.map_err(|_| refuse(format!("'{value}' is not a query mode")))?);
        }
        _ => match name.strip_prefix("param:") {
            Some(parameter) => order.workload.params.push((parameter.to_owned(), value.to_owned())),
            None if is_parameter(order, name) => {
                let error = format!("'{name}' is a parameter of {}, no setting of the server", order.workload.names[0]);
                return Err(CommandError::new(Code::Start, error).hint(format!("write param:{name}={value}")));
            }
            None if is_setting(name) => order.target.settings.push((name.to_owned(), value.to_owned())),
            None => {
                return Err(refuse(format!(
                    "'{name}' is neither a setting of PostgreSQL nor anything else that can differ"
                )));
            }
        },
    }
    Ok(())
}

/// Returns true if the order's workload is a built-in one with this parameter.
fn is_parameter(order: &Order, name: &str) -> bool {
    let workload = order.workload.names.first().and_then(|id| registry::find(id).ok());
    workload.is_some_and(|entry| entry.meta.params.iter().any(|param| param.name == name))
}

fn is_setting(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_goes_where_it_belongs() {
        let mut order = Order::of("tpcb-like");
        for difference in
            ["shared_buffers=8GB", "target=db1", "mode=prepared", "param:fillfactor=90", "reader=host=b port=5433"]
        {
            differ(&mut order, difference).unwrap();
        }
        assert_eq!(order.target.settings, [("shared_buffers".to_owned(), "8GB".to_owned())]);
        assert_eq!(order.target.target.as_ref().map(TargetName::as_str), Some("db1"));
        assert_eq!(order.drive.mode, Some(pgdyno_plan::QueryMode::Prepared));
        assert_eq!(order.drive.readers, ["host=b port=5433"]);
        assert_eq!(order.workload.params, [("fillfactor".to_owned(), "90".to_owned())]);
        differ(&mut order, "embedded:/opt/pg18/bin").unwrap();
        assert_eq!(order.target.target.as_ref().map(TargetName::as_str), Some("embedded:/opt/pg18/bin"));
        differ(&mut order, "script=b.sql").unwrap();
        assert_eq!(order.workload.names, ["b.sql"]);
    }

    #[test]
    fn what_cannot_differ_is_refused_with_what_can() {
        for wrong in ["shared_buffers", "--clients=3", "mode=quick", "=3"] {
            let failure = differ(&mut Order::of("tpcb-like"), wrong).unwrap_err();
            assert!(failure.remedy().is_some_and(|hint| hint.contains("target=db1")), "{wrong}");
        }
        let failure = differ(&mut Order::of("ycsb-a"), "distribution=uniform").unwrap_err();
        assert_eq!(failure.remedy().as_deref(), Some("write param:distribution=uniform"));
    }
}
