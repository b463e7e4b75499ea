//! Seeds of the generators, in pgbench's order.

use std::sync::{Arc, Mutex};

use pgdyno_workload::Rng;

use super::Spec;

/// The seeds of a run.
///
/// From the base generator, in this order: one seed for each client's script, `default_seed` unless it is given,
/// and for each thread one for the choice of scripts, one for the throttle and one for the sampling of the log.
pub(super) struct Seeds {
    clients: Vec<Rng>,
    default_seed: Option<i64>,
    /// Clients of one thread draw their scripts from one stream, in the order of their transactions.
    choosers: Vec<Chooser>,
    samplers: Vec<Rng>,
    /// The thread of each client.
    threads: Vec<usize>,
}

/// A stream that the clients of one thread share: never contended.
pub(super) type Chooser = Arc<Mutex<Rng>>;

impl Seeds {
    pub(super) fn new(spec: &Spec) -> Self {
        let mut base = Rng::new(spec.seed);
        let clients: Vec<Rng> = (0..spec.clients).map(|_| Rng::new(base.next_u64())).collect();
        let given = spec.defines.iter().any(|(name, _)| name == "default_seed");
        let default_seed = (!given).then(|| base.next_u64() as i64);
        let count = spec.threads.clamp(1, clients.len().max(1));
        let (mut choosers, mut samplers) = (Vec::new(), Vec::new());
        for _ in 0..count {
            choosers.push(Arc::new(Mutex::new(Rng::new(base.next_u64()))));
            // Skips the throttle's seed: the engine has its own stream for arrivals.
            base.next_u64();
            samplers.push(Rng::new(base.next_u64()));
        }
        let mut threads = Vec::with_capacity(clients.len());
        for thread in 0..count {
            // In blocks, the remainder to the first threads.
            let share = (clients.len() - threads.len()).div_ceil(count - thread);
            threads.extend(std::iter::repeat_n(thread, share));
        }
        Self { clients, default_seed, choosers, samplers, threads }
    }

    pub(super) fn default_seed(&self) -> Option<i64> {
        self.default_seed
    }

    pub(super) fn client(&self, client: u32) -> Rng {
        self.clients[client as usize].clone()
    }

    pub(super) fn sampler(&self, thread: usize) -> Rng {
        self.samplers[thread].clone()
    }

    pub(super) fn chooser(&self, client: u32) -> Chooser {
        Arc::clone(&self.choosers[self.threads[client as usize]])
    }
}
