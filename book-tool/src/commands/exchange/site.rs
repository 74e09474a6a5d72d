//! `kagetsu export --format site`: a folder of static files that shows a book.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use kagetsu_book::Compilation;
use kagetsu_compiled::Compiled;
use kagetsu_files::{Readers, replace_file};
use kagetsu_http::{page_files, program_files, program_for_browsers};
use kagetsu_program::shown;
use kagetsu_reader::read_book;
use serde::Serialize;

use crate::commands::maintenance::compile;

/// The program for browsers.
const ENGINE: &str = "kagetsu.wasm";
/// The first bytes of certificates: packed by xz, or as text.
const CERTIFICATES: [&[u8]; 2] = [b"\xfd7zXZ\0", b"kagetsu-proof "];
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
    /// For --format site: the title of the page
    #[arg(long, default_value = "Kagetsu", value_name = "TEXT")]
    title: String,
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
struct SiteJson<'a> {
    version: &'static str,
    title: &'a str,
    engine: &'static str,
    books: Vec<SiteBook>,
    files: Vec<String>,
}

impl SiteArgs {
    /// Returns the arguments of a site with this title.
    pub(in crate::commands) fn named(title: &str) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// Writes a site of these books, and returns its size in bytes.
    ///
    /// # Errors
    /// If a book or the program for browsers is missing, or the folder cannot be written.
    pub(in crate::commands) fn write(&self, books: &[&Path], folder: &Path) -> Result<u64> {
        let engine = self.engine()?;
        let kinds: Vec<bool> = books
            .iter()
            .map(|book| has_parts(book))
            .collect::<Result<_>>()?;
        let (mut bytes, mut files) = (0, Vec::new());
        for (name, file) in program_files(&engine) {
            bytes += copy(&file, &folder.join(&name))?;
            files.push(name);
        }
        let books: Vec<SiteBook> = books
            .iter()
            .zip(kinds)
            .map(|(book, parts)| write_book(book, parts, folder))
            .collect::<Result<_>>()?;
        bytes += books.iter().map(|book| book.bytes).sum::<u64>();
        for (path, text) in page_files().filter(|(path, _)| *path != "/") {
            // The worker that keeps the site must stand beside its index.
            let name = match path {
                "/page/sw.js" => "sw.js",
                path => path.trim_start_matches('/'),
            };
            bytes += write_text(&folder.join(name), text)?;
            files.push(name.to_string());
        }
        let site = SiteJson {
            version: env!("CARGO_PKG_VERSION"),
            title: &self.title,
            engine: ENGINE,
            books,
            files,
        };
        bytes += write_text(&folder.join("index.html"), &self.index())?;
        bytes += write_text(&folder.join("site.json"), &serde_json::to_string(&site)?)?;
        Ok(bytes)
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
        let title = self.title.replace('&', "&amp;").replace('<', "&lt;");
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
    let read = fs::File::open(book).and_then(|mut file| io::Read::read(&mut file, &mut first));
    let read = read.with_context(|| format!("cannot read {}", shown(book)))?;
    if CERTIFICATES
        .iter()
        .any(|begin| first[..read].starts_with(begin))
    {
        return Ok(false);
    }
    ensure!(
        Compiled::open(book).is_ok(),
        "{} is no book folder, no compiled book and no certificate: a site shows these",
        shown(book)
    );
    Ok(true)
}

/// Puts a book into the folder of a site: a folder compiled, a file as it is.
fn write_book(book: &Path, parts: bool, folder: &Path) -> Result<SiteBook> {
    let name = book.file_name().unwrap_or_default().to_string_lossy();
    let file = match book.is_dir() {
        true => format!("{}.kbk", name.trim_end_matches(".book")),
        false => name.into_owned(),
    };
    let to = folder.join(&file);
    let bytes = match book.is_dir() {
        true => {
            let book = read_book(book)?;
            let compilation = Compilation {
                extras: compile::annotations(&book)?,
                ..Compilation::default()
            };
            book.compile(&to, compilation, &mut |_| {})?.bytes
        }
        false => copy(book, &to)?,
    };
    Ok(SiteBook { file, bytes, parts })
}

fn copy(from: &Path, to: &Path) -> Result<u64> {
    let copied = fs::create_dir_all(to.parent().unwrap_or(to)).and_then(|()| {
        replace_file(to, Readers::Usual, |out| {
            io::copy(&mut fs::File::open(from)?, out)
        })
    });
    copied.with_context(|| format!("cannot copy {} to {}", shown(from), shown(to)))
}

fn write_text(file: &Path, text: &str) -> Result<u64> {
    let written = fs::create_dir_all(file.parent().unwrap_or(file))
        .and_then(|()| replace_file(file, Readers::Usual, |out| out.write_all(text.as_bytes())));
    written.with_context(|| format!("cannot write {}", shown(file)))?;
    Ok(text.len() as u64)
}
