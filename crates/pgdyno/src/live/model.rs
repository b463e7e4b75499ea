//! What the full-screen view shows: pure, time is an argument.

pub(crate) mod frames;
