//! Numbers of log lines.

use pgdyno_workload::push_int;

/// Appends a number as C's `%.0f` does: the nearest integer, the even one of two. Saturates at 64 bits.
pub(crate) fn push_rounded(out: &mut Vec<u8>, value: f64) {
    push_int(out, value.round_ties_even() as i64);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pushed(push: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        push(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn halves_go_to_the_even_neighbour() {
        for (value, text) in [(0.5, "0"), (1.5, "2"), (2.5, "2"), (0.49, "0"), (12_990.0, "12990")] {
            assert_eq!(pushed(|out| push_rounded(out, value)), text);
        }
    }

    proptest! {
        #[test]
        fn the_digits_are_those_of_the_standard_library(value in any::<i64>(), small in -1000i64..1000) {
            for value in [value, small, i64::MIN, i64::MAX] {
                prop_assert_eq!(pushed(|out| push_int(out, value)), value.to_string());
            }
        }
    }
}
