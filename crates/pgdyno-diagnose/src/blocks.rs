//! Blocks from outside shared buffers that the system's file cache has: their copies are CPU time.

/// CPU time of one block from outside shared buffers: finding a buffer for it, the system call and its copy. Measured with shared
/// buffers of 8 MB against 256 MB on one machine, the median of six pairs (`benches/results/2026-11-28-0133-blocks.csv`).
const BLOCK_S: f64 = 5e-6;

/// Returns the CPUs that copy so many blocks a second into shared buffers.
pub(crate) fn copying_cpus(blocks_per_s: f64) -> f64 {
    blocks_per_s * BLOCK_S
}
