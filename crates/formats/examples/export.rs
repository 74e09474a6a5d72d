//! Writes a book's folder in another format: `export FORMAT FOLDER FILE`, for instance
//! `cargo run --release -p kagetsu-formats --example export -- sqlite h8.book h8.db`.
#![expect(clippy::print_stdout, reason = "a program prints its result")]

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use kagetsu_book::{Book, BookOptions};
use kagetsu_formats::{Format, export};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [format, folder, file] = arguments.as_slice() else {
        return Err("usage: export FORMAT FOLDER FILE".into());
    };
    let known = Format::ALL.into_iter().find(|known| known.name() == format);
    let format = known.ok_or_else(|| format!("no format is called '{format}'"))?;
    let (book, _) = Book::open_to_read(Path::new(folder), &BookOptions::default())?;
    let mut out = BufWriter::new(File::create(file)?);
    let (positions, omissions) = export(format, &book, None, None, None, &mut out)?;
    out.flush()?;
    println!("{positions} positions");
    for (what, count) in omissions.iter() {
        println!("left out: {count} {what}");
    }
    Ok(())
}
