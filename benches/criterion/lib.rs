//! Benches by criterion, one file for each in `benches/`.
