//! The full-screen view of a run.

#![cfg_attr(not(test), expect(dead_code, reason = "the view is drawn by a later commit"))]

pub(crate) mod model;
