//! What each source file names: its `use` trees and its inline paths, read by a parser, each resolved to the file that
//! defines what is named. Reads `src/`; judges nothing.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// A path as a file names it, whole: `["crate", "facts", "Facts"]`, `["std", "fs", "read"]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The segments.
    pub path: Vec<String>,
    /// The line it stands in.
    pub line: usize,
    /// Whether the name is only handed on (`pub use`).
    pub handed_on: bool,
}

/// One source file.
#[derive(Debug, Default)]
pub struct Source {
    /// Its path below `src/`.
    pub file: PathBuf,
    /// Its module path, without `crate`.
    pub module: Vec<String>,
    /// What it names.
    pub named: Vec<Named>,
    /// Lines with `unsafe`, and whether it is this file's own promise: a method that a foreign trait declares unsafe is not.
    pub unsafe_lines: Vec<(usize, bool)>,
    /// Types that a literal `Type { … }` makes, with the line.
    pub made: Vec<(String, usize)>,
    /// The modules it declares, tests left out.
    children: BTreeSet<String>,
    /// Names of the file's own `use` items, and what they stand for.
    aliases: BTreeMap<String, Vec<String>>,
    /// The type of the `impl` that is being read.
    of: Option<String>,
}

/// Reads every source file below `src/` but those of tests.
pub fn read(src: &Path) -> Vec<Source> {
    let mut files = Vec::new();
    collect(src, &mut files);
    files.sort();
    let parse = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).unwrap();
        syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
    };
    files.iter().filter(|f| !is_test(f)).map(|f| source(f.strip_prefix(src).unwrap(), &parse(f))).collect()
}

fn collect(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Files of unit tests, which their modules declare behind `#[cfg(test)]`.
fn is_test(file: &Path) -> bool {
    let stem = file.file_stem().unwrap().to_str().unwrap();
    stem == "tests" || stem == "testing" || stem.ends_with("_tests")
}

/// Reads one file; `file` is its path below `src/`.
pub fn source(file: &Path, tree: &syn::File) -> Source {
    let mut module: Vec<String> =
        file.with_extension("").components().map(|c| c.as_os_str().to_str().unwrap().to_owned()).collect();
    if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        module.pop();
    }
    let mut source = Source { file: file.to_owned(), module, ..Source::default() };
    // The names that `use` items bring in are known before any path is read: items stand in any order.
    for item in tree.items.iter().filter(|i| !behind_test(attributes(i))) {
        match item {
            syn::Item::Mod(m) => drop(source.children.insert(m.ident.to_string())),
            syn::Item::Use(u) => source.bring_in(u),
            _ => {}
        }
    }
    source.visit_file(tree);
    source
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(i) => &i.attrs,
        syn::Item::Enum(i) => &i.attrs,
        syn::Item::Fn(i) => &i.attrs,
        syn::Item::Impl(i) => &i.attrs,
        syn::Item::Macro(i) => &i.attrs,
        syn::Item::Mod(i) => &i.attrs,
        syn::Item::Static(i) => &i.attrs,
        syn::Item::Struct(i) => &i.attrs,
        syn::Item::Trait(i) => &i.attrs,
        syn::Item::Type(i) => &i.attrs,
        syn::Item::Use(i) => &i.attrs,
        _ => &[],
    }
}

/// `#[cfg(test)]` and `#[test]`.
fn behind_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| match &a.meta {
        syn::Meta::List(list) => a.path().is_ident("cfg") && list.tokens.to_string() == "test",
        meta => meta.path().is_ident("test"),
    })
}

/// Every path of a `use` tree, with the name it brings in.
fn paths_of(tree: &syn::UseTree, before: &[String], found: &mut Vec<(String, Vec<String>)>) {
    let with = |ident: &syn::Ident| [before, &[ident.to_string()]].concat();
    match tree {
        syn::UseTree::Path(p) => paths_of(&p.tree, &with(&p.ident), found),
        syn::UseTree::Name(n) if n.ident == "self" => {
            found.push((before.last().cloned().unwrap_or_default(), before.to_vec()));
        }
        syn::UseTree::Name(n) => found.push((n.ident.to_string(), with(&n.ident))),
        syn::UseTree::Rename(r) => found.push((r.rename.to_string(), with(&r.ident))),
        syn::UseTree::Glob(_) => found.push(("*".to_owned(), before.to_vec())),
        syn::UseTree::Group(g) => g.items.iter().for_each(|tree| paths_of(tree, before, found)),
    }
}

impl Source {
    fn bring_in(&mut self, item: &syn::ItemUse) {
        let mut found = Vec::new();
        paths_of(&item.tree, &[], &mut found);
        let handed_on = !matches!(item.vis, syn::Visibility::Inherited);
        for (name, path) in found {
            let path = self.whole(&path);
            self.named.push(Named { path: path.clone(), line: item.span().start().line, handed_on });
            self.aliases.insert(name, path);
        }
    }

