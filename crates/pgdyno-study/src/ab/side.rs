//! A side of an experiment: what it runs, and its server where that is this program's own.

use std::collections::BTreeMap;

use pgdyno_life::data::keep::load_before_runs;
use pgdyno_life::events::EventSink;
use pgdyno_life::failure::Result;
use pgdyno_life::interrupt::Interrupt;
use pgdyno_life::plan::resolve::RunRequest;
use pgdyno_life::prepare::cycle;
use pgdyno_life::target::{Demand, TargetServer};

use pgdyno_plan::{Cycle, Order};

use crate::private_server::direct;

/// A side.
pub struct Side {
    /// `A` or `B`.
    pub name: &'static str,
    /// What each of its runs does, but for its length.
    pub order: Order,
    /// Whether its workload has queries that can be explained.
    pub(super) has_queries: bool,
    /// Its private server, and the settings that this was started with.
    own: Option<(TargetServer, BTreeMap<String, String>)>,
}

impl Side {
    /// Reads the side's order, and starts its server where that is a private one.
    pub fn bring_up(
        name: &'static str,
        mut order: Order,
        progress: &dyn EventSink,
        interrupt: &Interrupt,
    ) -> Result<Self> {
        let request = RunRequest::read(order.clone())?;
        let target = request.target()?;
        let planned = request.draft()?.resolved;
        let demand = Demand::of(&planned.plan, &planned.workload, &order.target);
        let has_queries = !planned.workload.drive.explained.queries.is_empty();
        if !target.is_private() {
            return Ok(Self { name, order, has_queries, own: None });
        }
        let (shown_as, settings) = (target.name(), target.settings.clone());
        let mut server = target.bring_up_own(&order.target, demand, progress)?;
        server.announce(progress)?;
        // B gets a copy of the data of A, if it is the same.
        if name == "A" {
            load_before_runs(&mut server, &planned.plan, &planned.workload, progress, &interrupt.stop)?;
        }
        direct(&mut order, &server, shown_as, !settings.is_empty())?;
        Ok(Self { name, order, has_queries, own: Some((server, settings)) })
    }

    /// Returns true if its server is this program's own and can be restarted.
    pub fn is_own(&self) -> bool {
        self.own.is_some()
    }

    /// Gives B the data that A has loaded, if both have private servers of one build, and the same data. Returns true if it has them.
    pub fn share_data([a, b]: &mut [Self; 2], progress: &dyn EventSink) -> Result<bool> {
        let is_same = a.order.workload == b.order.workload && a.order.recipe == b.order.recipe;
        let (Some((one, _)), Some((other, _)), true) = (&mut a.own, &mut b.own, is_same) else { return Ok(false) };
        progress.note("copying the data of A to B");
        one.copy_data_to(other)
    }

    /// Restarts its server on its data.
    pub fn restart(&mut self, progress: &dyn EventSink) -> Result<()> {
        let Some((server, settings)) = &mut self.own else { return Ok(()) };
        cycle::between(server, Cycle { restart: true, ..Cycle::default() }, settings, progress)?;
        Ok(())
    }
}
