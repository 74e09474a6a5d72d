use super::{POINTS, SIZE};

/// The two circuits in walking order: six points, an arc, six points, an arc, and so on; a point is
/// `row * 6 + column`. The inner one has files c and d and ranks 3 and 4, the outer one b, e, 2 and
/// 5. A point where two lines of a circuit cross is listed twice. The corners of the board are on
/// neither.
pub const CIRCUITS: [[u8; 24]; 2] = [circuit(1), circuit(2)];

/// Points between two arcs.
const STRAIGHT: usize = SIZE;
const LENGTH: usize = CIRCUITS[0].len();
/// Maximum number of minimal routes between two points.
const MAX_ROUTES: usize = 4;
/// Fills unused places; no board leaves it open.
const BLOCKED: u64 = u64::MAX;

/// Returns the circuit whose lines have the distance `near` from the edges: `a2 b2 c2 d2 e2 f2 ~ e1
/// e2 .. e6 ~ f5 e5 .. a5 ~ b6 b5 .. b1 ~` for 1.
const fn circuit(near: u8) -> [u8; 24] {
    let far = 5 - near;
    let mut points = [0; 24];
    let mut i = 0;
    while i < 6 {
        points[i as usize] = near * 6 + i;
        points[6 + i as usize] = i * 6 + far;
        points[12 + i as usize] = far * 6 + (5 - i);
        points[18 + i as usize] = (5 - i) * 6 + near;
        i += 1;
    }
    points
}

/// For each start and victim one mask for each route: the points that must be empty (bit `n`: point
/// `n`). Unused places are [`BLOCKED`].
type Routes = [[[u64; MAX_ROUTES]; POINTS]; POINTS];

static ROUTES: Routes = all_routes();

/// The victims that a stone on each point can reach on some board.
pub(super) static VICTIMS: [u64; POINTS] = all_victims(&all_routes());

/// Returns the routes by which a stone on `from` may capture on `to`, each as the set of points
/// that must be empty (bit `n`: point `n`), none a superset of another. Most pairs have none; 704
/// ordered pairs have 1 to 4 each, 1,344 in all.
///
/// # Panics
/// If one is not a point of the board.
pub fn routes(from: u8, to: u8) -> impl Iterator<Item = u64> {
    ROUTES[usize::from(from)][usize::from(to)]
        .into_iter()
        .filter(|&mask| mask != BLOCKED)
}

/// Whether some route between the two points is free of stones.
pub(super) fn is_open(from: u8, to: u8, occupied: u64) -> bool {
    ROUTES[usize::from(from)][usize::from(to)]
        .iter()
        .any(|mask| mask & occupied == 0)
}

const fn all_routes() -> Routes {
    let mut routes = [[[BLOCKED; MAX_ROUTES]; POINTS]; POINTS];
    let mut start = 0;
    while start < 2 * LENGTH {
        let (circuit, at) = (&CIRCUITS[start / LENGTH], start % LENGTH);
        walk(&mut routes, circuit, at, 1);
        walk(&mut routes, circuit, at, LENGTH - 1);
        start += 1;
    }
    routes
}

/// Walks once around from the place `start`, `step` places at a time (`LENGTH - 1`: backward), and
/// adds the possible captures.
const fn walk(routes: &mut Routes, circuit: &[u8; LENGTH], start: usize, step: usize) {
    let from = circuit[start];
    let (mut at, mut arcs, mut passed) = (start, 0, 0u64);
    let mut steps = 1;
    while steps < LENGTH {
        let next = (at + step) % LENGTH;
        if at / STRAIGHT != next / STRAIGHT {
            arcs += 1;
        }
        at = next;
        steps += 1;
        let to = circuit[at];
        if to == from {
            continue;
        }
        // A passed point was empty, so it cannot hold the victim.
        if arcs > 0 && passed & (1 << to) == 0 {
            add(&mut routes[from as usize][to as usize], passed);
        }
        passed |= 1 << to;
    }
}

/// Adds a route unless a subset of it is known, and drops its supersets.
const fn add(masks: &mut [u64; MAX_ROUTES], mask: u64) {
    let (mut kept, mut count, mut i) = ([BLOCKED; MAX_ROUTES], 0, 0);
    while i < MAX_ROUTES && masks[i] != BLOCKED {
        if masks[i] & !mask == 0 {
            return;
        }
        if mask & !masks[i] != 0 {
            kept[count] = masks[i];
            count += 1;
        }
        i += 1;
    }
    kept[count] = mask;
    *masks = kept;
}

const fn all_victims(routes: &Routes) -> [u64; POINTS] {
    let mut victims = [0; POINTS];
    let mut pair = 0;
    while pair < POINTS * POINTS {
        if routes[pair / POINTS][pair % POINTS][0] != BLOCKED {
            victims[pair / POINTS] |= 1 << (pair % POINTS);
        }
        pair += 1;
    }
    victims
}
