//! Facts of a running server, queried once or a few times; and the machine of pgdyno.

pub(crate) mod ask;
pub(crate) mod backend;
pub(crate) mod cluster;
pub(crate) mod identity;
pub(crate) mod machine;
pub(crate) mod outlives;
pub(crate) mod pooler;
pub(crate) mod probe;
pub(crate) mod read_only;
pub(crate) mod reads;
pub(crate) mod room;
pub(crate) mod sample;
