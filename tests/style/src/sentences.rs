use crate::{MAX_WIDTH, SourceFile};

/// A place that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StyleFault {
    /// The file, from the workspace's root.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The text that breaks the rule.
    pub text: String,
}

impl std::fmt::Display for StyleFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

/// A run of comment lines of one kind: `///`, `//!` or `//`.
#[derive(Clone, Debug)]
pub struct DocBlock {
    /// The first line, from 1.
    pub line: usize,
    /// Whether it documents an item (`///`, `//!`).
    pub is_doc: bool,
    /// The text without the comment marks; code between fences is left out.
    pub text: String,
}

/// Words that begin a clause used as a subject, and people's pronouns used for programs.
const FORBIDDEN_BEGINNINGS: [&str; 9] = [
    "Who",
    "Whoever",
    "Whose",
    "What",
    "Whatever",
    "Of",
    "Nobody",
    "Somebody",
    "Everybody",
];

/// Returns the comment blocks of a file, in order.
pub fn doc_blocks(source: &SourceFile) -> Vec<DocBlock> {
    let mut blocks: Vec<(&str, DocBlock)> = Vec::new();
    let mut previous_mark = "";
    let mut is_in_fence = false;
    for (index, line) in source.text.lines().enumerate() {
        let trimmed = line.trim_start();
        let mark = ["///", "//!", "//"]
            .into_iter()
            .find(|mark| trimmed.starts_with(mark))
            .unwrap_or_default();
        let text = trimmed[mark.len()..].trim();
        if !mark.is_empty() {
            if mark != previous_mark {
                is_in_fence = false;
                let block = DocBlock {
                    line: index + 1,
                    is_doc: mark != "//",
                    text: String::new(),
                };
                blocks.push((mark, block));
            }
            if text.starts_with("```") {
                is_in_fence = !is_in_fence;
            } else if !is_in_fence {
                let block = &mut blocks.last_mut().expect("pushed above").1;
                block.text.push_str(text);
                block.text.push('\n');
            }
        }
        previous_mark = mark;
    }
    blocks.into_iter().map(|(_, block)| block).collect()
}

/// Returns the sentences of prose that begin with a forbidden word, or use a
/// pronoun for people.
pub fn sentence_faults(path: &str, line: usize, prose: &str) -> Vec<StyleFault> {
    let mut faults = Vec::new();
    for sentence in sentences(prose) {
        let words = sentence.trim_start_matches(['-', '*', '#', '>', '`', '"', ' ']);
        let first = words
            .split(|c: char| !c.is_alphanumeric())
            .next()
            .unwrap_or_default();
        let is_question = words.ends_with('?');
        let is_forbidden = FORBIDDEN_BEGINNINGS.contains(&first) || words.starts_with("So many");
        let has_person = words
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| matches!(word, "nobody" | "somebody" | "everybody"));
        if (is_forbidden && !is_question) || has_person {
            faults.push(StyleFault {
                path: path.to_string(),
                line,
                text: words.chars().take(80).collect(),
            });
        }
    }
    faults
}

/// Splits prose into sentences; a list's item and a paragraph begin a new one.
fn sentences(prose: &str) -> Vec<String> {
    let mut found = Vec::new();
    for paragraph in paragraphs(prose) {
        let mut rest = paragraph.as_str();
        while let Some(end) = sentence_end(rest) {
            found.push(rest[..end].trim().to_string());
            rest = &rest[end..];
        }
        found.push(rest.trim().to_string());
    }
    found.retain(|sentence| !sentence.is_empty());
    found
}

fn paragraphs(prose: &str) -> Vec<String> {
    let mut found: Vec<String> = vec![String::new()];
    for line in prose.lines() {
        let is_new = line.is_empty() || line.starts_with(['-', '*', '#', '|']);
        if is_new {
            found.push(String::new());
        }
        let last = found.last_mut().expect("never empty");
        last.push_str(line);
        last.push(' ');
    }
    found
}

fn sentence_end(text: &str) -> Option<usize> {
    let ends = [". ", "? ", "! ", ": "];
    let mut best = None;
    for end in ends {
        if let Some(at) = text.find(end) {
            let after = at + end.len();
            let is_sentence = text[after..].starts_with(|c: char| c.is_uppercase());
            if is_sentence && best.is_none_or(|best| after < best) {
                best = Some(after);
            }
        }
    }
    best.filter(|&end| end < text.len())
}

/// Returns the comment lines wider than [`MAX_WIDTH`] that hold no link.
pub fn long_comment_lines(source: &SourceFile) -> Vec<StyleFault> {
    let is_fault = |line: &str| {
        line.trim_start().starts_with("//")
            && line.chars().count() > MAX_WIDTH
            && !line.contains("://")
    };
    source
        .text
        .lines()
        .enumerate()
        .filter(|(_, line)| is_fault(line))
        .map(|(index, line)| StyleFault {
            path: source.path.clone(),
            line: index + 1,
            text: line.trim().to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_fault(prose: &str) -> bool {
        !sentence_faults("x.md", 1, prose).is_empty()
    }

    #[test]
    fn forbidden_beginnings_are_found() {
        assert!(is_fault("Who has it loses it."));
        assert!(is_fault("It ends. What is not sealed is lost."));
        assert!(is_fault("Of two words the later\ncounts."));
        assert!(is_fault("The task is open: nobody takes it."));
        assert!(is_fault("- So many of something at a time."));
    }

    #[test]
    fn plain_sentences_and_questions_pass() {
        assert!(!is_fault("Returns what the worker sent."));
        assert!(!is_fault("## What is a book?"));
        assert!(!is_fault(
            "Whether this member skips the iteration at `depth`."
        ));
    }
}
