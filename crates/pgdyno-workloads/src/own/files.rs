//! The files of a directory.

use std::collections::BTreeMap;

use super::OwnError;

/// The files of a directory, which are read one by one.
pub(super) struct Files<'a> {
    pub(super) path: &'a str,
    pub(super) read: &'a mut dyn FnMut(&str) -> std::io::Result<Option<Vec<u8>>>,
    /// Files that were read and exist.
    pub(super) found: BTreeMap<String, Vec<u8>>,
}

impl Files<'_> {
    pub(super) fn within(&self, file: &str) -> String {
        within(self.path, file)
    }

    pub(super) fn find(&mut self, file: &str) -> Result<Option<Vec<u8>>, OwnError> {
        let found = (self.read)(file).map_err(|source| OwnError::Read { file: self.within(file), source })?;
        if let Some(bytes) = &found {
            self.found.insert(file.to_owned(), bytes.clone());
        }
        Ok(found)
    }

    pub(super) fn holds(&mut self, file: &str) -> Result<bool, OwnError> {
        Ok(self.find(file)?.is_some())
    }

    pub(super) fn bytes(&mut self, file: &str) -> Result<Vec<u8>, OwnError> {
        let missing = OwnError::Missing { directory: self.path.to_owned(), file: file.to_owned() };
        self.find(file)?.ok_or(missing)
    }

    pub(super) fn text(&mut self, file: &str) -> Result<String, OwnError> {
        let bytes = self.bytes(file)?;
        String::from_utf8(bytes)
            .map_err(|_| OwnError::Wrong { file: self.within(file), what: "it is not UTF-8".to_owned() })
    }
}

/// Returns the path of a file of the directory.
pub(super) fn within(path: &str, file: &str) -> String {
    format!("{path}/{file}")
}
