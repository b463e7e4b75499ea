//! Which CPU each engine thread is pinned to, with `--pin`.

use pgdyno_plan::cpus;

use crate::exit_code::Code;
use crate::failure::{CommandError, Result};

/// Returns the CPU of each of `threads` engine threads as `--pin` asks for it; none without `--pin`.
pub(crate) fn cpus(pin: Option<&str>, threads: usize) -> Result<Vec<usize>> {
    let Some(pin) = pin else { return Ok(Vec::new()) };
    let failed = |error: String| CommandError::new(Code::Start, error);
    let allowed = pgdyno_engine::allowed_cpus().map_err(|error| failed(format!("--pin: {error}")))?;
    assign(pin, &allowed, threads).map_err(failed)
}

/// Returns the same for a process that may use the CPUs `allowed`.
fn assign(pin: &str, allowed: &[usize], threads: usize) -> std::result::Result<Vec<usize>, String> {
    let mut cpus = if pin == cpus::ALL { allowed.to_vec() } else { cpus::list(pin)? };
    if let Some(cpu) = cpus.iter().find(|cpu| !allowed.contains(cpu)) {
        return Err(format!("--pin names CPU {cpu}, which this process may not use; it may use {}", written(allowed)));
    }
    if cpus.len() < threads {
        return Err(format!(
            "--pin has {} CPUs for {threads} engine threads, and two on one would wait for each other: \
             lower --threads or name more",
            cpus.len()
        ));
    }
    cpus.truncate(threads);
    Ok(cpus)
}

fn written(cpus: &[usize]) -> String {
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_get_the_first_cpus_or_those_of_the_list_in_its_order() {
        assert_eq!(assign("all", &[1, 3, 5], 2), Ok(vec![1, 3]));
        assert_eq!(assign("5,1", &[1, 3, 5], 2), Ok(vec![5, 1]));
        assert_eq!(assign("5,1", &[1, 3, 5], 1), Ok(vec![5]));
    }

    #[test]
    fn what_cannot_be_is_said_before_the_run() {
        let error = assign("0-1", &[1, 3], 1).unwrap_err();
        assert!(error.contains("CPU 0") && error.contains("may use 1,3"), "{error}");
        let error = assign("all", &[1, 3], 3).unwrap_err();
        assert!(error.contains("2 CPUs for 3 engine threads"), "{error}");
    }
}
