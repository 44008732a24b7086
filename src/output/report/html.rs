//! The text of the HTML page: everything that is shown goes through [`escape`] here, or through the crate that writes the
//! pictures.

use crate::device::display;

/// A text without characters that could make a reader see something else, each of them spelled out; lines stay lines.
pub fn visible(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' => c.to_string(),
        c if display::is_deceptive(c) => display::escape_str(c.encode_utf8(&mut [0; 4])),
        c => c.to_string(),
    };
    text.chars().map(shown).collect()
}

/// A text as HTML shows it, in an element or in an attribute.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// The head of a column, and on which side its cells stand.
#[derive(Debug, Clone, Copy)]
pub enum Head {
    /// Words, on the left.
    Text(&'static str),
    /// Numbers, on the right.
    Number(&'static str),
}

/// A table; the first cell of a row is its head. Nothing for no row.
pub fn table(caption: &str, heads: &[Head], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let class = |column: usize| match heads.get(column) {
        Some(Head::Number(_)) => " class=\"n\"",
        _ => "",
    };
    let mut out = format!("<div class=\"scroll\"><table><caption>{}</caption>\n<thead><tr>", escape(caption));
    for (i, head) in heads.iter().enumerate() {
        let (Head::Text(text) | Head::Number(text)) = head;
        out.push_str(&format!("<th scope=\"col\"{}>{}</th>", class(i), escape(text)));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (i, cell) in row.iter().enumerate() {
            let (tag, scope) = if i == 0 { ("th", " scope=\"row\"") } else { ("td", "") };
            out.push_str(&format!("<{tag}{scope}{}>{}</{tag}>", class(i), escape(cell)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    out
}

/// Names and values, one a line.
pub fn list(rows: &[(&str, String)]) -> String {
    let row = |(name, value): &(&str, String)| format!("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(value));
    format!("<dl>\n{}</dl>\n", rows.iter().map(row).collect::<String>())
}

/// A paragraph.
pub fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escape(text))
}

/// A picture beside what it says in words, with its numbers below.
pub fn figure(picture: &str, legend: &str, says: &[String], numbers: &str) -> String {
    let says: String = says.iter().map(|text| paragraph(text)).collect();
    let numbers = match numbers {
        "" => String::new(),
        table => format!("<details><summary>The numbers</summary>\n{table}</details>\n"),
    };
    format!("<figure>\n<div>{picture}\n{legend}</div>\n<figcaption>\n{says}{numbers}</figcaption>\n</figure>\n")
}

/// A part of the page with its heading.
pub fn section(id: &str, title: &str, body: &str) -> String {
    format!("<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{}</h2>\n{body}</section>\n", escape(title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_shown_becomes_markup() {
        assert_eq!(escape("a\nb\u{202e}\x1b"), "a\nb\\xe2\\x80\\xae\\x1b");
        assert_eq!(escape("<b a='1'>\"&"), "&lt;b a=&#39;1&#39;&gt;&quot;&amp;");
        let hostile = "</td><script>alert(1)</script>".to_owned();
        let all = [
            table(&hostile, &[Head::Text("a"), Head::Number("b")], &[vec![hostile.clone(), hostile.clone()]]),
            list(&[("x", hostile.clone())]),
            figure("", "", std::slice::from_ref(&hostile), ""),
            section("id", &hostile, ""),
        ];
        for text in all {
            assert!(text.contains("&lt;script&gt;") && !text.contains("<script"), "{text}");
        }
    }
}
