//! Checks a file of end tables of surakarta by a program of its own, which shares no code with the
//! one that builds them: other rules of movement, another way to number positions, and another
//! order of computation.
//!
//! Positions of at most FULL stones are solved anew by plain value iteration and compared one by
//! one, with the longest stretch of each slice. SAMPLES random positions of all stones must have
//! the best of the values behind their moves.
//!
//! ```sh
//! cargo run --release -p kagetsu-search --example check_end_tables -- FILE FULL SAMPLES SEED
//! ```

use std::collections::HashMap;

/// Stones of the side to move and of the other, a bit for `6 * row + column`.
type Position = (u64, u64);

/// Column and row of a point, or a direction.
type Pair = (i8, i8);

/// Returns the next place on the way from `(x, y)`, with the new direction and whether an arc was
/// passed; `None` where the way leaves the board for good.
fn step((x, y): Pair, (dx, dy): Pair) -> Option<(Pair, Pair, bool)> {
    let (nx, ny) = (x + dx, y + dy);
    if (0..6).contains(&nx) && (0..6).contains(&ny) {
        return Some(((nx, ny), (dx, dy), false));
    }
    // An arc joins a line to the line of the same distance from the corner on the other edge.
    let line = if dx == 0 { x } else { y };
    if line == 0 || line == 5 {
        return None;
    }
    let is_low = line < 3;
    let (place, direction) = match (dx, dy) {
        (0, 1) if is_low => ((0, 5 - x), (1, 0)),
        (0, 1) => ((5, x), (-1, 0)),
        (0, -1) if is_low => ((0, x), (1, 0)),
        (0, -1) => ((5, 5 - x), (-1, 0)),
        (-1, 0) if is_low => ((y, 0), (0, 1)),
        (-1, 0) => ((5 - y, 5), (0, -1)),
        (1, 0) if is_low => ((5 - y, 0), (0, 1)),
        _ => ((y, 5), (0, -1)),
    };
    Some((place, direction, true))
}

fn bit((x, y): (i8, i8)) -> u64 {
    1 << (6 * y + x)
}

fn places(set: u64) -> impl Iterator<Item = (i8, i8)> {
    (0..36)
        .filter(move |point| set >> point & 1 != 0)
        .map(|point| (point % 6, point / 6))
}

/// Returns the positions after captures and after quiet moves, from the view of the next mover.
fn successors((own, his): Position) -> (Vec<Position>, Vec<Position>) {
    let (mut captures, mut quiet) = (Vec::new(), Vec::new());
    for from in places(own) {
        for (dx, dy) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
            let (mut at, mut direction, mut arcs) = (from, (dx, dy), 0);
            for _ in 0..24 {
                let Some((next, turned, is_arc)) = step(at, direction) else {
                    break;
                };
                (at, direction) = (next, turned);
                arcs += i32::from(is_arc);
                if his & bit(at) != 0 {
                    let after = (his ^ bit(at), own ^ bit(from) ^ bit(at));
                    if arcs > 0 && !captures.contains(&after) {
                        captures.push(after);
                    }
                    break;
                }
                if own & bit(at) != 0 && at != from {
                    break;
                }
            }
        }
        for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
            let to = (from.0 + dx, from.1 + dy);
            let is_on_board = (0..6).contains(&to.0) && (0..6).contains(&to.1);
            if is_on_board && (own | his) & bit(to) == 0 {
                quiet.push((his, own ^ bit(from) ^ bit(to)));
            }
        }
    }
    (captures, quiet)
}

/// Returns the image of a set: mirrored, then turned by quarters.
fn image(set: u64, number: u8) -> u64 {
    places(set).fold(0, |image, (x, y)| {
        let mut place = if number & 4 == 0 { (x, y) } else { (y, x) };
        for _ in 0..number & 3 {
            place = (5 - place.1, place.0);
        }
        image | bit(place)
    })
}

/// Returns all sets of `size` of the first `points` points, in numeric order.
fn sets(points: u32, size: u32) -> Vec<u64> {
    if size == 0 {
        return vec![0];
    }
    let below = |top: u32| {
        sets(top, size - 1)
            .into_iter()
            .map(move |set| set | 1 << top)
    };
    (size - 1..points).flat_map(below).collect()
}

