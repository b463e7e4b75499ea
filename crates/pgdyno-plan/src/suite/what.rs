//! The workload of a `[[run]]`.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

/// The workload: a name, or several script files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct What(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for What {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = What;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a workload, a recipe, a directory, or script files")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<What, E> {
                Ok(What(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<What, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = list.next_element()? {
                    names.push(name);
                }
                Ok(What(names))
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}

impl What {
    /// Returns the text for the key of a cell: paths without their directories.
    pub(super) fn text(&self) -> String {
        self.0.iter().map(|name| name.strip_prefix("./").unwrap_or(name)).collect::<Vec<_>>().join("+")
    }

    /// Returns the names: paths become relative to `base`, others stay.
    pub(super) fn names(&self, base: &str) -> Vec<String> {
        let is_path = |name: &str| {
            let file = name.rsplit_once('@').map_or(name, |(file, _)| file);
            name.starts_with("./")
                || name.starts_with("../")
                || [name, file].iter().any(|f| f.ends_with(".sql"))
                || name.ends_with(".toml")
        };
        let place = |name: &String| match name.strip_prefix("./").unwrap_or(name) {
            rest if base.is_empty() || rest.starts_with('/') || !is_path(name) => name.clone(),
            rest => format!("{base}/{rest}"),
        };
        self.0.iter().map(place).collect()
    }
}
