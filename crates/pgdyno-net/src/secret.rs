//! A value that is never shown.

/// A password or a key. Its `Debug` redacts, and it has no `Display` and no serialisation.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret<T = String>(T);

impl<T> Secret<T> {
    /// Hides `value`.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the value, for the one place that needs it.
    #[must_use]
    pub fn reveal(&self) -> &T {
        &self.0
    }
}

impl<T> std::fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing() {
        assert_eq!(format!("{:?}", Secret::new("hunter2".to_owned())), "***");
    }
}