/// The content of a file.
struct File {
    pieces: usize,
    /// Longest stretch and values of each slice.
    slices: HashMap<(u32, u32), (u8, Vec<u8>)>,
    /// By size: the numbers of the sets that are the least of their images.
    classes: Vec<HashMap<u64, usize>>,
    /// By number of points and size: the numbers of all sets.
    ways: HashMap<(u32, u32), HashMap<u64, usize>>,
}

impl File {
    fn read(bytes: &[u8]) -> Self {
        assert_eq!(&bytes[..8], b"KGSURAT1", "the first bytes");
        let (content, checksum) = bytes.split_at(bytes.len() - 4);
        assert_eq!(crc(content).to_le_bytes(), checksum, "the checksum");
        let pieces = usize::from(bytes[8]);
        let mut classes = vec![HashMap::new()];
        for size in 1..pieces as u32 {
            let is_least = |set: &u64| (0..8).all(|number| image(*set, number) >= *set);
            let least = sets(36, size).into_iter().filter(is_least);
            classes.push(
                least
                    .enumerate()
                    .map(|(number, set)| (set, number))
                    .collect(),
            );
        }
        let (mut slices, mut ways, mut at) = (HashMap::new(), HashMap::new(), 9);
        for both in 2..=pieces as u32 {
            for own in 1..both {
                let (larger, smaller) = (own.max(both - own), own.min(both - own));
                let numbers = ways.entry((36 - larger, smaller)).or_insert_with(|| {
                    let sets = sets(36 - larger, smaller).into_iter();
                    sets.enumerate()
                        .map(|(number, set)| (set, number))
                        .collect::<HashMap<_, _>>()
                });
                let length = (classes[larger as usize].len() * numbers.len()).div_ceil(4);
                let values = content[at + 1..at + 1 + length].to_vec();
                slices.insert((own, both - own), (content[at], values));
                at += 1 + length;
            }
        }
        assert_eq!(at, content.len(), "the length");
        Self {
            pieces,
            slices,
            classes,
            ways,
        }
    }

    /// Returns the value for the side to move: -1, 0 or 1.
    fn value(&self, (own, his): Position) -> i8 {
        if own == 0 || his == 0 {
            return if own == 0 { -1 } else { 1 };
        }
        let (larger, smaller) = if own.count_ones() >= his.count_ones() {
            (own, his)
        } else {
            (his, own)
        };
        let ways = &self.ways[&(36 - larger.count_ones(), smaller.count_ones())];
        let mut place = usize::MAX;
        for number in 0..8 {
            let (set, rest) = (image(larger, number), image(smaller, number));
            let Some(class) = self.classes[larger.count_ones() as usize].get(&set) else {
                continue;
            };
            // The free points, closed up.
            let mut way = 0;
            let free = (0..36).filter(|point| set >> point & 1 == 0);
            for (at, point) in free.enumerate() {
                way |= (rest >> point & 1) << at;
            }
            place = place.min(class * ways.len() + ways[&way]);
        }
        let values = &self.slices[&(own.count_ones(), his.count_ones())].1;
        let value = values[place / 4] >> (2 * (place % 4)) & 3;
        assert!(value < 3, "{own:x} {his:x}: an unused place");
        value as i8 - 1
    }
}

fn crc(bytes: &[u8]) -> u32 {
    let table: Vec<u32> = (0..256)
        .map(|byte| {
            (0..8).fold(byte, |crc, _| {
                crc >> 1 ^ if crc & 1 != 0 { 0xedb8_8320 } else { 0 }
            })
        })
        .collect();
    let update = |crc: u32, byte: &u8| crc >> 8 ^ table[usize::from(crc as u8 ^ byte)];
    !bytes.iter().fold(!0, update)
}

fn majority((own, his): Position) -> i8 {
    (own.count_ones() as i8 - his.count_ones() as i8).signum()
}

