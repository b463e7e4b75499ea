//! The life cycle of a run: plan, prepare, load, check, drive, check, report.
//!
//! [`workload_source`] finds what the arguments name, [`resolve`] makes a [`Plan`](pgdyno_plan::Plan) of them, [`run`](mod@run) brings the
//! server into the state that it wants and back ([`cycle`], [`settings`], [`hooks`]), and [`stage`] carries it out: [`data`] sees to the data, [`drive`] drives, [`watch`] looks at
//! the server meanwhile, [`cluster`] knows what is different where tables are spread over nodes,
//! [`record`] writes down what happened, as it happens, and [`verdict`] says what it is worth. [`durability`] crashes a server
//! to see what is left of it.
//! [`page`] makes a picture of all of it.
//! [`pgbench`] does that for the drop-in, which has a life of its own; [`figures`] is what both records have in common.

pub(crate) mod cluster;
pub(crate) mod copies;
pub(crate) mod cpus;
pub(crate) mod cycle;
pub(crate) mod data;
pub(crate) mod diagnosis;
pub(crate) mod drive;
pub(crate) mod durability;
pub(crate) mod events;
pub(crate) mod figures;
pub(crate) mod foreign;
pub(crate) mod hooks;
pub(crate) mod journal;
pub(crate) mod loaded;
pub(crate) mod loading;
pub(crate) mod lock;
pub(crate) mod notices;
pub(crate) mod page;
pub(crate) mod pgbench;
pub(crate) mod pinning;
pub(crate) mod reach;
pub(crate) mod recipe_args;
pub(crate) mod record;
pub(crate) mod resolve;
pub(crate) mod run;
pub(crate) mod run_files;
pub(crate) mod settings;
pub(crate) mod stage;
pub(crate) mod verdict;
pub(crate) mod warnings;
pub(crate) mod watch;
pub(crate) mod workload_source;
