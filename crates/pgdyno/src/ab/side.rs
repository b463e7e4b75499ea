//! A side of an experiment: what it runs, and its server where that is this program's own.

use std::collections::BTreeMap;

use pgdyno_life::data::keep::load_before_runs;
use pgdyno_life::events::EventSink as _;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, OrFail, Result};
use pgdyno_life::interrupt::Interrupt;
use pgdyno_life::plan::resolve::Request;
use pgdyno_life::prepare::cycle;
use pgdyno_life::target::{Demand, Server};
use pgdyno_live::Progress;
use pgdyno_plan::{Cycle, Order, TargetName};
use pgdyno_workloads::registry;

use crate::held::direct;

/// A side.
pub(crate) struct Side {
    /// `A` or `B`.
    pub(crate) name: &'static str,
    /// What each of its runs does, but for its length.
    pub(crate) order: Order,
    /// Its private server, and the settings that this was started with.
    own: Option<(Server, BTreeMap<String, String>)>,
}

impl Side {
    /// Reads the side's order, and starts its server where that is a private one.
    pub(crate) fn bring_up(
        name: &'static str,
        mut order: Order,
        progress: &Progress,
        interrupt: &Interrupt,
    ) -> Result<Self> {
        let request = Request::read(order.clone())?;
        let target = request.target()?;
        let planned = request.draft()?.resolved;
        let demand = Demand::of(&planned.plan, &planned.workload, &order.target);
        if !target.is_private() {
            return Ok(Self { name, order, own: None });
        }
        let (shown_as, settings) = (target.name(), target.settings.clone());
        let mut server = target.bring_up_own(&order.target, demand, progress)?;
        server.announce(progress)?;
        // B gets a copy of the data of A, if it is the same.
        if name == "A" {
            load_before_runs(&mut server, &planned.plan, &planned.workload, progress, interrupt.control.stop_flag())?;
        }
        direct(&mut order, &server, shown_as, !settings.is_empty())?;
        Ok(Self { name, order, own: Some((server, settings)) })
    }

    /// Returns true if its server is this program's own and can be restarted.
    pub(crate) fn is_own(&self) -> bool {
        self.own.is_some()
    }

    /// Gives B the data that A has loaded, if both have private servers of one build, and the same data. Returns true if it has them.
    pub(crate) fn share_data([a, b]: &mut [Self; 2], progress: &Progress) -> Result<bool> {
        let is_same = a.order.workload == b.order.workload && a.order.recipe == b.order.recipe;
        let (Some((one, _)), Some((other, _)), true) = (&mut a.own, &mut b.own, is_same) else { return Ok(false) };
        progress.note("copying the data of A to B");
        one.copy_data_to(other)
    }

    /// Restarts its server on its data.
    pub(crate) fn restart(&mut self, progress: &Progress) -> Result<()> {
        let Some((server, settings)) = &mut self.own else { return Ok(()) };
        cycle::between(server, Cycle { restart: true, ..Cycle::default() }, settings, progress)?;
        Ok(())
    }
}

/// Applies a difference to an order: `NAME=VALUE` for a setting of the server, `target=…`, `script=…`, `mode=…`,
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
        Failure::new(Code::Start, error)
            .hint("write shared_buffers=8GB, target=db1, embedded:/opt/pg18/bin, script=FILE, mode=prepared or param:NAME=VALUE")
    };
    let (name, value) = difference
        .split_once('=')
        .ok_or_else(|| refuse(format!("'{difference}' is not a difference: it has no value")))?;
    match name {
        "target" => order.target.target = Some(value.into()),
        "script" => order.workload.names = vec![value.to_owned()],
        "mode" => {
            let mode = serde_json::from_value(value.into()).or_fail(Code::Start);
            order.drive.mode = Some(mode.map_err(|_| refuse(format!("'{value}' is not a query mode")))?);
        }
        _ => match name.strip_prefix("param:") {
            Some(parameter) => order.workload.params.push((parameter.to_owned(), value.to_owned())),
            None if is_parameter(order, name) => {
                let error = format!("'{name}' is a parameter of {}, no setting of the server", order.workload.names[0]);
                return Err(Failure::new(Code::Start, error).hint(format!("write param:{name}={value}")));
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
        for difference in ["shared_buffers=8GB", "target=db1", "mode=prepared", "param:fillfactor=90"] {
            differ(&mut order, difference).unwrap();
        }
        assert_eq!(order.target.settings, [("shared_buffers".to_owned(), "8GB".to_owned())]);
        assert_eq!(order.target.target.as_ref().map(TargetName::as_str), Some("db1"));
        assert_eq!(order.drive.mode, Some(pgdyno_plan::QueryMode::Prepared));
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