/// Solves every pair of slices with so many stones by value iteration, up to symmetry, and compares
/// it with the file. Returns the number of positions.
fn solve(file: &File, known: &mut HashMap<Position, i8>, own: u32, his: u32) -> usize {
    let least = |(own, his): Position| {
        let images = (0..8).map(|number| (image(own, number), image(his, number)));
        images.min().expect("eight images")
    };
    let mut positions: Vec<Position> = Vec::new();
    for (own, his) in [(own, his), (his, own)] {
        for set in sets(36, own) {
            let others = sets(36, his).into_iter().filter(|other| other & set == 0);
            positions.extend(others.map(|other| (set, other)).filter(|p| least(*p) == *p));
        }
    }
    positions.sort_unstable();
    positions.dedup();
    // The best capture, and the places of the positions after quiet moves.
    let moves: Vec<(Option<i8>, Vec<u32>)> = positions
        .iter()
        .map(|&position| {
            let (captures, quiet) = successors(position);
            let value = |next: &Position| match next {
                (0, _) => 1,
                next => -known[&least(*next)],
            };
            let place = |next: &Position| {
                positions
                    .binary_search(&least(*next))
                    .expect("it has as many stones") as u32
            };
            (
                captures.iter().map(value).max(),
                quiet.iter().map(place).collect(),
            )
        })
        .collect();
    let mut values: Vec<i8> = positions.iter().map(|p| majority(*p)).collect();
    let mut rounds = 0;
    loop {
        let best = |(at, (capture, quiet)): (usize, &(Option<i8>, Vec<u32>))| {
            let behind = quiet.iter().map(|&next| -values[next as usize]);
            behind
                .chain(*capture)
                .max()
                .unwrap_or(majority(positions[at]))
        };
        let next: Vec<i8> = moves.iter().enumerate().map(best).collect();
        if next == values {
            break;
        }
        (values, rounds) = (next, rounds + 1);
    }
    for (position, value) in positions.iter().zip(&values) {
        assert_eq!(file.value(*position), *value, "{position:x?}");
        known.insert(*position, *value);
    }
    for stones in [(own, his), (his, own)] {
        assert_eq!(
            file.slices[&stones].0, rounds,
            "{stones:?}: the longest stretch"
        );
    }
    positions.len()
}

/// Checks the content of a file. Returns what was checked.
///
/// # Panics
/// If anything in it is wrong.
pub(crate) fn check(bytes: &[u8], full: u32, samples: u64, seed: u64) -> Vec<String> {
    let file = File::read(bytes);
    let (mut known, mut done) = (HashMap::new(), Vec::new());
    for both in 2..=full.min(file.pieces as u32) {
        for own in 1..=both / 2 {
            let count = solve(&file, &mut known, own, both - own);
            done.push(format!(
                "{own} and {}: {count} positions are right",
                both - own
            ));
        }
    }
    // Multiplication and xorshift (Steele and others, 2014).
    let mut state = seed;
    let mut random = |below: u64| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ word >> 31) % below
    };
    let mut counts = [0_u64; 3];
    for _ in 0..samples {
        let mut taken = 0_u64;
        let first = 1 + random(file.pieces as u64 - 1);
        let mut sides = [0_u64; 2];
        for stone in 0..file.pieces as u64 {
            let free: Vec<u64> = (0..36).filter(|point| taken >> point & 1 == 0).collect();
            let point = free[random(free.len() as u64) as usize];
            taken |= 1 << point;
            sides[usize::from(stone >= first)] |= 1 << point;
        }
        let position = (sides[0], sides[1]);
        let (captures, quiet) = successors(position);
        let behind = captures.iter().chain(&quiet).map(|next| -file.value(*next));
        let best = behind.max().unwrap_or(majority(position));
        assert_eq!(file.value(position), best, "{position:x?}");
        counts[(best + 1) as usize] += 1;
    }
    let pieces = file.pieces;
    done.push(format!(
        "{samples} random positions of {pieces}: the best of their moves; lost, drawn, won {counts:?}"
    ));
    done
}

#[allow(dead_code, reason = "a test uses the rest of this file")]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, full, samples, seed] = &arguments[..] else {
        panic!("FILE FULL SAMPLES SEED");
    };
    let number = |text: &String| text.parse::<u64>().expect("a number");
    let bytes = std::fs::read(path).expect("a file");
    for line in check(&bytes, number(full) as u32, number(samples), number(seed)) {
        println!("{line}");
    }
}
