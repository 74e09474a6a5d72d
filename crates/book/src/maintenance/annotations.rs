//! Annotations: the words of people about positions, kept beside what was searched.

use kagetsu_game::Position;
use kagetsu_store::decode;

use crate::base::annotations::{AnnotationBody, Annotations, MAX_ENTRY_ANNOTATIONS, is_on_board};
use crate::base::id::{Id, unpack};
use crate::error::{BookError, LearnError, MAX_TEXT_BYTES};
use crate::graph::keys::ANNOTATED;
use crate::journal::entry::LogEntry;
use crate::{Annotation, Book};

/// Returns the entries of a journal that say all annotations of a position.
pub(crate) fn entries((id, known): (Id, Annotations)) -> impl Iterator<Item = LogEntry> {
    let chunks: Vec<_> = known
        .bodies
        .chunks(MAX_ENTRY_ANNOTATIONS)
        .map(<[_]>::to_vec)
        .collect();
    chunks.into_iter().map(move |bodies| LogEntry::Annotate {
        variant: id.variant(),
        packed: known.packed.clone(),
        bodies,
    })
}

impl Book {
    /// Returns the annotations of a position, in any orientation and reached by any moves, in a
    /// fixed order.
    ///
    /// # Errors
    /// If they are damaged.
    pub fn annotations(&self, position: &Position) -> Result<Vec<Annotation>, BookError> {
        let (variant, canonical) = (position.variant(), position.canonical());
        let known = self
            .index()
            .annotations(Id::of(variant.code(), &canonical))?;
        let known = known.filter(|known| known.packed == canonical.packed.0);
        let bodies = known.map(|known| known.bodies).unwrap_or_default();
        let back = variant.inverse(canonical.symmetry);
        let shown = bodies.into_iter().filter(AnnotationBody::is_shown);
        Ok(shown
            .map(|body| body.annotation.turned(variant, back))
            .collect())
    }

    /// Returns all positions with annotations, in canonical orientation, sorted by variant, stones
    /// and key.
    pub fn annotated(
        &self,
    ) -> impl Iterator<Item = Result<(Position, Vec<Annotation>), BookError>> + '_ {
        let shown = |known: Result<(Id, Annotations), BookError>| {
            let (id, known) = known?;
            let position = unpack(id.variant(), &known.packed)?;
            let shown = known.bodies.into_iter().filter(AnnotationBody::is_shown);
            Ok((position, shown.map(|body| body.annotation).collect()))
        };
        let all = self.annotations_of_all().map(shown);
        all.filter(|pair| !matches!(pair, Ok((_, shown)) if Vec::is_empty(shown)))
    }

    /// Returns the annotations of all positions, with those that were taken back.
    pub(crate) fn annotations_of_all(
        &self,
    ) -> impl Iterator<Item = Result<(Id, Annotations), BookError>> + '_ {
        self.store.range(&[ANNOTATED], &[ANNOTATED]).map(|row| {
            let (key, bytes) = row?;
            let known = Id::at_end(&key).zip(decode(&key, &bytes));
            known.ok_or(BookError::Entry("annotations"))
        })
    }

    /// Adds annotations to a position. One that the book has stays as it is, with its first day.
    /// Returns how many are new; they are durable after a
    /// [`JournalSync::sync`](crate::JournalSync::sync).
    ///
    /// # Errors
    /// If one is about a point beyond the board or too long, or the disk refuses.
    pub fn annotate(
        &mut self,
        position: &Position,
        annotations: &[Annotation],
    ) -> Result<usize, BookError> {
        self.turn(position, annotations, true)
    }

    /// Takes annotations back. A merge with a book that still has them does not bring them again.
    /// Returns how many there were.
    ///
    /// # Errors
    /// As for [`Book::annotate`].
    pub fn take_back(
        &mut self,
        position: &Position,
        annotations: &[Annotation],
    ) -> Result<usize, BookError> {
        self.turn(position, annotations, false)
    }

    /// Shows annotations, or shows them no more.
    fn turn(
        &mut self,
        position: &Position,
        annotations: &[Annotation],
        shown: bool,
    ) -> Result<usize, BookError> {
        let (variant, canonical) = (position.variant(), position.canonical());
        let known = self
            .index()
            .annotations(Id::of(variant.code(), &canonical))?
            .unwrap_or_default();
        let mut changed = Annotations::default();
        for annotation in annotations {
            let note = annotation;
            let is_long = note.text.len() + note.author.len() + note.source.len() > MAX_TEXT_BYTES;
            if is_long || note.at.is_some_and(|m| !is_on_board(variant, m)) {
                return Err(LearnError::Annotation(position.clone()).into());
            }
            let annotation = annotation.clone().turned(variant, canonical.symmetry);
            let before = known.find(&annotation).ok().map(|at| &known.bodies[at]);
            if before.is_some_and(AnnotationBody::is_shown) != shown {
                let turn = before.map_or(0, |before| before.turn.saturating_add(1));
                changed.merge(&AnnotationBody { annotation, turn });
            }
        }
        changed.packed = canonical.packed.0.clone();
        self.log_annotations(Id::of(variant.code(), &canonical), changed)
    }

    fn log_annotations(&mut self, id: Id, changed: Annotations) -> Result<usize, BookError> {
        let count = changed.bodies.len();
        for entry in entries((id, changed)) {
            self.log(&entry)?;
        }
        Ok(count)
    }

    /// Takes over the annotations of another book, with what was taken back there. Returns how many
    /// changed here.
    ///
    /// # Errors
    /// If the other book is damaged, or the disk refuses.
    pub fn merge_annotations(&mut self, other: &Self) -> Result<usize, BookError> {
        let mut count = 0;
        for theirs in other.annotations_of_all() {
            let (id, mut theirs) = theirs?;
            let known = self.index().annotations(id)?.unwrap_or_default();
            let is_new = |body: &AnnotationBody| {
                let known = known.find(&body.annotation).map(|at| &known.bodies[at]);
                known.map_or(true, |known| {
                    known.turn < body.turn || known.annotation.day > body.annotation.day
                })
            };
            theirs.bodies.retain(is_new);
            count += self.log_annotations(id, theirs)?;
        }
        Ok(count)
    }
}
