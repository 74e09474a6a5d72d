use crate::sentences::{StyleFault, sentence_faults};
use crate::{Document, MAX_WIDTH};

/// Returns the sentences of a document that break the rules of language; code is left out.
pub fn markdown_sentences(document: &Document) -> Vec<StyleFault> {
    let mut faults = Vec::new();
    let mut paragraph = String::new();
    let mut start = 1;
    let mut is_in_fence = false;
    for (index, line) in document.text.lines().chain([""]).enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            is_in_fence = !is_in_fence;
            continue;
        }
        let begins_new = trimmed.is_empty() || trimmed.starts_with(['-', '*', '#', '|', '>']);
        if begins_new || is_in_fence {
            faults.extend(sentence_faults(&document.path, start, &paragraph));
            paragraph.clear();
            start = index + 1;
        }
        if !is_in_fence && !trimmed.starts_with('|') {
            paragraph.push_str(trimmed);
            paragraph.push('\n');
        }
    }
    faults
}

/// Returns the lines of prose wider than [`MAX_WIDTH`]: no tables, code or links.
pub fn long_markdown_lines(document: &Document) -> Vec<StyleFault> {
    let mut faults = Vec::new();
    let mut is_in_fence = false;
    for (index, line) in document.text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_in_fence = !is_in_fence;
        }
        let is_prose = !is_in_fence && !line.starts_with('|') && !line.contains("](");
        if is_prose && line.chars().count() > MAX_WIDTH && !line.contains("://") {
            faults.push(StyleFault {
                path: document.path.clone(),
                line: index + 1,
                text: line.chars().take(80).collect(),
            });
        }
    }
    faults
}
