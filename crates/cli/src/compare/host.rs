//! The differences between the machines of two result files.

use crate::export::Document;

/// Returns a line for each fact that the figures depend on and that differs.
pub(super) fn differences(old: &Document, new: &Document) -> Vec<String> {
    let facts = |document: &Document| {
        let (host, disk) = (&document.host, &document.host.file_system);
        let text = |fact: &Option<String>| fact.clone().unwrap_or_default();
        [
            ("system", host.system.clone()),
            ("kernel", text(&host.kernel)),
            ("processor", text(&host.cpu)),
            ("cores", host.cores.to_string()),
            ("container", text(&host.container)),
            ("disk", document.disk.clone()),
            ("file system", disk.kind.clone()),
            ("device", text(&disk.device)),
            ("mount options", text(&disk.options)),
        ]
    };
    let both = facts(old).into_iter().zip(facts(new));
    let differing = both.filter(|((_, old), (_, new))| old != new);
    differing
        .map(|((name, old), (_, new))| format!("{name}: {} -> {}", shown(&old), shown(&new)))
        .collect()
}

fn shown(fact: &str) -> &str {
    if fact.is_empty() { "unknown" } else { fact }
}
