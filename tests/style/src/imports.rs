use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};

use crate::SourceFile;
use crate::names::{is_for_tests, parse};

/// A module's path within its crate; the crate's root is empty.
type ModulePath = Vec<String>;

/// The imports and re-exports of one file.
#[derive(Debug, Default)]
struct Module {
    path: String,
    /// Full paths within the crate that `use` lines name.
    imports: Vec<ModulePath>,
    /// A name that the file re-exports, and the full path behind it.
    exports: BTreeMap<String, ModulePath>,
    /// Full paths of modules of which everything is re-exported.
    globs: Vec<ModulePath>,
}

/// Returns the groups of files that import each other in a circle, for every crate whose `src`
/// folder is among the sources. A re-export is not an import: it is followed to the file behind it.
///
/// # Panics
/// If a file does not parse.
pub fn import_cycles(sources: &[SourceFile]) -> Vec<Vec<String>> {
    let crates = crates(sources);
    crates.values().flat_map(cycles_of_crate).collect()
}

/// Returns the groups of folders beside each other whose files import each other in a circle, for
/// every crate whose `src` folder is among the sources.
///
/// # Panics
/// If a file does not parse.
pub fn folder_cycles(sources: &[SourceFile]) -> Vec<Vec<String>> {
    let crates = crates(sources);
    crates.values().flat_map(folder_cycles_of_crate).collect()
}

fn crates(sources: &[SourceFile]) -> BTreeMap<&str, BTreeMap<ModulePath, Module>> {
    let mut crates: BTreeMap<&str, BTreeMap<ModulePath, Module>> = BTreeMap::new();
    for source in sources {
        let Some((root, inner)) = source.path.split_once("src/") else {
            continue;
        };
        if inner.starts_with("bin/") {
            continue;
        }
        let module_path = module_path(inner);
        let mut module = Module {
            path: source.path.clone(),
            ..Module::default()
        };
        let mut visitor = Imports {
            here: module_path.clone(),
            module: &mut module,
        };
        visitor.visit_file(&parse(source));
        crates.entry(root).or_default().insert(module_path, module);
    }
    crates
}

fn module_path(inner: &str) -> ModulePath {
    let inner = inner.trim_end_matches(".rs");
    let mut parts: ModulePath = inner.split('/').map(String::from).collect();
    if parts
        .last()
        .is_some_and(|last| matches!(&**last, "mod" | "lib" | "main"))
    {
        parts.pop();
    }
    parts
}

struct Imports<'a> {
    here: ModulePath,
    module: &'a mut Module,
}

impl<'ast> Visit<'ast> for Imports<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let is_export = !matches!(item.vis, syn::Visibility::Inherited);
        self.walk(&item.tree, Vec::new(), is_export);
    }
}

impl Imports<'_> {
    fn walk(&mut self, tree: &syn::UseTree, mut prefix: ModulePath, is_export: bool) {
        match tree {
            syn::UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.walk(&path.tree, prefix, is_export);
            }
            syn::UseTree::Name(name) => {
                let ident = name.ident.to_string();
                if ident != "self" {
                    prefix.push(ident.clone());
                }
                self.add(prefix, Some(ident), is_export);
            }
            syn::UseTree::Rename(rename) => {
                prefix.push(rename.ident.to_string());
                self.add(prefix, Some(rename.rename.to_string()), is_export);
            }
            syn::UseTree::Glob(_) => self.add(prefix, None, is_export),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.walk(tree, prefix.clone(), is_export);
                }
            }
        }
    }

    /// Records one imported path; `name` is absent for a glob.
    fn add(&mut self, path: ModulePath, name: Option<String>, is_export: bool) {
        let Some(full) = self.absolute(&path) else {
            return;
        };
        match (is_export, name) {
            (true, Some(name)) => {
                self.module.exports.insert(name, full);
            }
            (true, None) => self.module.globs.push(full),
            (false, _) => self.module.imports.push(full),
        }
    }

    fn absolute(&self, path: &[String]) -> Option<ModulePath> {
        let first = path.first()?;
        let mut full = match &**first {
            "crate" => Vec::new(),
            "super" | "self" => self.here.clone(),
            // A path that begins with a child module's name.
            _ if self.here.is_empty() || self.module.path.ends_with("mod.rs") => {
                let mut full = self.here.clone();
                full.extend_from_slice(path);
                return Some(full);
            }
            _ => return None,
        };
        let mut rest = path;
        while let Some((part, after)) = rest.split_first() {
            match &**part {
                "crate" | "self" => {}
                "super" => {
                    full.pop();
                }
                _ => break,
            }
            rest = after;
        }
        full.extend_from_slice(rest);
        Some(full)
    }
}

