//! The differences of a run from its recipe.

use crate::Plan;
use crate::options::{Difference, differences};

/// Returns the values in which `plan` departs from `alone`, each as text. `alone` is the plan of the recipe on the same
/// target without other options.
#[must_use]
pub fn departures(plan: &Plan, alone: &Plan) -> Vec<String> {
    differences(plan, alone).iter().map(words).collect()
}

fn words(Difference { name, first, second, is_flag }: &Difference) -> String {
    match (first, second) {
        (Some(_), _) if *is_flag => name.clone(),
        (None, _) if *is_flag => format!("no {name} (the recipe has it)"),
        (Some(own), Some(recipe)) => format!("{name} {own} (the recipe: {recipe})"),
        (None, Some(recipe)) => format!("no {name} (the recipe: {recipe})"),
        (own, None) => format!("{name} {}", own.as_deref().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::example;

    #[test]
    fn what_differs_is_said_in_words() {
        let alone = example();
        let mut plan = example();
        (plan.drive.clients, plan.cycle.prewarm, plan.drive.latency_limit_ms) = (3, true, Some(100.0));
        plan.settings.insert("jit".to_owned(), "on".to_owned());
        plan.settings.insert("track_io_timing".to_owned(), "yes".to_owned());
        assert_eq!(
            departures(&plan, &alone),
            ["jit on", "track_io_timing yes", "clients 3 (the recipe: 16)", "latency limit 100 ms", "prewarm"]
        );
        assert_eq!(
            departures(&alone, &plan),
            [
                "no jit (the recipe: on)",
                "no track_io_timing (the recipe: yes)",
                "clients 16 (the recipe: 3)",
                "no latency limit (the recipe: 100 ms)",
                "no prewarm (the recipe has it)"
            ]
        );
    }
}
