//! What a live server is and has done, asked once or a few times; and the machine that pgdyno runs on.

pub(crate) mod ask;
pub(crate) mod backend;
pub(crate) mod cluster;
pub(crate) mod machine;
pub(crate) mod pooler;
pub(crate) mod probe;
pub(crate) mod reads;
pub(crate) mod sample;
