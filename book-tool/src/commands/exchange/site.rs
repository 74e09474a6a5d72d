//! `kagetsu export --format site`: a folder of static files that shows a book.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use crc32fast::Hasher;
use kagetsu_api::OverviewJson;
use kagetsu_book::Compilation;
use kagetsu_compiled::{Compiled, Overview};
use kagetsu_files::{Readers, replace_file};
use kagetsu_http::{page_files, program_files, program_for_browsers};
use kagetsu_program::shown;
use kagetsu_proofs::{begins_as_win_tree, pack};
use kagetsu_reader::read_book;
use serde::Serialize;

use crate::commands::maintenance::compile;
use crate::commands::verify::read_tree::read_tree;

/// The program for browsers.
const ENGINE: &str = "kagetsu.wasm";
/// The policy of the site: its own files alone, and WebAssembly.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; \
                      style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'";
/// The text of the index until the page has begun.
const NO_SCRIPT: &str = "This page needs JavaScript, and a web server that shows its folder, as \
                         <code>python3 -m http.server</code>: a browser runs no modules from a file. \
                         <span lang=\"zh-CN\">此页面需要 JavaScript，并须由网站服务器提供（例如 \
                         <code>python3 -m http.server</code>）：浏览器不会从本地文件运行模块。</span>";

/// The arguments of a site.
#[derive(Debug, Default, clap::Args)]
pub(in crate::commands) struct SiteArgs {
    /// For --format site: the title of the page [default: Kagetsu]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// For --format site: the language of the page for visitors who have chosen none [default:
    /// that of their browser]
    #[arg(long, value_name = "LANGUAGE", value_parser = ["en", "zh"])]
    language: Option<String>,
    /// For --format site: the program for browsers, which `clients/web/build.sh` makes [default:
    /// kagetsu.wasm beside this program]
    #[arg(long, value_name = "FILE")]
    wasm: Option<PathBuf>,
}

/// A book of a site.
#[derive(Debug, Serialize)]
struct SiteBook {
    file: String,
    bytes: u64,
    /// Whether the page reads it in parts.
    parts: bool,
}

/// The description that the page reads first.
#[derive(Debug, Serialize)]
struct SiteJson {
    version: &'static str,
    engine: &'static str,
    books: Vec<SiteBook>,
    /// The content of the first book in short, by which the page begins before it is open.
    overview: OverviewJson,
    files: Vec<String>,
    /// The checksum of all files, by which a page notices that the site was written anew.
    digest: u32,
}

impl SiteArgs {
    /// Writes a site of these books, and returns the bytes of it and of what was new. Files that
    /// stand there with the same content stay as they are.
    ///
    /// # Errors
    /// If a book or the program for browsers is missing, or the folder cannot be written.
    pub(in crate::commands) fn write(&self, books: &[&Path], folder: &Path) -> Result<(u64, u64)> {
        let engine = self.engine()?;
        let kinds: Vec<bool> = books
            .iter()
            .map(|book| has_parts(book))
            .collect::<Result<_>>()?;
        let mut out = SiteFolder {
            folder,
            size: (0, 0),
            digest: Hasher::new(),
            overview: OverviewJson { variants: vec![] },
        };
        let (mut site_books, mut files) = (Vec::new(), Vec::new());
        for (name, file) in program_files(&engine) {
            out.copy(&name, &file)?;
            files.push(name);
        }
        for (book, parts) in books.iter().zip(kinds) {
            site_books.push(out.book(book, parts)?);
        }
        for (path, text) in page_files().filter(|(path, _)| *path != "/") {
            // The worker that keeps the site must stand beside its index.
            let name = match path {
                "/page/sw.js" => "sw.js",
                path => path.trim_start_matches('/'),
            };
            out.put(name, text.as_bytes())?;
            files.push(name.to_string());
        }
        out.put("index.html", self.index().as_bytes())?;
        let site = SiteJson {
            version: env!("CARGO_PKG_VERSION"),
            engine: ENGINE,
            books: site_books,
            overview: out.overview.clone(),
            files,
            digest: out.digest.clone().finalize(),
        };
        out.put("site.json", serde_json::to_string(&site)?.as_bytes())?;
        Ok(out.size)
    }

    fn title(&self) -> &str {
        self.title.as_deref().unwrap_or("Kagetsu")
    }

    fn engine(&self) -> Result<PathBuf> {
        let file = self.wasm.clone().unwrap_or_else(program_for_browsers);
        ensure!(
            file.is_file(),
            "{} is missing: give the program for browsers by --wasm; a release has it beside \
             kagetsu, and clients/web/build.sh makes it",
            shown(&file)
        );
        Ok(file)
    }

