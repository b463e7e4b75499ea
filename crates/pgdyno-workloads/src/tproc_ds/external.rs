//! Texts of questions from elsewhere: a directory of the user, or DuckDB, whose extension `tpcds` has 99.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use super::questions::{Question, Questions};
use crate::query_set::QUERIES_MAX;
use crate::refused::ParamsRefused;

/// The value for DuckDB's texts.
const DUCKDB: &str = "duckdb";
/// The value for the texts of this program.
pub(super) const OWN: &str = "own";

/// Largest size of a file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Python that prints DuckDB's texts: each after a line with its number. The extension is that of the package or one that was
/// installed before; nothing is downloaded.
const PYTHON: &str = r#"
import duckdb, glob, os
db = duckdb.connect(config={"autoinstall_known_extensions": "false"})
try:
    import duckdb_extension_tpcds
    folder = os.path.dirname(duckdb_extension_tpcds.__file__)
    version = "v" + duckdb.__version__
    db.execute("load '" + glob.glob(os.path.join(folder, "extensions", version, "tpcds.duckdb_extension"))[0] + "'")
except (ImportError, IndexError):
    db.execute("load tpcds")
for number, text in db.execute("select query_nr, query from tpcds_queries() order by 1").fetchall():
    print(f"--# {number}\n{text}")
"#;

/// What a source had when it was read first.
type Read = Result<Questions, ParamsRefused>;

/// Returns the questions of a source: `duckdb`, or a directory. Each is read once.
pub(super) fn questions(source: &str) -> Read {
    static READ: Mutex<BTreeMap<String, Read>> = Mutex::new(BTreeMap::new());
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let of_source = || match source {
        DUCKDB => by_duckdb(&["python3", "python"]),
        directory => of_directory(Path::new(directory)),
    };
    read.entry(source.to_owned()).or_insert_with(|| of_source().map(Arc::new)).clone()
}

/// Returns the error that `--queries-from` could not be followed.
fn refused(why: String, hint: &str) -> ParamsRefused {
    ParamsRefused { why, hint: hint.to_owned() }
}

fn by_duckdb(pythons: &[&str]) -> Result<Vec<Question>, ParamsRefused> {
    let mut failed = "there is no python3 on PATH".to_owned();
    for python in pythons {
        // Python imports modules of the directory that it starts in, which may be a stranger's.
        let run = Command::new(python).args(["-c", PYTHON]).current_dir("/").stdin(Stdio::null()).output();
        let Ok(output) = run else { continue };
        if output.status.success() {
            return printed(&String::from_utf8_lossy(&output.stdout));
        }
        let said = String::from_utf8_lossy(&output.stderr);
        said.trim().lines().last().unwrap_or("it failed").clone_into(&mut failed);
    }
    let why = format!("--queries-from duckdb found no DuckDB with its extension tpcds: {failed}");
    Err(refused(why, "`pip install duckdb duckdb-extension-tpcds`, both of one version, for the python3 on PATH"))
}

/// Reads what the Python program prints.
fn printed(text: &str) -> Result<Vec<Question>, ParamsRefused> {
    let read = |part: &str| {
        let (number, text) = part.split_once('\n').unwrap_or((part, ""));
        let number = number.trim().parse().ok().filter(|number| (1..=QUERIES_MAX).contains(number));
        let number =
            number.ok_or_else(|| format!("'{}' is no number of a query", part.lines().next().unwrap_or_default()))?;
        Question::read(number, text)
    };
    let questions: Result<Vec<_>, String> = text.split("--# ").skip(1).map(read).collect();
    questions.map_err(|why| refused(format!("--queries-from duckdb printed what is no query: {why}"), "update duckdb"))
}

/// Reads the files of a directory that are named by a number: `q01.sql`, `query1.sql`, `1.sql`.
fn of_directory(directory: &Path) -> Result<Vec<Question>, ParamsRefused> {
    let failed = |path: &Path, why: &dyn std::fmt::Display| {
        let names = "it has one file for each query, such as q01.sql, query1.sql or 1.sql";
        refused(format!("--queries-from failed to read {}: {why}", path.display()), names)
    };
    let entries = std::fs::read_dir(directory).map_err(|error| failed(directory, &error))?;
    let mut questions: BTreeMap<usize, Question> = BTreeMap::new();
    for entry in entries {
        let path = entry.map_err(|error| failed(directory, &error))?.path();
        let Some(number) = path.file_name().and_then(|name| number(name.to_str()?)) else { continue };
        let there = std::fs::metadata(&path).map_err(|error| failed(&path, &error))?;
        // A pipe or a device may never end.
        if !there.is_file() {
            return Err(failed(&path, &"it is not an ordinary file"));
        }
        if there.len() > FILE_BYTES_MAX {
            return Err(failed(&path, &"it is larger than 1 MiB"));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| failed(&path, &error))?;
        let question = Question::read(number, &text).map_err(|why| failed(&path, &why))?;
        if questions.insert(number, question).is_some() {
            return Err(failed(&path, &format!("another file is query {number}, too")));
        }
    }
    if questions.is_empty() {
        return Err(failed(directory, &"no file is named by a number from 1 to 99"));
    }
    Ok(questions.into_values().collect())
}

/// Returns the number in the name of a file.
fn number(name: &str) -> Option<usize> {
    let name = name.strip_suffix(".sql")?;
    let digits =
        name.strip_prefix("query").or_else(|| name.strip_prefix('q')).unwrap_or(name).trim_start_matches(['_', '-']);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|number| is_number && (1..=QUERIES_MAX).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_numbers() {
        let names =
            ["q01.sql", "query1.sql", "1.sql", "query_99.sql", "0.sql", "100.sql", "q1.txt", "notes.sql", "q.sql"];
        let one = Some(1);
        assert_eq!(names.map(number), [one, one, one, Some(99), None, None, None, None, None]);
    }

    #[test]
    fn a_directory_is_read_and_what_is_wrong_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        let read = || of_directory(directory.path()).map_err(|error| error.why);
        assert!(read().unwrap_err().ends_with("no file is named by a number from 1 to 99"));
        write("q07.sql", "select 7;\n");
        write("query3.sql", include_str!("fixtures/q03.sql"));
        write("README.sql", "no query");
        assert_eq!(read().unwrap().iter().map(|question| question.number).collect::<Vec<_>>(), [3, 7]);
        write("3.sql", "select 3");
        assert!(read().unwrap_err().ends_with("another file is query 3, too"));
        write("3.sql", "--: X = 1\n");
        assert!(read().unwrap_err().contains("3.sql: '--: X = 1' is no parameter"));
        std::fs::remove_file(directory.path().join("3.sql")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", directory.path().join("q08.sql")).unwrap();
        assert!(read().unwrap_err().ends_with("q08.sql: it is not an ordinary file"));
        let missing = of_directory(&directory.path().join("missing")).unwrap_err();
        assert!(missing.why.contains("missing: ") && missing.hint.contains("q01.sql"), "{missing:?}");
    }

    #[test]
    fn without_duckdb_the_error_says_what_to_install() {
        let error = by_duckdb(&["no-such-python"]).unwrap_err();
        assert!(error.why.ends_with("there is no python3 on PATH"), "{}", error.why);
        assert!(error.hint.contains("pip install duckdb duckdb-extension-tpcds"));
        let read = printed("--# 1\nselect 1;\n\n--# 14\nselect 2\n").unwrap();
        assert_eq!(
            read.iter().map(|question| question.texts(None).concat()).collect::<Vec<_>>(),
            ["select 1", "select 2"]
        );
        assert!(printed("--# x\nselect 1").is_err());
    }
}
