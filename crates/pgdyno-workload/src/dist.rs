//! Random distributions, in one place: those of pgbench's language, of YCSB and of sysbench.
//!
//! All of them take their randomness from an [`Rng`](crate::Rng). Distributions that need constants, such as a zeta
//! function, are values that each client builds once: a draw takes a few operations, and no memory.

#[cfg(test)]
mod fit;
pub mod pgbench;
pub mod sysbench;
pub mod ycsb;
mod zeta;
mod zipf;

pub use zeta::Zeta;
pub use zipf::Zipf;
