//! Writes `src/generated.rs`. `bindings/generate` runs this program, because it knows where the headers are.
//!
//! This is an example and not a build script, so that a plain build generates nothing.

use std::path::Path;
use std::process::ExitCode;

#[path = "../generator/mod.rs"]
mod generator;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [headers, output] = arguments.as_slice() else {
        eprintln!("usage: generate HEADERS OUTPUT");
        return ExitCode::from(2);
    };
    match run(Path::new(headers), Path::new(output)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("generate: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn run(headers: &Path, output: &Path) -> Result<(), String> {
    let scratch = std::env::temp_dir().join(format!("bindings-generate-{}", std::process::id()));
    std::fs::create_dir(&scratch).map_err(|e| format!("{}: {e}", scratch.display()))?;
    let text = generator::generate(headers, &scratch);
    let _ = std::fs::remove_dir_all(&scratch);
    std::fs::write(output, text?).map_err(|e| format!("{}: {e}", output.display()))
}
