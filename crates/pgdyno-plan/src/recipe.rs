//! Recipes: the scenarios of published guides as data.
//!
//! [`read`] parses a [`Recipe`] from a TOML file, [`find`] returns a built-in one. [`expand`] returns the numbers of
//! one of its runs: those of a size unchanged, or fitted to another machine by the recipe's own rule. `docs/recipes.md`
//! is the manual.

mod built_in;
mod departures;
#[cfg(test)]
mod documents;
mod expand;
mod fit;
mod format;
mod numbers;
#[cfg(test)]
mod tests;
mod value;
mod verify;

pub use built_in::{all, find, nearest};
pub use departures::departures;
pub use expand::{Expanded, RecipeError, RecipeRun, expand};
pub use format::{Fit, MadeFor, PublishedFigures, Recipe, Size, SourceDocument, Steps, Variant};
pub use value::RecipeText;

use crate::mistake::{self, Mistake};

/// The machine of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// CPUs of the database server.
    pub vcpus: u32,
    /// Its memory.
    pub memory_bytes: u64,
}

/// Parses a recipe, which gets the name of its `file`.
///
/// # Errors
/// With line, caret and the most similar known key; or as text, if its parts do not fit together.
pub fn read(file: &str, text: &str) -> Result<Recipe, Mistake> {
    let mut recipe: Recipe = mistake::read(file, text)?;
    file.clone_into(&mut recipe.name);
    verify::verify(&recipe).map_err(|what| Mistake::new(file, what))?;
    Ok(recipe)
}
