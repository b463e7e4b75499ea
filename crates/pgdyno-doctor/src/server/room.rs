//! How many more connections the server takes.

use pgdyno_net::{Admin, AdminError};

use super::ask;
use crate::finding::Finding;

const ROOM: &str = "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int \
     - coalesce(current_setting('reserved_connections', true), '0')::int, \
     (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'), \
     (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user)";
/// Room for fewer clients than this is little.
const FEW: f64 = 20.0;

pub(super) fn check(admin: &mut Admin) -> Result<Option<Finding>, AdminError> {
    let Some(row) = ask::row(admin, ROOM)? else { return Ok(None) };
    let [admitted, taken] = [0, 1].map(|nth| ask::number(&row, nth));
    let of_role = Some(ask::number(&row, 2)).filter(|limit| *limit >= 0.0);
    Ok(Some(judge(admitted, taken, of_role)))
}

fn judge(admitted: f64, taken: f64, of_role: Option<f64>) -> Finding {
    let room = (admitted - taken).max(0.0);
    let room = of_role.map_or(room, |limit| room.min(limit));
    let figure = match of_role.filter(|limit| *limit <= room) {
        Some(limit) => format!("room for {room:.0} more; this role may have {limit:.0}"),
        None => format!("room for {room:.0} more of {admitted:.0}"),
    };
    let found = Finding::passed("connections", figure).measured(room, "connections");
    if room >= FEW {
        return found;
    }
    found.note(
        "A run with more clients than that is refused before it begins.",
        "Raise max_connections or the role's limit, or use --connections to share them.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Severity;

    #[test]
    fn the_smaller_limit_counts() {
        assert_eq!(judge(97.0, 5.0, None).figure, "room for 92 more of 97");
        assert_eq!(judge(97.0, 90.0, None).severity, Severity::Note);
        let role = judge(97.0, 5.0, Some(10.0));
        assert_eq!((role.severity, role.figure.as_str()), (Severity::Note, "room for 10 more; this role may have 10"));
    }
}
