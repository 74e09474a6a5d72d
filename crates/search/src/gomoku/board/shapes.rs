//! The shapes of the empty cells, which change with each stone.

use kagetsu_game::gomoku::Rule;

use super::{Board, ROOM, Was, half, spread};
use crate::gomoku::patterns::shape::{CENTRE, reach};
use crate::gomoku::places::empty;
use crate::networks::vectorized;

impl<R: Rule> Board<R> {
    /// Updates the shapes of the empty cells on the four lines through a changed cell.
    pub(super) fn refresh(&mut self, cell: usize) {
        vectorized!({
            let (geometry, shapes, reach) = (self.geometry, self.shapes, reach::<R>());
            let (networks, mut pool) = (self.networks, self.pool);
            let content = self.side.other().index() as u32 + 1;
            // Only those of the window's 11 places that are within reach.
            let within = ((1u32 << (2 * (2 * reach + 1))) - 1) << (2 * (CENTRE - reach));
            for (direction, at) in geometry.places[cell].into_iter().enumerate() {
                let line = self.lines[usize::from(at.line)];
                let mut seen = empty(line.window(at.place.into())) & within;
                while seen != 0 {
                    let step = seen.trailing_zeros() / 2;
                    seen &= seen - 1;
                    // Never negative, because places beyond the edge are not empty.
                    let window = line.window(u32::from(at.place) + step - CENTRE);
                    let made = shapes.get::<R>(window);
                    let other = cell as isize
                        + (step as isize - CENTRE as isize) * geometry.strides[direction];
                    self.reshape(other as usize, direction, made);
                    if let Some(networks) = networks {
                        // Seen from the other cell, the changed one lies on the opposite side.
                        let before = window ^ content << (2 * (2 * CENTRE - step));
                        self.update_channels(networks, other as usize, [before, window], &mut pool);
                    }
                }
            }
            self.pool = pool;
        });
    }

    /// Sets the shapes that a stone on the cell makes in one direction.
    #[inline(always)]
    fn reshape(&mut self, cell: usize, direction: usize, made: u8) {
        let (slot, shift) = (cell % ROOM, 4 * direction);
        let before = self.crosses[slot];
        let after = before & !(0x000f_000f << shift) | spread(made) << shift;
        if before == after {
            return;
        }
        self.log.push(Was {
            cell: cell as u16,
            cross: before,
            grades: self.grades[slot],
        });
        self.crosses[slot] = after;
        for side in 0..2 {
            let (was, is) = (half(before, side), half(after, side));
            if was == is {
                continue;
            }
            let (old, new) = (
                self.grades[slot][side],
                self.weights[side].grades[usize::from(is)],
            );
            self.grades[slot][side] = new;
            self.sums[side] += new.value() - old.value();
            self.live[side] += u16::from(was == 0);
            self.live[side] -= u16::from(is == 0);
            if old.kind() != new.kind() {
                self.kinds[side][old.kind() as usize] -= 1;
                self.kinds[side][new.kind() as usize] += 1;
                self.flip(side, cell, old.kind());
                self.flip(side, cell, new.kind());
            }
        }
    }

    /// Restores the shapes of a cell, but not the sums and counts.
    #[inline]
    pub(super) fn restore(&mut self, was: Was) {
        let cell = usize::from(was.cell) % ROOM;
        for side in 0..2 {
            let (now, then) = (self.grades[cell][side].kind(), was.grades[side].kind());
            if now != then {
                self.flip(side, cell, now);
                self.flip(side, cell, then);
            }
        }
        self.crosses[cell] = was.cross;
        self.grades[cell] = was.grades;
    }
}