    /// Returns the index of the page for a folder, with its title, language and policy.
    fn index(&self) -> String {
        let index = page_files().find(|(path, _)| *path == "/");
        let index = index
            .map_or("", |(_, text)| text)
            .replace("\"/page/", "\"page/");
        let language = self.language.iter();
        let language: String = language
            .map(|name| format!(" data-language=\"{name}\""))
            .collect();
        let title = self.title().replace('&', "&amp;").replace('<', "&lt;");
        let policy = format!(
            "<title>{title}</title>\n<meta http-equiv=\"Content-Security-Policy\" \
             content=\"{POLICY}\">"
        );
        index
            .replace(
                " lang=\"en\"",
                &format!(" lang=\"en\" data-site=\"site.json\"{language}"),
            )
            .replace("<title>Kagetsu</title>", &policy)
            .replace("<body>", &format!("<body><p>{NO_SCRIPT}</p>"))
    }
}

/// Whether the page reads a book in parts. A certificate is read whole.
fn has_parts(book: &Path) -> Result<bool> {
    if book.is_dir() {
        return Ok(true);
    }
    let mut first = [0; 14];
    let read = fs::File::open(book).and_then(|mut file| file.read(&mut first));
    let read = read.with_context(|| format!("cannot read {}", shown(book)))?;
    if begins_as_win_tree(&first[..read]) {
        return Ok(false);
    }
    ensure!(
        Compiled::open(book).is_ok(),
        "{} is no book folder, no compiled book and no certificate: a site shows these",
        shown(book)
    );
    Ok(true)
}

/// The folder of a site, to which files are written.
struct SiteFolder<'a> {
    folder: &'a Path,
    /// The bytes of all files so far, and of those that were written.
    size: (u64, u64),
    /// The checksum of all files so far.
    digest: Hasher,
    /// The content of its first book in short.
    overview: OverviewJson,
}

impl SiteFolder<'_> {
    /// Puts a book into the folder: a folder compiled, a file as it is.
    fn book(&mut self, book: &Path, parts: bool) -> Result<SiteBook> {
        let name = book.file_name().unwrap_or_default().to_string_lossy();
        let (file, before) = (name.trim_end_matches(".book"), self.size.0);
        let file = match book.is_dir() {
            true => {
                let file = format!("{file}.kbk");
                let compiled = self.folder.join(format!("{file}.made"));
                fs::create_dir_all(self.folder)?;
                let book = read_book(book)?;
                let compilation = Compilation {
                    extras: compile::annotations(&book)?,
                    ..Compilation::default()
                };
                book.compile(&compiled, compilation, &mut |_| {})?;
                self.compiled(&file, &compiled)?;
                fs::remove_file(&compiled)?;
                file
            }
            false if parts => {
                self.compiled(&name, book)?;
                name.into_owned()
            }
            // The short form is three quarters of the bytes to load, and is read faster.
            false => {
                let file = format!("{}.xz", name.trim_end_matches(".xz"));
                let tree = read_tree(book)?;
                self.put(&file, &pack(&tree)?)?;
                let nodes = tree.nodes().len() as u64;
                self.holds(&Overview::of_root(tree.position, nodes));
                file
            }
        };
        let bytes = self.size.0 - before;
        Ok(SiteBook { file, bytes, parts })
    }

    fn compiled(&mut self, name: &str, from: &Path) -> Result<()> {
        self.holds(Compiled::open(from)?.overview());
        self.copy(name, from)
    }

    /// Notes what the first book holds: the page begins there.
    fn holds(&mut self, book: &Overview) {
        if self.overview.variants.is_empty() {
            self.overview = OverviewJson::from(book);
        }
    }

    fn copy(&mut self, name: &str, from: &Path) -> Result<()> {
        let content = fs::read(from).with_context(|| format!("cannot read {}", shown(from)))?;
        self.put(name, &content)
    }

    /// Writes a file, unless it has this content.
    fn put(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let to = self.folder.join(name);
        self.size.0 += content.len() as u64;
        self.digest.update(content);
        if fs::read(&to).is_ok_and(|known| known == content) {
            return Ok(());
        }
        self.size.1 += content.len() as u64;
        let written = fs::create_dir_all(to.parent().unwrap_or(&to))
            .and_then(|()| replace_file(&to, Readers::Usual, |out| out.write_all(content)));
        written.with_context(|| format!("cannot write {}", shown(&to)))
    }
}
