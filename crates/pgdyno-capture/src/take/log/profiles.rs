//! How often the values of parameters are repeated.

use std::collections::HashMap;

use crate::form::{PROFILE_DRAWS, PROFILES_MAX, ValueProfile};

/// Values of all parameters together that are counted. Of each only a hash is held.
const VALUES_MAX: usize = 2_000_000;

/// The values of each parameter of a statement, by their hashes.
#[derive(Debug, Default)]
pub(super) struct Profiles {
    by_parameter: HashMap<(usize, u32), Counted>,
    values: usize,
}

#[derive(Debug, Default)]
struct Counted {
    draws: u64,
    by_value: HashMap<u64, u64>,
}

impl Profiles {
    /// Counts a value of a parameter. Of each parameter the first executions are counted.
    pub(super) fn add(&mut self, statement: usize, parameter: u32, value: u64) {
        if self.values >= VALUES_MAX {
            return;
        }
        let counted = self.by_parameter.entry((statement, parameter)).or_default();
        if counted.draws >= *PROFILE_DRAWS.end() {
            return;
        }
        counted.draws += 1;
        let times = counted.by_value.entry(value).or_insert(0);
        self.values += usize::from(*times == 0);
        *times += 1;
    }

    /// Returns the profiles of the parameters with enough executions, in the order of the statements.
    pub(super) fn captured(&self) -> Vec<ValueProfile> {
        let enough = self.by_parameter.iter().filter(|(_, counted)| PROFILE_DRAWS.contains(&counted.draws));
        let profile = |((statement, parameter), counted): (&(usize, u32), &Counted)| {
            let (distinct, most_frequent) = ValueProfile::of_counts(counted.by_value.values().copied().collect());
            let (statement, parameter) = (*statement, *parameter);
            ValueProfile { statement, parameter, draws: counted.draws, distinct, most_frequent }
        };
        let mut all: Vec<_> = enough.map(profile).collect();
        all.sort_by_key(|profile| (profile.statement, profile.parameter));
        all.truncate(PROFILES_MAX);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_has_how_often_values_come_and_no_value() {
        let mut profiles = Profiles::default();
        for n in 0..400_u64 {
            profiles.add(7, 2, if n % 2 == 0 { 1 } else { n });
            profiles.add(7, 1, 5);
        }
        profiles.add(3, 1, 5);
        let all = profiles.captured();
        assert_eq!(all.iter().map(|one| (one.statement, one.parameter)).collect::<Vec<_>>(), [(7, 1), (7, 2)]);
        assert_eq!((all[0].distinct, all[0].most_frequent.as_slice()), (1, [400].as_slice()));
        assert_eq!((all[1].draws, all[1].distinct), (400, 200));
        assert_eq!(all[1].most_frequent, [201, 202, 204, 208, 216, 232, 264, 328]);
    }

    #[test]
    fn memory_has_a_bound() {
        let mut profiles = Profiles::default();
        (0..100_000).for_each(|n| profiles.add(0, 1, n));
        assert_eq!(profiles.captured()[0].draws, *PROFILE_DRAWS.end());
        (0..3_000_000).for_each(|n| profiles.add(n % 1000, 1, n as u64));
        assert!(profiles.values <= VALUES_MAX);
    }
}
