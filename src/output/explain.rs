//! What a word of zerocap means and what to do about it. The text comes from the manual pages, which are the only place where
//! it is written. It is pure.

use crate::error::exit;
use crate::terms::{Class, FindingCode, PathCode};

/// The page with the findings and the words of the document.
const VERDICT: &str = include_str!("../../man/zerocap-verdict.5");
/// The page with the classes and the exit codes.
const ZEROCAP: &str = include_str!("../../man/zerocap.8");
/// The head of the table of exit codes.
const EXIT_STATUS: &str = ".SH EXIT STATUS";

/// What a finding, a class or an exit code means; `None` for a word that is none of these.
pub fn explain(word: &str) -> Option<String> {
    if let Ok(code) = word.parse::<FindingCode>() {
        return entry(VERDICT, code.as_str());
    }
    if let Ok(code) = word.parse::<PathCode>() {
        return entry(VERDICT, code.as_str());
    }
    if let Ok(class) = word.parse::<Class>() {
        return entry(ZEROCAP, class.as_str());
    }
    exit_code(word)
}

/// Every word that can be explained.
pub fn words() -> Vec<String> {
    let findings = FindingCode::ALL.iter().map(|code| code.as_str().to_owned());
    let classes = Class::ALL.iter().map(|class| class.as_str().to_owned());
    let codes = exit::ALL.iter().map(ToString::to_string);
    let of_paths = PathCode::ALL.iter().map(|code| code.as_str().to_owned());
    classes.chain(findings).chain(of_paths).chain(codes).collect()
}

/// The text of an entry of a list: `.TP`, `.B word`, and the lines up to the next request that ends it.
fn entry(page: &str, word: &str) -> Option<String> {
    let heading = format!(".B {}", word.replace('-', "\\-"));
    let lines: Vec<&str> = page.lines().collect();
    let is_heading = |i: &usize| lines[*i] == heading && *i > 0 && lines[*i - 1] == ".TP";
    let at = (0..lines.len()).find(is_heading)?;
    let ends = |line: &&str| [".TP", ".SS", ".SH", ".PP"].iter().any(|request| line.starts_with(request));
    let text: Vec<String> = lines[at + 1..].iter().take_while(|line| !ends(line)).map(|line| plain(line)).collect();
    Some(text.join("\n")).filter(|text| !text.is_empty())
}

/// The cell of the table of exit codes.
fn exit_code(word: &str) -> Option<String> {
    let table = ZEROCAP.split_once(EXIT_STATUS)?.1.split_once(".TE")?.0;
    let row = table.split_once(&format!("\n{word}\tT{{\n"))?.1.split_once("\nT}")?.0;
    word.parse::<u8>().ok()?;
    Some(row.lines().filter(|line| *line != ".br").map(plain).collect::<Vec<_>>().join("\n"))
}

/// A line of a page without its markup.
fn plain(line: &str) -> String {
    let mut words = line;
    // A request of fonts: its words follow each other without a space (".BR accept ;").
    if let Some((request, rest)) = line.strip_prefix('.').and_then(|l| l.split_once(' ')) {
        if matches!(request, "BR" | "RB" | "IR" | "BI") {
            return plain(&rest.split(' ').collect::<String>());
        }
        words = rest;
    }
    let mut text = words.replace("\\-", "-").replace("\\(lq", "\"").replace("\\(rq", "\"");
    for font in ["\\fB", "\\fI", "\\fR", "\\fP"] {
        text = text.replace(font, "");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_a_text_without_markup() {
        for word in words() {
            let text = explain(&word).unwrap_or_else(|| panic!("{word} is explained nowhere"));
            assert!(
                text.len() > 3 && !text.contains('\\') && !text.contains(".B") && !text.contains("T{"),
                "{word}: {text}"
            );
        }
        assert!(words().len() > 40);
    }

    #[test]
    fn a_word_of_each_kind_is_explained() {
        assert!(explain("old-data-left").is_some_and(|t| t.contains("write the zeroes")));
        assert!(explain("data-journal").is_some_and(|t| t.contains("data=ordered")));
        assert!(explain("fast").is_some());
        assert!(explain("7").is_some_and(|t| t.contains("a requirement is not met")));
        assert!(explain("32").is_some_and(|t| t.starts_with("there is no such device")));
        for none in ["", "9", "what", "-", "007", "EXIT"] {
            assert_eq!(explain(none), None, "{none}");
        }
    }

    #[test]
    fn requests_are_shown_in_words() {
        assert_eq!(plain(".BR accept ;"), "accept;");
        assert_eq!(plain(".B unknown ,"), "unknown ,");
        assert_eq!(plain("then run \\fBzerocap recover\\fP; do not"), "then run zerocap recover; do not");
    }
}