    /// A path from the crate's root, or of another crate.
    fn whole(&self, path: &[String]) -> Vec<String> {
        let own = |up: usize| {
            let kept = self.module.len().saturating_sub(up);
            [&["crate".to_owned()], &self.module[..kept]].concat()
        };
        let supers = path.iter().take_while(|s| *s == "super").count();
        match path.first().map(String::as_str) {
            Some("self") => [own(0), path[1..].to_vec()].concat(),
            Some("super") => [own(supers), path[supers..].to_vec()].concat(),
            Some(child) if self.children.contains(child) => [own(0), path.to_vec()].concat(),
            Some(name) if self.aliases.contains_key(name) => [self.aliases[name].clone(), path[1..].to_vec()].concat(),
            _ => path.to_vec(),
        }
    }

    fn name(&mut self, path: Vec<String>, line: usize) {
        self.named.push(Named { path: self.whole(&path), line, handed_on: false });
    }

    /// Paths in the arguments or the body of a macro, which are tokens only.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut colons, mut line) = (0, 0);
        for token in tokens {
            match token {
                TokenTree::Ident(ident) if ident == "unsafe" => {
                    self.unsafe_lines.push((ident.span().start().line, true))
                }
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.end_of(&mut path, line);
                        line = ident.span().start().line;
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(p) if p.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.end_of(&mut path, line);
                    colons = 0;
                    self.tokens(group.stream());
                }
                _ => {
                    self.end_of(&mut path, line);
                    colons = 0;
                }
            }
        }
        self.end_of(&mut path, line);
    }

    fn end_of(&mut self, path: &mut Vec<String>, line: usize) {
        let path = std::mem::take(path);
        if path.len() > 1 {
            self.name(path, line);
        }
    }
}

impl<'ast> Visit<'ast> for Source {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if behind_test(attributes(item)) {
            return;
        }
        match item {
            // Read before all others; and `use` items inside of functions.
            syn::Item::Use(u) if !self.named.iter().any(|n| n.line == u.span().start().line) => self.bring_in(u),
            syn::Item::Use(_) => {}
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if item.unsafety.is_some() {
            self.unsafe_lines.push((item.span().start().line, true));
        }
        self.of = match &*item.self_ty {
            syn::Type::Path(p) => p.path.segments.last().map(|s| s.ident.to_string()),
            _ => None,
        };
        visit::visit_item_impl(self, item);
        self.of = None;
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        if matches!(signature.safety, syn::Safety::Unsafe(_)) {
            self.unsafe_lines.push((signature.span().start().line, false));
        }
        visit::visit_signature(self, signature);
    }

    fn visit_expr_unsafe(&mut self, expr: &'ast syn::ExprUnsafe) {
        self.unsafe_lines.push((expr.span().start().line, true));
        visit::visit_expr_unsafe(self, expr);
    }

    fn visit_expr_struct(&mut self, expr: &'ast syn::ExprStruct) {
        let line = expr.span().start().line;
        let segments = expr.path.segments.iter().map(|s| s.ident.to_string()).collect::<Vec<_>>();
        let name = match segments.last().map(String::as_str) {
            Some("Self") => self.of.clone(),
            _ => self.whole(&segments).last().cloned(),
        };
        self.made.extend(name.map(|n| (n, line)));
        visit::visit_expr_struct(self, expr);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let line = path.span().start().line;
        match path.leading_colon {
            // `::udev`: another crate, whatever is named so here.
            Some(_) => self.named.push(Named { path: segments, line, handed_on: false }),
            None if segments.len() > 1 => self.name(segments, line),
            None => {}
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.visit_path(&mac.path);
        self.tokens(mac.tokens.clone());
    }
}

/// The files, by module, and what they hand on: finds the file that a path leads to.
pub struct House<'a>(BTreeMap<&'a [String], &'a Source>);

impl<'a> House<'a> {
    pub fn new(sources: &'a [Source]) -> Self {
        House(sources.iter().map(|s| (s.module.as_slice(), s)).collect())
    }

    /// The file that defines what a path names; `None` for another crate. A name that a module hands on is looked for
    /// where it comes from.
    pub fn file_of(&self, path: &[String]) -> Option<&'a Source> {
        let rest = path.strip_prefix(&["crate".to_owned()])?;
        let depth = (0..=rest.len()).rev().find(|n| self.0.contains_key(&rest[..*n]))?;
        let source = self.0[&rest[..depth]];
        let on = rest.get(depth).and_then(|name| source.aliases.get(name));
        match on {
            Some(target) if target.first().is_some_and(|s| s == "crate") && target != path => {
                self.file_of(&[target.as_slice(), &rest[depth + 1..]].concat())
            }
            _ => Some(source),
        }
    }
}
