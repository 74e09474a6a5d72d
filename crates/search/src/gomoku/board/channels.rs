//! The channels of the empty cells, which the networks of the evaluation sum.

use kagetsu_game::gomoku::Rule;

use super::{Board, ROOM};
use crate::gomoku::patterns::line::line_class;
use crate::gomoku::patterns::network::{Hidden, Network, Pool};

impl<R: Rule> Board<R> {
    /// The classes of the lines through the empty cells, by direction, for the first and for the
    /// second side.
    pub(crate) fn line_classes(&self) -> impl Iterator<Item = [[u16; 2]; 4]> {
        self.empty.iter().map(|cell| self.line_classes_of(cell))
    }

    fn line_classes_of(&self, cell: usize) -> [[u16; 2]; 4] {
        self.geometry.places[cell]
            .map(|at| line_class::<R>(self.lines[usize::from(at.line)].window(at.place.into())))
    }

    /// The positive hidden units of the network for the side to move, if there is one.
    #[inline]
    pub(crate) fn units(&self) -> Option<Hidden> {
        let (own, other) = (self.side.index(), self.side.other().index());
        let kinds = [&self.kinds[own], &self.kinds[other]];
        self.networks
            .map(|networks| networks[own].units(&self.pool, own, kinds))
    }

    /// Computes the channels of an empty cell and adds them to the pool.
    pub(super) fn add_channels(&mut self, cell: usize) {
        if let Some(networks) = self.networks {
            self.channels[cell] = Network::cell(networks, self.line_classes_of(cell));
            Network::count_in(&self.channels[cell], &mut self.pool);
        }
    }

    /// Takes a pool from that of the board, and adds another.
    pub(super) fn shift_pool(&mut self, less: &Pool, more: &Pool) {
        let change = less.as_flattened().iter().zip(more.as_flattened());
        for (sum, (less, more)) in self.pool.as_flattened_mut().iter_mut().zip(change) {
            *sum = sum.wrapping_sub(*less).wrapping_add(*more);
        }
    }

    /// Updates the channels of an empty cell by the windows of a line before and after a change.
    #[inline(always)]
    pub(super) fn update_channels(
        &mut self,
        networks: [&Network; 2],
        cell: usize,
        windows: [u32; 2],
        pool: &mut Pool,
    ) {
        let classes = windows.map(line_class::<R>);
        if classes[0] != classes[1] {
            let slot = cell % ROOM;
            self.channel_log.push((slot as u16, self.channels[slot]));
            Network::replace(networks, &mut self.channels[slot], pool, classes);
        }
    }

    /// Restores the channels of all cells, but not the pool, to a former length of their log.
    #[inline]
    pub(super) fn restore_channels(&mut self, length: usize) {
        while self.channel_log.len() > length {
            let Some((cell, was)) = self.channel_log.pop() else {
                break;
            };
            self.channels[usize::from(cell) % ROOM] = was;
        }
    }
}
