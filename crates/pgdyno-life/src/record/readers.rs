//! The figures of a target and its readers.

use pgdyno_engine::EndpointWork;
use pgdyno_plan::Plan;
use pgdyno_results::{EndpointFigures, ReaderRecord, ReadersRecord, latency_record};

use crate::drive::Driven;
use crate::target::readers::Reader;

/// Returns the figures; `None` without readers.
pub(crate) fn readers(
    plan: &Plan,
    driven: &Driven,
    readers: &[Reader],
    transactions: &[&str],
) -> Option<ReadersRecord> {
    let measured = &driven.outcome.measured;
    let seconds = measured.end_ns.saturating_sub(measured.start_ns) as f64 / 1e9;
    let mut work = driven.outcome.endpoints.iter().map(|work| figures(work, seconds, &plan.percentiles));
    if readers.is_empty() {
        return None;
    }
    let target = work.next().unwrap_or_default();
    let of_reader = |(nth, reader): (usize, &Reader)| {
        let driven = driven.readers.get(nth);
        let mut found = ReaderRecord {
            name: reader.name.clone(),
            place: reader.place.clone(),
            version: reader.version.clone(),
            clients: driven.map_or(0, |driven| driven.clients),
            endpoints: driven.map(|driven| driven.endpoints.clone()).unwrap_or_default(),
            figures: work.next().unwrap_or_default(),
            ..ReaderRecord::default()
        };
        match reader.conflicts() {
            Ok(conflicts) => found.conflicts = conflicts,
            Err(why) => found.conflicts_unknown = Some(why),
        }
        match driven.map(|driven| &driven.staleness) {
            Some(Ok(staleness)) => found.staleness = Some(staleness.clone()),
            Some(Err(why)) => found.staleness_unknown = Some(why.clone()),
            None => {}
        }
        found
    };
    let readers = readers.iter().enumerate().map(of_reader).collect();
    let transactions = transactions.iter().map(|name| (*name).to_owned()).collect();
    Some(ReadersRecord { transactions, target, readers })
}

fn figures(work: &EndpointWork, seconds: f64, asked: &[f64]) -> EndpointFigures {
    EndpointFigures {
        tps: if seconds > 0.0 { work.completed as f64 / seconds } else { 0.0 },
        completed: work.completed,
        failed: work.failed.values().sum(),
        failed_by_class: work.failed.iter().map(|(class, count)| (class.name().to_owned(), *count)).collect(),
        service_latency_ns: latency_record(&work.service, asked),
        connections_lost: work.lost,
    }
}
