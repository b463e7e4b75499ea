//! How many more connections the server takes.

use pgdyno_net::{Admin, AdminError};
use pgdyno_server::{ConnectionLimit, room};

use crate::finding::Finding;

/// Room for fewer clients than this is little.
const FEW: u32 = 20;

pub(super) fn check(admin: &mut Admin) -> Result<Option<Finding>, AdminError> {
    Ok(room(admin)?.map(|limit| judge(&limit)))
}

fn judge(limit: &ConnectionLimit) -> Finding {
    // The session that asks is one of them.
    let room = limit.free().saturating_sub(1);
    let found = Finding::passed("connections", format!("room for {room} more: {}", limit.text()));
    let found = found.measured(f64::from(room), "connections");
    if room >= FEW {
        return found;
    }
    found.note(
        "A run needs one for each client and up to three for itself; with more clients it is refused before it begins.",
        format!("{}, or use --connections to share them.", capitalized(&limit.remedy(FEW + 1))),
    )
}

/// Begins a sentence.
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
