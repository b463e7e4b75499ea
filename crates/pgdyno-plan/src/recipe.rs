//! Recipes: the scenarios of published guides as data.
//!
//! [`read`] makes a [`Recipe`] of a TOML file, [`find`] of a built-in one; [`expand`] makes the numbers of one run of it:
//! those of a size as they are, or fitted to another machine by the recipe's own rule. `docs/recipes.md` is the manual.

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
pub use expand::{Expanded, RecipeError, Request, expand};
pub use format::{Figures, Fit, MadeFor, Recipe, Size, Source, Steps, Variant};
pub use value::Value;

use crate::mistake::{self, Mistake};

/// The machine that a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Processors of the database server.
    pub vcpus: u32,
    /// Its memory.
    pub memory_bytes: u64,
}

/// Reads a recipe, whose name is then that of its `file`.
///
/// # Errors
/// With line, caret and the nearest known key; or in words, when its parts do not fit together.
pub fn read(file: &str, text: &str) -> Result<Recipe, Mistake> {
    let mut recipe: Recipe = mistake::read(file, text)?;
    file.clone_into(&mut recipe.name);
    verify::verify(&recipe).map_err(|what| Mistake::new(file, what))?;
    Ok(recipe)
}
