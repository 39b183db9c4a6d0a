//! What stands in a CSV file, column by column.
//!
//! The file is read a part at a time and parsed as it comes (with the parser that the `csv` crate is built on, which
//! takes a file in parts), so that memory does not grow with it. Everything else has a bound, too: how long a row may be,
//! how many columns there are, how many distinct values are counted.

use std::task::Poll;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::contract::{Limits, SectionKind};
use toolgate_core::id::FileId;
use toolgate_native::{Capability, NativeTool, Promise, Tool, ToolContext, ToolFailure};

use crate::column::{Column, Kind, MOST_DISTINCT, shown};
use crate::number::{counted, percent_of, readable};
use crate::section::{bars, columns, figures};

const MOST_COLUMNS: usize = 200;
const MOST_ROW_BYTES: usize = 1 << 20;

pub(crate) fn tool() -> NativeTool {
    NativeTool::of(ProfileCsv)
}

/// Which file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = example())]
struct Input {
    /// The CSV file, by its id. Its first row names the columns.
    #[schemars(length(min = 36, max = 36), extend("format" = "file", "x-accept" = ["text/csv", ".csv", ".tsv"]))]
    file: String,
    /// What stands between two cells; `auto` finds out from the first row.
    #[serde(default)]
    delimiter: Delimiter,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Delimiter {
    #[default]
    Auto,
    Comma,
    Semicolon,
    Tab,
    Pipe,
}

fn example() -> Value {
    json!({ "file": "fil_0199c0de0199c0de0199c0de0199c0de", "delimiter": "comma" })
}

/// A file, described.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// The file as a whole.
    summary: Summary,
    /// Each column, in the order of the file.
    columns: Vec<Row>,
}

/// The file as a whole.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Summary {
    /// What stands in it, in a sentence or two.
    text: String,
    /// Rows, without the one that names the columns.
    rows: u64,
    /// Columns.
    column_count: u64,
    /// Cells with nothing in them.
    empty_cells: u64,
    /// Rows with more or fewer cells than there are columns; a sign of a wrong delimiter or a broken file.
    uneven_rows: u64,
}

/// One column.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Row {
    /// What the first row calls it.
    name: String,
    /// What all its cells are: `integer`, `number`, `date`, `boolean`, `text`, or `empty`.
    kind: &'static str,
    /// Cells with something in them.
    filled: u64,
    /// Cells with nothing in them.
    empty: u64,
    /// Empty cells as a share of all rows, in percent; null when there are no rows.
    empty_percent: Option<f64>,
    /// How many different values there are, counted up to 1,000.
    distinct: u64,
    /// Whether there may be more different values than were counted.
    distinct_is_partial: bool,
    /// The smallest value, as it stands in the file: of numbers by size, of other cells by their letters.
    min: Option<String>,
    /// The largest value.
    max: Option<String>,
    /// The mean, for a column of numbers.
    mean: Option<f64>,
}

struct ProfileCsv;

impl Tool for ProfileCsv {
    type Input = Input;
    type Output = Output;

    fn promise() -> Promise {
        Promise::read("core__profile_csv", "CSV profile")
            .describe(
                "Describes a CSV file column by column: what kind of values each column has, how many cells are empty, \
                 how many different values there are, the smallest, the largest and the mean. Use it first when someone \
                 hands you a CSV file, before you say anything about what it holds or plan work with it: it reads all \
                 rows, however many there are. It does not give back rows, filter, sort or change anything. The file is \
                 named by its id, which whoever sent the file has; you can't make one up. When many rows are uneven, \
                 call it again with another `delimiter`.",
            )
            .category("analysis", "table")
            .needs(Capability::Files)
            .heavy()
            .limits(Limits { timeout_ms: 60_000, ..Limits::default() })
            .shows(&["summary", "columns"])
            .section_with(
                "summary",
                "Summary",
                SectionKind::Summary,
                figures(&[
                    ("rows", "Rows", "integer"),
                    ("column_count", "Columns", "integer"),
                    ("empty_cells", "Empty cells", "integer"),
                    ("uneven_rows", "Uneven rows", "integer"),
                ]),
            )
            .section_with(
                "columns",
                "Columns",
                SectionKind::Table,
                columns(&[
                    ("name", "Column", "text"),
                    ("kind", "Kind", "label"),
                    ("empty", "Empty", "integer"),
                    ("distinct", "Distinct", "integer"),
                    ("min", "Smallest", "text"),
                    ("max", "Largest", "text"),
                    ("mean", "Mean", "number"),
                ]),
            )
            .section_with(
                "columns",
                "Empty cells",
                SectionKind::Chart,
                bars(("name", "Column"), &[("empty_percent", "Empty", "percent")]),
            )
    }

