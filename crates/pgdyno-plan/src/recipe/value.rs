//! The value of a parameter or of a setting: always text.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

/// A text; in TOML a string, a number or a Boolean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeText(pub String);

impl fmt::Display for RecipeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

struct Any;

impl Visitor<'_> for Any {
    type Value = RecipeText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, true or false")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<RecipeText, E> {
        Ok(RecipeText(text.to_owned()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<RecipeText, E> {
        Ok(RecipeText(number.to_string()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<RecipeText, E> {
        Ok(RecipeText(number.to_string()))
    }

    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<RecipeText, E> {
        Ok(RecipeText(flag.to_string()))
    }
}

impl<'de> Deserialize<'de> for RecipeText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any)
    }
}
