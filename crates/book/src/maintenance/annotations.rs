//! Annotations: the words of people about positions, kept beside what was searched.

use kagetsu_game::Position;
use kagetsu_store::decode;

use crate::base::annotations::{AnnotationBody, Annotations, is_on_board};
use crate::base::id::{Id, unpack};
use crate::error::{BookError, LearnError, MAX_TEXT_BYTES};
use crate::graph::keys::ANNOTATED;
use crate::journal::entry::LogEntry;
use crate::{Annotation, Book};

/// The annotations of a position, with those that were taken back.
pub(crate) struct AnnotatedId {
    variant: u32,
    annotations: Annotations,
}

impl AnnotatedId {
    /// Returns the entries of a journal that say it all.
    pub(crate) fn entries(self) -> impl Iterator<Item = LogEntry> {
        let Annotations { packed, bodies } = self.annotations;
        let parts = Annotations::parts(bodies).into_iter();
        parts.map(move |bodies| LogEntry::Annotate {
            variant: self.variant,
            packed: packed.clone(),
            bodies,
        })
    }
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
        let shown = |known: AnnotatedId| {
            let position = unpack(known.variant, &known.annotations.packed)?;
            let bodies = known.annotations.bodies.into_iter();
            let shown = bodies.filter(AnnotationBody::is_shown);
            Ok((position, shown.map(|body| body.annotation).collect()))
        };
        let all = self.annotations_of_all().map(move |known| shown(known?));
        all.filter(|pair| !matches!(pair, Ok((_, shown)) if Vec::is_empty(shown)))
    }

    pub(crate) fn annotations_of_all(
        &self,
    ) -> impl Iterator<Item = Result<AnnotatedId, BookError>> + '_ {
        let damaged = || BookError::entry("annotations");
        self.store
            .range(&[ANNOTATED], &[ANNOTATED])
            .map(move |row| {
                let (key, bytes) = row?;
                let id = Id::at_end(&key).ok_or_else(damaged)?;
                let annotations = decode(&key, &bytes).ok_or_else(damaged)?;
                Ok(AnnotatedId {
                    variant: id.variant(),
                    annotations,
                })
            })
    }

    /// Adds annotations to a position. One that the book has stays as it is, with its first day.
    /// Returns how many are new; they are durable after a [`Syncer::sync`](crate::Syncer::sync).
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
            let Annotation {
                at,
                text,
                author,
                source,
                ..
            } = annotation;
            let is_long = text.len() + author.len() + source.len() > MAX_TEXT_BYTES;
            if is_long || at.is_some_and(|m| !is_on_board(variant, m)) {
                return Err(LearnError::Annotation(position.clone()).into());
            }
            let annotation = annotation.clone().turned(variant, canonical.symmetry);
            let before = known.find(&annotation).ok().map(|at| &known.bodies[at]);
            if before.is_some_and(AnnotationBody::is_shown) != shown {
                let turn = before.map_or(0, |before| before.turn.saturating_add(1));
                changed.merge(&AnnotationBody { annotation, turn });
            }
        }
        self.log_annotations(variant.code(), canonical.packed.0, changed.bodies)
    }

    fn log_annotations(
        &mut self,
        variant: u32,
        packed: Vec<u8>,
        bodies: Vec<AnnotationBody>,
    ) -> Result<usize, BookError> {
        let count = bodies.len();
        let annotations = Annotations { packed, bodies };
        let changed = AnnotatedId {
            variant,
            annotations,
        };
        for entry in changed.entries() {
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
            let AnnotatedId {
                variant,
                annotations: theirs,
            } = theirs?;
            let id = Id::of(variant, &unpack(variant, &theirs.packed)?.canonical());
            let known = self.index().annotations(id)?.unwrap_or_default();
            let is_new = |body: &AnnotationBody| {
                let known = known.find(&body.annotation).map(|at| &known.bodies[at]);
                known.map_or(true, |known| {
                    known.turn < body.turn || known.annotation.day > body.annotation.day
                })
            };
            let changed = theirs.bodies.into_iter().filter(is_new).collect();
            count += self.log_annotations(variant, theirs.packed, changed)?;
        }
        Ok(count)
    }
}
