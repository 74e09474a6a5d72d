use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use proc_macro2::{Delimiter, TokenTree};
use syn::visit::{self, Visit};

use crate::SourceFile;
use crate::sentences::StyleFault;

/// Returns every test's name and place: functions with an attribute that ends in `test`, also those
/// in the body of a macro as `proptest!`.
///
/// # Panics
/// If a file does not parse.
pub fn test_names(source: &SourceFile) -> Vec<StyleFault> {
    let mut visitor = Tests {
        path: &source.path,
        found: Vec::new(),
    };
    visitor.visit_file(&parse(source));
    visitor.found
}

struct Tests<'a> {
    path: &'a str,
    found: Vec<StyleFault>,
}

impl<'ast> Visit<'ast> for Tests<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        let is_test = function.attrs.iter().any(|attribute| {
            attribute
                .path()
                .segments
                .last()
                .is_some_and(|last| last.ident == "test")
        });
        if is_test {
            self.found.push(StyleFault {
                path: self.path.to_string(),
                line: function.sig.ident.span().start().line,
                text: function.sig.ident.to_string(),
            });
        }
        visit::visit_item_fn(self, function);
    }

    fn visit_macro(&mut self, body: &'ast syn::Macro) {
        let mut is_test = false;
        let mut tokens = body.tokens.clone().into_iter();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                    is_test |= group.stream().to_string() == "test";
                }
                TokenTree::Ident(word) if is_test && word == "fn" => {
                    is_test = false;
                    let Some(name) = tokens.next() else { break };
                    self.found.push(StyleFault {
                        path: self.path.to_string(),
                        line: name.span().start().line,
                        text: name.to_string(),
                    });
                }
                _ => {}
            }
        }
    }
}

/// Returns the type names that several files outside of tests declare, with these files.
///
/// # Panics
/// If a file does not parse.
pub fn repeated_types(sources: &[SourceFile]) -> BTreeMap<String, Vec<String>> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources {
        if !source.path.contains("src/") {
            continue;
        }
        let mut visitor = Types { found: Vec::new() };
        visitor.visit_file(&parse(source));
        for name in visitor.found {
            places.entry(name).or_default().push(source.path.clone());
        }
    }
    places.retain(|_, files| files.len() > 1);
    places
}

struct Types {
    found: Vec<String>,
}

impl<'ast> Visit<'ast> for Types {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            syn::Item::Struct(item) => self.found.push(item.ident.to_string()),
            syn::Item::Enum(item) => self.found.push(item.ident.to_string()),
            syn::Item::Trait(item) => self.found.push(item.ident.to_string()),
            syn::Item::Mod(module) if is_for_tests(&module.attrs) => return,
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_item_fn(&mut self, _: &'ast syn::ItemFn) {}
}

pub(crate) fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Ident>()
                .is_ok_and(|argument| argument == "test")
    })
}

/// Returns the constants whose names leave the bound or the unit to be guessed.
///
/// # Panics
/// If a file does not parse.
pub fn vague_constants(source: &SourceFile) -> Vec<StyleFault> {
    let mut visitor = VagueConstants {
        path: &source.path,
        found: Vec::new(),
    };
    visitor.visit_file(&parse(source));
    visitor.found
}

struct VagueConstants<'a> {
    path: &'a str,
    found: Vec<StyleFault>,
}

impl VagueConstants<'_> {
    fn check(&mut self, name: &syn::Ident) {
        let text = name.to_string();
        let is_vague = text.starts_with("MOST")
            || text.starts_with("LEAST")
            || matches!(
                &*text,
                "PATIENCE" | "WAITING" | "AT_ONCE" | "TOLD" | "LONG" | "SOON"
            );
        if is_vague {
            self.found.push(StyleFault {
                path: self.path.to_string(),
                line: name.span().start().line,
                text,
            });
        }
    }
}

impl<'ast> Visit<'ast> for VagueConstants<'_> {
    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.check(&item.ident);
        visit::visit_item_const(self, item);
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.check(&item.ident);
    }
}

thread_local! {
    /// The texts that a thread has parsed.
    static PARSED: RefCell<HashMap<String, Rc<syn::File>>> = RefCell::default();
}

pub(crate) fn parse(source: &SourceFile) -> Rc<syn::File> {
    let known = PARSED.with_borrow(|parsed| parsed.get(&source.text).cloned());
    known.unwrap_or_else(|| {
        let file = syn::parse_file(&source.text).unwrap_or_else(|error| {
            let line = error.span().start().line;
            panic!("{}:{line}: {error}", source.path)
        });
        let file = Rc::new(file);
        PARSED.with_borrow_mut(|parsed| parsed.insert(source.text.clone(), file.clone()));
        file
    })
}
