//! Variables that `\values` sets, once the columns of the lists are known.

use crate::script_error::Site;
use crate::{CommandKind, Script, ScriptError, ScriptText, Slot, VariableNames, valid_variable_name};

impl Script {
    /// Returns for each command the columns of its list that scripts use, each with its variable; none for a command other than
    /// `\values`. `columns` are the names of the columns of each list.
    ///
    /// # Errors
    /// Returns the first `\values` with a column whose name cannot be a variable.
    pub fn bind_lists(
        &self,
        source: &ScriptText<'_>,
        columns: &[&[String]],
        names: &VariableNames,
    ) -> Result<Vec<Vec<(usize, Slot)>>, ScriptError> {
        let bound = self.commands.iter().map(|command| {
            let CommandKind::Values(draw) = &command.kind else { return Ok(Vec::new()) };
            let mut bound = Vec::new();
            for (at, column) in columns.get(draw.list).copied().unwrap_or_default().iter().enumerate() {
                let name = draw.variable(column);
                if !valid_variable_name(&name) {
                    let name = String::from_utf8_lossy(&name);
                    let message = format!("the column \"{column}\" of the list cannot set a variable: \"{name}\"");
                    let hint = "give it a name of letters, digits and underscores in the sql of the list: AS name";
                    let site = Site { source: &self.name, text: source.text, line: command.line };
                    return Err(site.other(message.clone(), &message, hint, Some(draw.span.clone())));
                }
                // A column that no script uses needs no variable.
                bound.extend(names.find(&name).map(|slot| (at, slot)));
            }
            Ok(bound)
        });
        bound.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Defined, parse, parse_with_lists};

    fn lists() -> Vec<String> {
        vec!["orders".to_owned(), "items".to_owned()]
    }

    fn script(text: &str) -> Result<(Script, VariableNames), ScriptError> {
        let mut names = VariableNames::new();
        let script = parse_with_lists(&ScriptText { name: "a.sql", text: text.as_bytes() }, &mut names, &lists())?;
        Ok((script, names))
    }

    fn bind(text: &str, columns: [&[&str]; 2]) -> Result<Vec<Vec<(usize, String)>>, ScriptError> {
        let (script, names) = script(text)?;
        let columns = columns.map(|list| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let columns: Vec<&[String]> = columns.iter().map(Vec::as_slice).collect();
        let source = ScriptText { name: "a.sql", text: text.as_bytes() };
        let bound = script.bind_lists(&source, &columns, &names)?;
        Defined::new(std::slice::from_ref(&script), [], Some(&columns)).check(&script, &source, false)?;
        let named = |(at, slot): (usize, Slot)| (at, String::from_utf8_lossy(names.name(slot)).into_owned());
        Ok(bound.into_iter().map(|command| command.into_iter().map(named).collect()).collect())
    }

    #[test]
    fn each_column_that_a_script_uses_has_its_variable() {
        let text = "\\values items i_\n\\VALUES orders\nselect :i_id, :id, :customer;";
        let bound = bind(text, [&["id", "unused", "customer"], &["id"]]).unwrap();
        let expected = [vec![(0, "i_id")], vec![(0, "id"), (2, "customer")], vec![]];
        assert_eq!(
            bound,
            expected.map(|list| list.into_iter().map(|(at, name)| (at, name.to_owned())).collect::<Vec<_>>())
        );
        let (script, _) = script(text).unwrap();
        assert_eq!((script.commands[0].label(), script.commands[1].line), ("\\values items i_".to_owned(), 2));
    }

    #[test]
    fn a_column_that_is_no_variable_is_reported_with_the_command() {
        let text = "select 1;\n\\values orders\n";
        let error = bind(text, [&["id", "?column?"], &[]]).unwrap_err();
        assert_eq!(error.line_and_column(), Some((2, 1)));
        assert!(error.message().contains("the column \"?column?\" of the list") && error.hint().is_some(), "{error}");
        assert!(bind("\\values orders o_\nselect :o_1;", [&["1"], &[]]).is_ok(), "the prefix makes it a name");
    }

    #[test]
    fn variables_are_checked_again_once_the_columns_are_known() {
        let text = "\\values orders\nselect :id, :custmer;";
        let (script, _) = script(text).unwrap();
        let source = ScriptText { name: "a.sql", text: text.as_bytes() };
        Defined::new(std::slice::from_ref(&script), [], None)
            .check(&script, &source, false)
            .unwrap_or_else(|e| panic!("{e}"));
        let error = bind(text, [&["id", "customer"], &[]]).unwrap_err();
        assert_eq!((error.line_and_column(), error.hint()), (Some((2, 13)), Some("did you mean :customer?")));
    }

    #[test]
    fn a_wrong_command_is_reported_with_its_place_and_the_remedy() {
        for (text, place, message, hint) in [
            ("\\values", (1, 8), "missing argument in command \"values\"", "\\values orders o_"),
            ("select 1;\n\\values ordres", (2, 9), "unknown list (ordres)", "did you mean orders?"),
            ("\\values customers", (1, 9), "unknown list (customers)", "the lists orders, items"),
            ("\\values orders 1_", (1, 16), "invalid prefix of variables (1_)", "begin with no digit"),
            ("\\values orders o_ x", (1, 19), "too many arguments", "\\values orders o_"),
            ("\\valus orders", (1, 2), "invalid command", "did you mean \\values?"),
        ] {
            let error = script(text).map(drop).unwrap_err();
            assert_eq!(error.line_and_column(), Some(place), "{error}");
            assert!(error.message().contains(message) && error.hint().unwrap().contains(hint), "{error}");
        }
        let none = parse_with_lists(&ScriptText { name: "-", text: b"\\values a" }, &mut VariableNames::new(), &[]);
        assert!(none.unwrap_err().hint().unwrap().contains("[[values]]"));
    }

    #[test]
    fn scripts_of_pgbench_do_not_have_the_command() {
        let error =
            parse(&ScriptText { name: "-", text: b"\\values orders\n" }, &mut VariableNames::new()).unwrap_err();
        assert_eq!(error.pgbench_lines(), ["-:1: invalid command in command \"values\"", "\\values orders"]);
        assert!(!error.hint().unwrap().contains("values"), "{error}");
    }
}
