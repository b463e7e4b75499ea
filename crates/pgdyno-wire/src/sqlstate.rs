//! SQLSTATE codes, and classes of failures.

/// Five characters that identify an error.
///
/// Source: PostgreSQL documentation, appendix "PostgreSQL Error Codes".
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SqlState([u8; 5]);

impl SqlState {
    /// `02000`: no data. A statement that must find a row found none.
    pub const NO_DATA: Self = Self(*b"02000");
    /// `23505`: a unique key exists already.
    pub const UNIQUE_VIOLATION: Self = Self(*b"23505");
    /// `0A000`: the server does not support this.
    pub const FEATURE_NOT_SUPPORTED: Self = Self(*b"0A000");
    /// `40001`: serialization failure.
    pub const SERIALIZATION_FAILURE: Self = Self(*b"40001");
    /// `40P01`: deadlock.
    pub const DEADLOCK_DETECTED: Self = Self(*b"40P01");
    /// `57014`: the statement was cancelled.
    pub const QUERY_CANCELED: Self = Self(*b"57014");
    /// `53100`: the server's disk is full.
    pub const DISK_FULL: Self = Self(*b"53100");
    /// `53300`: no connection slot is left.
    pub const TOO_MANY_CONNECTIONS: Self = Self(*b"53300");
    /// `28P01`: wrong password.
    pub const INVALID_PASSWORD: Self = Self(*b"28P01");
    /// `28000`: this role may not connect in this way.
    pub const INVALID_AUTHORIZATION: Self = Self(*b"28000");
    /// `3D000`: no such database.
    pub const INVALID_CATALOG_NAME: Self = Self(*b"3D000");
    /// `42P01`: no such table.
    pub const UNDEFINED_TABLE: Self = Self(*b"42P01");
    /// `42501`: insufficient privilege.
    pub const INSUFFICIENT_PRIVILEGE: Self = Self(*b"42501");
    /// `2BP01`: other objects depend on the one to be dropped.
    pub const DEPENDENT_OBJECTS: Self = Self(*b"2BP01");
    /// `25006`: the server or the session is read-only, as a standby is.
    pub const READ_ONLY: Self = Self(*b"25006");
    /// `25P02`: the transaction had failed already.
    pub const IN_FAILED_TRANSACTION: Self = Self(*b"25P02");
    /// `57P03`: the server is starting, stopping or recovering.
    pub const CANNOT_CONNECT_NOW: Self = Self(*b"57P03");

    /// Returns the code in a `C` field; anything but five bytes becomes `XX000` (internal error).
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        bytes.try_into().map_or_else(|_| Self::default(), Self)
    }

    /// Returns the code as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("XX000")
    }

    /// Returns the class of this failure.
    #[must_use]
    pub fn class(self) -> ErrorClass {
        match (self, &self.0[..2]) {
            (Self::SERIALIZATION_FAILURE, _) => ErrorClass::Serialization,
            (Self::DEADLOCK_DETECTED, _) => ErrorClass::Deadlock,
            (Self::QUERY_CANCELED, _) => ErrorClass::Canceled,
            (_, b"53" | b"58") => ErrorClass::Resources,
            (_, b"57" | b"08") => ErrorClass::Connection,
            (_, b"02" | b"22" | b"23") => ErrorClass::Data,
            _ => ErrorClass::Other,
        }
    }
}

impl Default for SqlState {
    fn default() -> Self {
        Self(*b"XX000")
    }
}

impl std::fmt::Display for SqlState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::fmt::Debug for SqlState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Classes by which failed transactions are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorClass {
    /// 40001.
    Serialization,
    /// 40P01.
    Deadlock,
    /// 57014: a statement timeout or a cancel request.
    Canceled,
    /// Classes 02, 22 and 23: missing rows, data exceptions and integrity constraints.
    Data,
    /// Classes 53 and 58: disk full, out of memory, I/O errors.
    Resources,
    /// Classes 08 and 57, and lost connections.
    Connection,
    /// All other errors of the server.
    Other,
    /// Errors of the script itself: a division by zero in `\set`, a `\gset` without a row.
    Script,
    /// No failure that is known: the connection was lost after COMMIT was sent. Only runs with a ledger distinguish it.
    Unknown,
}

impl ErrorClass {
    /// All classes, in the order of reports.
    pub const ALL: [Self; 9] = [
        Self::Serialization,
        Self::Deadlock,
        Self::Canceled,
        Self::Data,
        Self::Resources,
        Self::Connection,
        Self::Other,
        Self::Script,
        Self::Unknown,
    ];

    /// Returns the name in reports and records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Serialization => "serialization",
            Self::Deadlock => "deadlock",
            Self::Canceled => "canceled",
            Self::Data => "data",
            Self::Resources => "resources",
            Self::Connection => "connection",
            Self::Other => "other",
            Self::Script => "script",
            Self::Unknown => "unknown",
        }
    }

    /// Returns true if a retry of the transaction may succeed.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::Serialization | Self::Deadlock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_follow_the_code() {
        for (code, class) in [
            ("40001", ErrorClass::Serialization),
            ("40P01", ErrorClass::Deadlock),
            ("57014", ErrorClass::Canceled),
            ("53100", ErrorClass::Resources),
            ("57P01", ErrorClass::Connection),
            ("23505", ErrorClass::Data),
            ("02000", ErrorClass::Data),
            ("42P01", ErrorClass::Other),
            ("nonsense", ErrorClass::Other),
        ] {
            assert_eq!(SqlState::from_bytes(code.as_bytes()).class(), class, "{code}");
        }
    }
}
