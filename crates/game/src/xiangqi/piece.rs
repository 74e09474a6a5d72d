use crate::Side;

/// The kind of a piece, in the order of the codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// 帥 將, `K`.
    General,
    /// 仕 士, `A`.
    Advisor,
    /// 相 象, `B` or `E`.
    Elephant,
    /// 馬, `N` or `H`.
    Horse,
    /// 車, `R`.
    Rook,
    /// 炮, `C`.
    Cannon,
    /// 兵 卒, `P`.
    Soldier,
}

impl Kind {
    /// All kinds, in the order of their codes.
    pub const ALL: [Self; 7] = [
        Self::General,
        Self::Advisor,
        Self::Elephant,
        Self::Horse,
        Self::Rook,
        Self::Cannon,
        Self::Soldier,
    ];

    /// Returns 0 to 6.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// A piece of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// The owner.
    pub side: Side,
    /// The kind.
    pub kind: Kind,
}

impl Piece {
    /// Returns 1 to 7 for Red, 8 to 14 for Black: the digit in a packed position, and the index of
    /// the Zobrist numbers.
    pub(super) const fn code(self) -> u8 {
        1 + self.side as u8 * 7 + self.kind as u8
    }

    pub(super) fn from_code(code: u8) -> Option<Self> {
        let index = usize::from(code.checked_sub(1)?);
        let side = Side::first_if(index < 7);
        (index < 14).then(|| Self {
            side,
            kind: Kind::ALL[index % 7],
        })
    }

    pub(super) fn turned(self, swaps: bool) -> Self {
        if swaps {
            Self {
                side: self.side.other(),
                ..self
            }
        } else {
            self
        }
    }

    /// Returns the letter in a FEN, Red's in capitals: `K A B N R C P`.
    pub(super) fn letter(self) -> char {
        let letter = ['K', 'A', 'B', 'N', 'R', 'C', 'P'][self.kind.index()];
        match self.side {
            Side::First => letter,
            Side::Second => letter.to_ascii_lowercase(),
        }
    }

    /// Reads the letters of all schools: elephants are `B`, `E` or `M`, horses `N` or `H`, advisors
    /// `A`, `G` or `S`.
    pub(super) fn from_letter(letter: char) -> Option<Self> {
        let kind = match letter.to_ascii_uppercase() {
            'K' => Kind::General,
            'A' | 'G' | 'S' => Kind::Advisor,
            'B' | 'E' | 'M' => Kind::Elephant,
            'N' | 'H' => Kind::Horse,
            'R' => Kind::Rook,
            'C' => Kind::Cannon,
            'P' => Kind::Soldier,
            _ => return None,
        };
        Some(Self {
            side: Side::first_if(letter.is_ascii_uppercase()),
            kind,
        })
    }
}
