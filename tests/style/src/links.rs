use std::path::Path;

use crate::Document;
use crate::sentences::StyleFault;

/// Returns the relative links of a document that lead to no file below `root`.
pub fn broken_links(root: &Path, document: &Document) -> Vec<StyleFault> {
    let folder = Path::new(&document.path)
        .parent()
        .expect("a file has a folder");
    let mut faults = Vec::new();
    for (index, line) in document.text.lines().enumerate() {
        for link in links(line) {
            let target = link.split('#').next().unwrap_or_default();
            let is_relative = !target.is_empty() && !target.contains(':');
            if is_relative && !root.join(folder).join(target).exists() {
                faults.push(StyleFault {
                    path: document.path.clone(),
                    line: index + 1,
                    text: format!("{link} leads to no file"),
                });
            }
        }
    }
    faults
}

/// Returns the targets of the links in a line of Markdown.
pub fn links(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find("](") {
        rest = &rest[start + 2..];
        let Some(end) = rest.find(')') else {
            break;
        };
        found.push(&rest[..end]);
        rest = &rest[end..];
    }
    found
}
