//! Reads device nodes, one on each line, and prints what to do with a range that has to read as zero, by the published document.
use verdict_format::{read, Class, Devnum, Document, FindingCode};

fn document(node: &str) -> Option<Document> {
    read(Devnum::of_node(node).ok()?).ok()?
}

fn decide(document: Option<Document>) -> &'static str {
    let Some(d) = document else { return "write" };
    match d.class {
        Class::Broken => "write, never zero or discard",
        Class::Fast if d.findings.iter().any(|f| f.code == FindingCode::DeferredCost) => "zero only what stays empty",
        Class::Fast if d.zeroes_verified == Some(true) => "zero",
        Class::Fast => "zero, read back a sample",
        Class::Slow | Class::None | Class::Unknown => "write",
    }
}

fn main() {
    for node in std::io::stdin().lines().map_while(Result::ok) {
        println!("{}", decide(document(&node)));
    }
}
