//! Builds HTML. Markup comes only from this source code; everything else is escaped.

use pgdyno_results::is_run_name;

use crate::drawing::Drawing;

/// A part of a page.
#[derive(Debug, Default)]
pub struct Html(String);

/// A column of a table: its name, and whether it holds numbers.
pub type PageColumn<'a> = (&'a str, bool);

impl Html {
    /// Appends markup of this source code.
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0 += markup;
        self
    }

    /// Appends any text, between tags or within quoted attributes.
    pub fn text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            match c {
                '&' => self.0 += "&amp;",
                '<' => self.0 += "&lt;",
                '>' => self.0 += "&gt;",
                '"' => self.0 += "&quot;",
                '\'' => self.0 += "&#39;",
                // HTML permits none of these characters.
                '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\x7f'..='\u{9f}' => self.0.push('\u{fffd}'),
                c => self.0.push(c),
            }
        }
        self
    }

    /// Appends JSON that [`super::data`] has made safe.
    pub(super) fn json(&mut self, json: &SafeJson) -> &mut Self {
        self.0 += &json.0;
        self
    }

    /// Appends a drawing, in which every text was escaped.
    pub(super) fn drawing(&mut self, drawing: &Drawing) -> &mut Self {
        self.0 += drawing.text();
        self
    }

    /// Writes links to the pages of runs, from a page beside the record of their study. Names that lead elsewhere are left out.
    pub(crate) fn run_links(&mut self, ids: &[String]) -> &mut Self {
        for id in ids.iter().filter(|id| is_run_name(id)) {
            self.raw(" <a href=\"../").text(id).raw("/report.html\">").text(id).raw("</a>");
        }
        self
    }

    /// Appends a heading of a section.
    pub fn heading(&mut self, text: &str) -> &mut Self {
        self.raw("<h2>").text(text).raw("</h2>\n")
    }

    /// Appends a table, if it has rows.
    pub fn table(&mut self, columns: &[PageColumn<'_>], rows: &[Vec<String>]) -> &mut Self {
        if rows.is_empty() {
            return self;
        }
        self.raw("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"table\"><table><thead><tr>");
        for (name, number) in columns {
            self.raw(if *number { "<th class=\"n\" scope=\"col\">" } else { "<th scope=\"col\">" });
            self.text(name).raw("</th>");
        }
        self.raw("</tr></thead><tbody>\n");
        for row in rows {
            self.raw("<tr>");
            for (cell, (_, number)) in row.iter().zip(columns) {
                self.raw(if *number { "<td class=\"n\">" } else { "<td>" }).text(cell).raw("</td>");
            }
            self.raw("</tr>\n");
        }
        self.raw("</tbody></table></div>\n")
    }

    /// Appends the first rows of a table; the others are folded.
    pub fn long_table(&mut self, columns: &[PageColumn<'_>], rows: &[Vec<String>], shown_max: usize) -> &mut Self {
        let (shown, folded) = rows.split_at(rows.len().min(shown_max));
        self.table(columns, shown);
        if !folded.is_empty() {
            self.raw("<details><summary>").text(&format!("{} more", folded.len())).raw("</summary>\n");
            self.table(columns, folded).raw("</details>\n");
        }
        self
    }

    /// Appends a list, if it has lines.
    pub fn list<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) -> &mut Self {
        let mut lines = lines.into_iter().peekable();
        if lines.peek().is_some() {
            self.raw("<ul>");
            for line in lines {
                self.raw("<li>").text(line).raw("</li>");
            }
            self.raw("</ul>\n");
        }
        self
    }

    /// Returns the page.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

/// JSON that cannot end its element.
#[derive(Debug)]
pub(super) struct SafeJson(String);

impl SafeJson {
    /// Escapes `<`, `>` and `&`, which occur only within strings, and two line separators that are valid in JSON but
    /// not in old scripts.
    pub(super) fn new(value: &serde_json::Value) -> Self {
        let json = value.to_string();
        let mut safe = String::with_capacity(json.len());
        for c in json.chars() {
            match c {
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => safe += &format!("\\u{:04x}", c as u32),
                c => safe.push(c),
            }
        }
        Self(safe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_markup() {
        let mut html = Html::default();
        html.raw("<p title=\"")
            .text("\" onclick='x'")
            .raw("\">")
            .text("<img src=x onerror=alert(1)>&\0\u{9b}")
            .raw("</p>");
        let page =
            "<p title=\"&quot; onclick=&#39;x&#39;\">&lt;img src=x onerror=alert(1)&gt;&amp;\u{fffd}\u{fffd}</p>";
        assert_eq!(html.into_string(), page);
    }

    #[test]
    fn json_stays_in_its_element_and_means_the_same() {
        let text = "</script><!-- \u{2028}\u{2029} & \" \\ ü";
        let value = serde_json::json!({ text: [text] });
        let SafeJson(safe) = SafeJson::new(&value);
        assert!(!safe.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{safe}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
    }

    #[test]
    fn a_table_without_rows_is_none() {
        let mut html = Html::default();
        html.table(&[("a", false)], &[]).list([]);
        assert_eq!(html.into_string(), "");
    }
}
