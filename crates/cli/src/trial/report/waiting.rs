//! The call that the program waits for longest: its share, whether smallfry does it, and what would
//! help.

use super::sentence::{plural, say};
use crate::output::text;
use crate::trial::counts::{Form, Longest};
use std::fmt::Write as _;

/// Functions that are native as promises, not with callbacks.
const AS_PROMISES: [&str; 7] = [
    "access", "chmod", "lstat", "readdir", "readlink", "stat", "utimes",
];

/// Prints it, in at most five sentences.
pub(super) fn in_words(out: &mut String, longest: &Longest) {
    let _ = writeln!(out, "\nIn words");
    let Longest {
        name,
        form,
        native,
        calls,
        handed_on,
        ns,
        share,
        ..
    } = longest;
    // Only where it is recursive are these two native, which is not what most programs call.
    let is_plain_listing = name == "readdir" && *form != Form::Promise && handed_on == calls;
    let native = *native && !is_plain_listing;
    let function = match form {
        Form::Sync => format!("{name}Sync"),
        Form::Callback => name.clone(),
        Form::Promise => format!("promises.{name}"),
    };
    say(
        out,
        '-',
        &format!(
            "Of all functions of node:fs the program waits longest for {function}: {}, {} each on average.",
            plural(*calls as usize, "call"),
            text::duration(*ns as f64 / (*calls).max(1) as f64)
        ),
    );
    say(
        out,
        '-',
        &format!(
            "That is {:.0} % of the time in such functions, where calls in flight at once count in full.",
            share * 100.0
        ),
    );
    let left = match (native, *handed_on) {
        (false, _) => format!("smallfry leaves {function} to node:fs."),
        (true, 0) => format!("smallfry does {function}."),
        (true, left) if left == *calls => format!(
            "smallfry would do {function}, but all of the calls have options or files that only \
             node:fs takes, or the program replaces a function that they use, as graceful-fs does."
        ),
        (true, left) => format!(
            "smallfry does {function}, but {} of the calls had options or files that only node:fs takes.",
            text::thousands(left as i64)
        ),
    };
    say(out, '-', &left);
    if native && handed_on == calls {
        say(
            out,
            '-',
            "What would help: to call it without what keeps smallfry from it.",
        );
    } else {
        say(out, '-', &what_would_help(name, *form, native));
    }
}

fn what_would_help(name: &str, form: Form, native: bool) -> String {
    match (name, form, native) {
        ("readFile", ..) => {
            "What would help: readFiles, which reads many files in one call.".to_owned()
        }
        ("writeFile", ..) => {
            "What would help: writeFiles, which writes many files in one call.".to_owned()
        }
        (name, Form::Callback | Form::Sync, false) if AS_PROMISES.contains(&name) => {
            format!("What would help: many calls of promises.{name} at once, which smallfry does.")
        }
        (_, Form::Sync, false) => "What would help: fewer calls, or promises, many at once; a \
            blocking call is little more than the system's own."
            .to_owned(),
        (_, _, true) => "What would help: fewer calls, or more of them at once.".to_owned(),
        _ => "What would help: fewer calls; native code gains too little here.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(name: &str, form: Form, native: bool, handed_on: u64) -> String {
        let mut out = String::new();
        let name = name.to_owned();
        let longest = Longest {
            name,
            form,
            native,
            calls: 5000,
            handed_on,
            ns: 2_000_000_000,
            share: 0.91,
        };
        in_words(&mut out, &longest);
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_longest_function_is_named_with_what_would_help() {
        let said = words("mkdir", Form::Promise, false, 0);
        assert!(said.contains("promises.mkdir: 5,000 calls"), "{said}");
        assert!(said.contains("91 %"), "{said}");
        assert!(
            said.contains("smallfry leaves promises.mkdir to node:fs."),
            "{said}"
        );
        let said = words("readFile", Form::Promise, true, 12);
        assert!(said.contains("but 12 of the calls"), "{said}");
        assert!(said.contains("What would help: readFiles"), "{said}");
        let said = words("writeFile", Form::Callback, true, 5000);
        assert!(said.contains("graceful-fs"), "{said}");
        assert!(!said.contains("writeFiles"), "{said}");
        let said = words("readdir", Form::Sync, true, 5000);
        assert!(said.contains("smallfry leaves readdirSync"), "{said}");
        assert!(said.contains("calls of promises.readdir"), "{said}");
        let said = words("stat", Form::Callback, false, 0);
        assert!(
            said.contains("many calls of promises.stat at once"),
            "{said}"
        );
    }
}
