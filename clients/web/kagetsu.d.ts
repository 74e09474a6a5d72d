/** A position: a game, moves, and for xiangqi and surakarta a FEN before the first of them. */
export interface PositionQuery {
  /** As in `freestyle-15`, `renju-15`, `xiangqi` or `surakarta`. */
  variant: string;
  /** Moves separated by blanks, as in `h8 i9`. */
  moves?: string;
  fen?: string;
}

export type Side = "first" | "second";

export interface Position {
  variant: string;
  moves: string[];
  side: Side;
  /** 32 hex digits, the same for every order of moves and every symmetry of the board. */
  key: string;
  fen: string | null;
  outcome: Side | "draw" | null;
  legal: string[];
  /** The points that renju forbids. */
  forbidden: { move: string; reason: "overline" | "double-four" | "double-three" }[];
}

/** A value in centi-units from the view of the side to move, or the plies to a forced end. */
export interface Value {
  score: number | null;
  win_in: number | null;
  loss_in: number | null;
  proof: "none" | "win" | "loss" | "draw";
  proof_kind: "terminal" | "vcf" | "vct" | "search" | "tree" | "manual" | null;
}

export interface Verdict extends Value {
  move: string;
  bound: "exact" | "lower" | "upper";
  depth: number;
  nodes: number;
  line: string[];
  engine: string;
  date: string;
}

export interface Answer extends Value {
  variant: string;
  moves: string[];
  side: Side;
  key: string;
  best: string | null;
  answers: Verdict[];
  nodes: number;
  time_ms: number;
  depth: number;
}

export interface Analysis extends Answer {
  is_final: boolean;
  /** How long the search stood still, as in a frozen tab; its time does not count that. */
  slept_ms?: number;
}

/** The search ends at the first limit that it reaches; without one it ends when it is stopped. */
export interface Question extends PositionQuery {
  depth?: number;
  nodes?: number;
  time_ms?: number;
  /** The number of best moves with exact values: 5 without it. */
  top?: number;
}

export interface SearchOptions {
  /** Gets the answer after each depth. */
  progress?: (analysis: Analysis) => void;
  /** Is asked every few hundred positions; `true` ends the search with the answer so far. */
  mustStop?: () => boolean;
}

/** The result of a check: the proven position, and how much was checked. */
export interface Checked extends Position {
  claim: "win" | "loss";
  /** The game ends within this many plies. */
  plies: number;
  positions: number;
  nodes: number;
}

/** Parts of a file, as from range requests. Both calls return at once. */
export interface PartialFile {
  length(): number;
  read(offset: number, length: number): Uint8Array;
}

/** A request that failed. */
export class KagetsuError extends Error {
  /** As in `bad_request`, `not_in_book`, `damaged_book` or `wrong_proof`. */
  readonly code: string;
  /** With `not_in_book`: the number of moves of the line that the book holds. */
  readonly heldMoves: number | null;
}

export class Kagetsu {
  position(query: PositionQuery): Position;
  analyze(question: Question, options?: SearchOptions): Analysis;
  /** Opens a compiled book (`.kbk`) or a certificate (`.proof`, `.proof.xz`). */
  open(source: Uint8Array | PartialFile): { positions: number };
  lookup(query: PositionQuery): Answer;
  /** Checks a certificate by the rules alone; throws where it proves nothing. */
  verify(bytes: Uint8Array, progress?: (at: { done: number; replies: number }) => void): Checked;
}

/**
 * Starts the program of `kagetsu.wasm`. `weights` returns a file of `kagetsu-weights` by its name
 * without `.xz`; `analyze` asks for those of its game once. Without it only surakarta is searched.
 */
export function start(
  source: BufferSource | Response | WebAssembly.Module,
  weights?: (name: string) => Uint8Array,
): Promise<Kagetsu>;

/** Waits for a file, or for a part of it as in `0-99`: for `weights` and `PartialFile` in a worker. */
export function fetchNow(url: string | URL, range?: string): XMLHttpRequest;
