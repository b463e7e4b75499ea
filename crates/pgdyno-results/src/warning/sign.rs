//! What shows that the driver was slow.

use std::fmt;

use pgdyno_text::units;
use serde::{Deserialize, Serialize};

/// A sign of a slow driver.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "sign", rename_all = "kebab-case", rename_all_fields = "snake_case")]
pub enum Sign {
    /// A thread without rest.
    BusyThread {
        /// The share of time that it was on a CPU, 0 to 1.
        share: f64,
    },
    /// Replies that lay unread.
    UnreadReplies {
        /// The share of the service time, 0 to 1.
        share: f64,
    },
    /// Replies that were read late, at the 99th percentile.
    LateReads {
        /// How late.
        delay_ns_p99: u64,
        /// The share of the service time's p99, 0 to 1.
        share: f64,
    },
    /// Arrivals that were served late, at the 99th percentile.
    LateArrivals {
        /// How late.
        delay_ns_p99: u64,
        /// The share of the response time's p99, 0 to 1.
        share: f64,
    },
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = units::percent;
        match *self {
            Self::BusyThread { share } => {
                write!(f, "its busiest thread was on a CPU for {} of the time", percent(share))
            }
            Self::UnreadReplies { share } => write!(f, "replies lay unread for {} of the service time", percent(share)),
            Self::LateReads { delay_ns_p99, share } => write!(
                f,
                "1 % of replies lay unread for {} ms or more, {} of the p99 of service time",
                units::ms(delay_ns_p99),
                percent(share)
            ),
            Self::LateArrivals { delay_ns_p99, share } => write!(
                f,
                "1 % of arrivals were served {} ms late or more, {} of the p99 of response time",
                units::ms(delay_ns_p99),
                percent(share)
            ),
        }
    }
}
