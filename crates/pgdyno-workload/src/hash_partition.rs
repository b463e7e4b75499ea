//! The partition that PostgreSQL's hash partitioning gives a row.

/// Seed of hash partitioning: `HASH_PARTITION_SEED` in PostgreSQL's `partcache.h`.
const SEED: u64 = 0x7A5B_2236_7996_DCFD;
/// What `hash_combine64` adds to the hash of a single column: `hashfn.h`.
const COMBINED: u64 = 0x49A0_F4DD_15E5_A8E3;

/// Returns the remainder of the hash partition, of so many, for a row whose partition key is this `integer`. The same on
/// every machine and since PostgreSQL 11, which `pg_upgrade` relies on.
#[must_use]
pub fn hash_partition(key: i32, modulus: u32) -> u32 {
    (hash(key as u32, SEED).wrapping_add(COMBINED) % u64::from(modulus.max(1))) as u32
}

/// Bob Jenkins's lookup3 hash of one word, as `hash_bytes_uint32_extended`.
fn hash(key: u32, seed: u64) -> u64 {
    let start = 0x9E37_79B9_u32.wrapping_add(4).wrapping_add(3_923_095);
    let (mut a, mut b, mut c) = (start, start, start);
    a = a.wrapping_add((seed >> 32) as u32);
    b = b.wrapping_add(seed as u32);
    for (first, second) in [(4, 6), (8, 16), (19, 4)] {
        // Two of six steps, after which the words have moved on by two places.
        a = a.wrapping_sub(c) ^ c.rotate_left(first);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(second);
        a = a.wrapping_add(c);
        (a, b, c) = (c, a, b);
    }
    a = a.wrapping_add(key);
    for (first, second) in [(14, 11), (25, 16), (4, 14)] {
        c = (c ^ b).wrapping_sub(b.rotate_left(first));
        a = (a ^ c).wrapping_sub(c.rotate_left(second));
        (a, b, c) = (c, a, b);
    }
    c = (c ^ b).wrapping_sub(b.rotate_left(24));
    u64::from(b) << 32 | u64::from(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_spread_over_all_partitions() {
        let mut rows = [0; 7];
        (1..=7000).for_each(|key| rows[hash_partition(key, 7) as usize] += 1);
        assert!(rows.iter().all(|rows| (850..1150).contains(rows)), "{rows:?}");
        assert_eq!([hash_partition(1, 1), hash_partition(-5, 1), hash_partition(3, 0)], [0; 3]);
    }
}
