//! The numbers of one run.

use std::collections::BTreeMap;

use super::{Recipe, Size, Variant};

/// The numbers of a run, by their names.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    pub(super) clients: Option<u32>,
    pub(super) threads: Option<u16>,
    pub(super) loaders: Option<u16>,
    pub(super) params: BTreeMap<String, String>,
}

impl Numbers {
    /// Returns the numbers of a run. The variant takes precedence over the size, and the size over the recipe.
    pub(super) fn of(recipe: &Recipe, size: &Size, variant: Option<&Variant>) -> Self {
        let params = recipe.params.iter().chain(&size.params).chain(variant.iter().flat_map(|variant| &variant.params));
        Self {
            clients: variant.and_then(|v| v.clients).or(size.clients).or(recipe.clients).map(Into::into),
            threads: variant.and_then(|v| v.threads).or(size.threads).or(recipe.threads).map(Into::into),
            loaders: size.loaders.or(recipe.loaders).map(Into::into),
            params: params.map(|(name, value)| (name.clone(), value.0.clone())).collect(),
        }
    }

    /// Returns the number of this name, if there is one.
    pub(super) fn get(&self, name: &str) -> Option<u64> {
        match name {
            "clients" => self.clients.map(u64::from),
            "threads" => self.threads.map(u64::from),
            "loaders" => self.loaders.map(u64::from),
            param => self.params.get(param)?.parse().ok(),
        }
    }

    /// Sets a number.
    pub(super) fn set(&mut self, name: &str, number: u64) {
        let small = || Some(u16::try_from(number).unwrap_or(u16::MAX));
        match name {
            "clients" => self.clients = Some(u32::try_from(number).unwrap_or(u32::MAX)),
            "threads" => self.threads = small(),
            "loaders" => self.loaders = small(),
            param => {
                self.params.insert(param.to_owned(), number.to_string());
            }
        }
    }
}