    async fn run(&self, input: Input, context: &ToolContext) -> Result<Output, ToolFailure> {
        let id: FileId = input.file.parse().map_err(|_| ToolFailure::failed("the file's id is not one"))?;
        let files = context.capabilities.files()?;
        let about = files.about(id).await?;
        let mut profile = Profile::new(input.delimiter);
        for part in 0..about.parts() {
            let part = u32::try_from(part).map_err(|_| ToolFailure::failed("the file is too large"))?;
            let part = files.part(id, part).await?;
            let text = profile.begin(&part)?;
            for piece in text.chunks(PIECE) {
                profile.take(piece)?;
                let_others().await;
            }
        }
        profile.finish()
    }
}

/// How much is looked at in one go. Others wait for as long.
const PIECE: usize = 8 * 1024;

/// Lets whatever else there is to do have its turn.
async fn let_others() {
    let mut waited = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// A file on its way through.
struct Profile {
    delimiter: Delimiter,
    reader: Option<Reader>,
    fields: Vec<u8>,
    ends: Vec<usize>,
    /// How much of the row under way is in `fields` and `ends`.
    filled: (usize, usize),
    names: Option<Vec<String>>,
    columns: Vec<Column>,
    rows: u64,
    uneven: u64,
}

impl Profile {
    fn new(delimiter: Delimiter) -> Self {
        Self {
            delimiter,
            reader: None,
            fields: vec![0; 4096],
            ends: vec![0; 64],
            filled: (0, 0),
            names: None,
            columns: Vec::new(),
            rows: 0,
            uneven: 0,
        }
    }

    /// Looks at how the file begins, where this is its first part; answers what there is to take in.
    fn begin<'a>(&mut self, part: &'a [u8]) -> Result<&'a [u8], ToolFailure> {
        if self.reader.is_some() {
            return Ok(part);
        }
        let text = part.strip_prefix(b"\xef\xbb\xbf").unwrap_or(part);
        self.reader = Some(begin(self.delimiter, text)?);
        Ok(text)
    }

    /// Takes in the next piece of the file.
    fn take(&mut self, piece: &[u8]) -> Result<(), ToolFailure> {
        let mut rest = piece;
        let Some(mut reader) = self.reader.take() else { return Ok(()) };
        while !rest.is_empty() {
            let read = self.read(&mut reader, rest)?;
            rest = &rest[read..];
        }
        self.reader = Some(reader);
        Ok(())
    }

    /// Reads on to the end of a row, of the text or of a buffer; says how far it came.
    fn read(&mut self, reader: &mut Reader, text: &[u8]) -> Result<usize, ToolFailure> {
        let (bytes, cells) = self.filled;
        let (result, read, written, ended) =
            reader.read_record(text, &mut self.fields[bytes..], &mut self.ends[cells..]);
        self.filled = (bytes + written, cells + ended);
        match result {
            ReadRecordResult::InputEmpty | ReadRecordResult::End => {}
            ReadRecordResult::OutputFull if self.fields.len() < MOST_ROW_BYTES => {
                self.fields.resize(self.fields.len() * 2, 0);
            }
            ReadRecordResult::OutputFull => {
                return Err(ToolFailure::failed("a row of the file is longer than 1 MiB")
                    .hint("look for a quotation mark that is opened and never closed"));
            }
            ReadRecordResult::OutputEndsFull if self.ends.len() <= MOST_COLUMNS => {
                self.ends.resize(self.ends.len() * 2, 0);
            }
            ReadRecordResult::OutputEndsFull => return Err(too_many_columns()),
            ReadRecordResult::Record => self.row()?,
        }
        Ok(read)
    }

    /// Takes in the row that is in the buffers.
    fn row(&mut self) -> Result<(), ToolFailure> {
        let (bytes, cells) = std::mem::take(&mut self.filled);
        let mut start = 0;
        let mut row = Vec::with_capacity(cells);
        for end in &self.ends[..cells] {
            row.push(String::from_utf8_lossy(&self.fields[..bytes][start..*end]));
            start = *end;
        }
        if self.names.is_none() {
            if cells > MOST_COLUMNS {
                return Err(too_many_columns());
            }
            self.columns.resize_with(cells, Column::default);
            self.names = Some(names(&row));
            return Ok(());
        }
        self.rows += 1;
        self.uneven += u64::from(cells != self.columns.len());
        // A row costs what it holds, however many columns there are; what it lacks is counted at the end.
        for (column, cell) in self.columns.iter_mut().zip(&row) {
            column.add(cell);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Output, ToolFailure> {
        if let Some(mut reader) = self.reader.take() {
            // An empty text is the end; what has no line break after it is a row all the same.
            loop {
                let rows = (self.rows, self.names.is_some());
                let sizes = (self.fields.len(), self.ends.len());
                self.read(&mut reader, &[])?;
                if rows == (self.rows, self.names.is_some()) && sizes == (self.fields.len(), self.ends.len())
                {
                    break;
                }
            }
        }
        let Some(names) = self.names else {
            return Err(
                ToolFailure::failed("the file is empty").hint("its first row has to name the columns")
            );
        };
        let rows: Vec<Row> = names
            .into_iter()
            .zip(&self.columns)
            .map(|(name, column)| describe(name, column, self.rows))
            .collect();
        let empty_cells = rows.iter().map(|row| row.empty).sum();
        let mut text = format!(
            "{} in {}.",
            if self.rows == 1 { "1 row".to_owned() } else { format!("{} rows", readable(self.rows as f64)) },
            counted(rows.len(), "column", "columns"),
        );
        if self.uneven > 0 {
            text.push_str(&format!(
                " {} not have as many cells as there are columns.",
                if self.uneven == 1 {
                    "1 row does".to_owned()
                } else {
                    format!("{} rows do", readable(self.uneven as f64))
                }
            ));
        }
        let summary = Summary {
            text,
            rows: self.rows,
            column_count: rows.len() as u64,
            empty_cells,
            uneven_rows: self.uneven,
        };
        Ok(Output { summary, columns: rows })
    }
}

fn describe(name: String, column: &Column, rows: u64) -> Row {
    Row {
        name,
        kind: match column.kind() {
            Kind::Empty => "empty",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Date => "date",
            Kind::Boolean => "boolean",
            Kind::Text => "text",
        },
        filled: column.filled,
        empty: rows - column.filled,
        empty_percent: percent_of((rows - column.filled) as f64, rows as f64),
        distinct: column.distinct() as u64,
        distinct_is_partial: column.distinct() >= MOST_DISTINCT,
        min: column.min(),
        max: column.max(),
        mean: column.mean(),
    }
}

/// The parser for this file, by how it begins.
fn begin(delimiter: Delimiter, start: &[u8]) -> Result<Reader, ToolFailure> {
    if start.contains(&0) {
        return Err(ToolFailure::failed("the file is not plain text")
            .hint("save it as CSV in UTF-8; a spreadsheet's own format can't be read"));
    }
    let byte = match delimiter {
        Delimiter::Comma => b',',
        Delimiter::Semicolon => b';',
        Delimiter::Tab => b'\t',
        Delimiter::Pipe => b'|',
        Delimiter::Auto => likely(start),
    };
    Ok(ReaderBuilder::new().delimiter(byte).build())
}

/// The delimiter that stands most often in the first row, outside quotation marks.
fn likely(start: &[u8]) -> u8 {
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0), (b'|', 0)];
    let mut quoted = false;
    for byte in start {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            _ if quoted => {}
            _ => counts.iter_mut().filter(|(known, _)| known == byte).for_each(|(_, count)| *count += 1),
        }
    }
    // Of those that stand as often, the first: the comma, where there is none at all.
    counts.iter().rev().max_by_key(|(_, count)| *count).map_or(b',', |(byte, _)| *byte)
}

/// Names that can be told apart.
fn names(row: &[impl AsRef<str>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(row.len());
    for (place, cell) in row.iter().enumerate() {
        let name = shown(cell.as_ref().trim());
        let name = if name.is_empty() { format!("column {}", place + 1) } else { name };
        let taken = |name: &String, names: &[String]| names.contains(name);
        let unique = (2..).map(|number| format!("{name} ({number})")).find(|other| !taken(other, &names));
        names.push(if taken(&name, &names) { unique.unwrap_or(name) } else { name });
    }
    names
}

fn too_many_columns() -> ToolFailure {
    ToolFailure::failed(format!("the file has more than {MOST_COLUMNS} columns"))
        .hint("try another `delimiter`")
}

#[cfg(test)]
#[path = "../profile_csv_tests.rs"]
mod tests;