/// Follows re-exports from a full path to the file that declares the thing.
fn resolve(
    modules: &BTreeMap<ModulePath, Module>,
    path: &[String],
    depth: usize,
) -> Option<ModulePath> {
    if depth > 8 {
        return None;
    }
    let length = (0..=path.len())
        .rev()
        .find(|&length| modules.contains_key(&path[..length]))?;
    let module = &modules[&path[..length]];
    let Some(name) = path.get(length) else {
        return Some(path.to_vec());
    };
    if let Some(target) = module.exports.get(name) {
        let mut target = target.clone();
        target.extend_from_slice(&path[length + 1..]);
        return resolve(modules, &target, depth + 1);
    }
    Some(path[..length].to_vec())
}

/// Returns the files of a crate and the files that they import.
fn imports_of_crate(
    modules: &BTreeMap<ModulePath, Module>,
) -> impl Iterator<Item = (String, String)> {
    let path = |name: &ModulePath| modules[name].path.clone();
    modules.values().flat_map(move |module| {
        let targets = module.imports.iter();
        let targets = targets.filter_map(|import| resolve(modules, import, 0));
        targets.map(move |target| (module.path.clone(), path(&target)))
    })
}

fn cycles_of_crate(modules: &BTreeMap<ModulePath, Module>) -> Vec<Vec<String>> {
    cycles(imports_of_crate(modules))
}

fn folder_cycles_of_crate(modules: &BTreeMap<ModulePath, Module>) -> Vec<Vec<String>> {
    let folders = |(from, to): (String, String)| {
        let (from, to): (Vec<_>, Vec<_>) = (from.split('/').collect(), to.split('/').collect());
        let same = from.iter().zip(&to).take_while(|(one, other)| one == other);
        let depth = same.count() + 1;
        let are_folders = from.len() > depth && to.len() > depth;
        are_folders.then(|| (from[..depth].join("/"), to[..depth].join("/")))
    };
    cycles(imports_of_crate(modules).filter_map(folders))
}

/// Returns the groups of names that reach each other.
fn cycles(edges: impl Iterator<Item = (String, String)>) -> Vec<Vec<String>> {
    let edges: BTreeSet<(String, String)> = edges.filter(|(from, to)| from != to).collect();
    let ends = edges.iter().flat_map(|(from, to)| [from, to]);
    let names: BTreeSet<&String> = ends.collect();
    let names: Vec<&String> = names.into_iter().collect();
    let number = |name: &String| names.binary_search(&name).unwrap_or_default();
    let mut graph: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); names.len()];
    for (from, to) in &edges {
        graph[number(from)].insert(number(to));
    }
    let found = components(&graph).into_iter();
    let found = found.filter(|component| component.len() > 1);
    let named = |component: Vec<usize>| component.iter().map(|at| names[*at].clone()).collect();
    found.map(named).collect()
}

/// Returns the strongly connected components: files that reach each other.
fn components(edges: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let reach: Vec<BTreeSet<usize>> = (0..edges.len())
        .map(|start| reachable(edges, start))
        .collect();
    let mut is_taken = vec![false; edges.len()];
    let mut found = Vec::new();
    for start in 0..edges.len() {
        if is_taken[start] {
            continue;
        }
        let component: Vec<usize> = (start..edges.len())
            .filter(|&other| {
                other == start || (reach[start].contains(&other) && reach[other].contains(&start))
            })
            .collect();
        for &member in &component {
            is_taken[member] = true;
        }
        found.push(component);
    }
    found
}

fn reachable(edges: &[BTreeSet<usize>], start: usize) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        for &next in &edges[at] {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile {
            path: path.into(),
            text: text.into(),
        }
    }

    #[test]
    fn mutual_imports_are_a_cycle() {
        let cycles = import_cycles(&[
            file("x/src/lib.rs", "mod a; mod b; pub use a::A;"),
            file("x/src/a.rs", "use crate::b::B; pub struct A;"),
            file("x/src/b.rs", "use crate::A; pub struct B;"),
        ]);
        assert_eq!(cycles, [["x/src/a.rs", "x/src/b.rs"]]);
    }

    #[test]
    fn folders_of_files_without_a_cycle_may_have_one() {
        let sources = [
            file("x/src/a/one.rs", "use crate::b::two::B; pub struct A;"),
            file("x/src/a/three.rs", "pub struct C;"),
            file("x/src/b/two.rs", "use crate::a::three::C; pub struct B;"),
        ];
        assert!(import_cycles(&sources).is_empty());
        assert_eq!(folder_cycles(&sources), [["x/src/a", "x/src/b"]]);
    }

    #[test]
    fn re_exports_are_followed_not_counted() {
        let cycles = import_cycles(&[
            file("x/src/lib.rs", "mod room; pub use room::A;"),
            file(
                "x/src/room/mod.rs",
                "mod a; mod b; pub use a::A; pub use b::B;",
            ),
            file("x/src/room/a.rs", "use super::B; pub struct A;"),
            file("x/src/room/b.rs", "pub struct B;"),
        ]);
        assert!(cycles.is_empty(), "{cycles:?}");
    }
}
