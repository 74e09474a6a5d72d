(** The rules of freestyle and standard gomoku, and the claim that a side wins.

    This file is all that a reader must believe about the game. It has no proofs. *)

From Coq Require Import ZArith List.
Import ListNotations.
Open Scope Z_scope.

(** Freestyle: five or more in a row win. Standard: exactly five win, and a longer row counts for
    nothing. *)
Inductive rule := Freestyle | Standard.

Inductive side := First | Second.

Definition other (s : side) : side :=
  match s with First => Second | Second => First end.

(** A column and a row, both from 0. *)
Definition point := (Z * Z)%type.

(** The board has [n] columns and [n] rows. *)
Definition on_board (n : Z) (p : point) : Prop :=
  0 <= fst p < n /\ 0 <= snd p < n.

Inductive direction := Across | Up | Rise | Fall.

Definition vector (d : direction) : Z * Z :=
  match d with
  | Across => (1, 0)
  | Up => (0, 1)
  | Rise => (1, 1)
  | Fall => (-1, 1)
  end.

(** The point that lies [k] steps from [p]. *)
Definition shift (p : point) (d : direction) (k : Z) : point :=
  (fst p + k * fst (vector d), snd p + k * snd (vector d)).

(** The stone on [m] stands in a five of the stones [X]: five neighbouring points with stones, and
    in standard no sixth stone at either end. *)
Definition five (r : rule) (X : point -> Prop) (m : point) : Prop :=
  exists d p,
    (exists i, 0 <= i < 5 /\ m = shift p d i) /\
    (forall i, 0 <= i < 5 -> X (shift p d i)) /\
    (r = Standard -> ~ X (shift p d (-1)) /\ ~ X (shift p d 5)).

(** A position is the list of the moves played, the last one first. The sides move by turns. *)
Definition position := list point.

Fixpoint turn (g : position) : side :=
  match g with
  | [] => First
  | _ :: before => other (turn before)
  end.

(** The side [s] has a stone on [p]. *)
Fixpoint stone (s : side) (g : position) (p : point) : Prop :=
  match g with
  | [] => False
  | m :: before => (m = p /\ turn before = s) \/ stone s before p
  end.

(** The last move was the side's, and it made a five. *)
Definition won (r : rule) (s : side) (g : position) : Prop :=
  match g with
  | [] => False
  | m :: before => turn before = s /\ five r (stone s g) m
  end.

(** The game goes on: nobody has won, and the board is not full. A full board is a draw. *)
Definition goes_on (n : Z) (r : rule) (g : position) : Prop :=
  (forall s, ~ won r s g) /\ exists p, on_board n p /\ ~ In p g.

Definition legal (n : Z) (r : rule) (g : position) (m : point) : Prop :=
  goes_on n r g /\ on_board n m /\ ~ In m g.

(** All moves were legal when they were played. *)
Fixpoint legal_game (n : Z) (r : rule) (g : position) : Prop :=
  match g with
  | [] => True
  | m :: before => legal n r before m /\ legal_game n r before
  end.

(** The side [a] wins from [g] within a bounded number of moves, against every defence. *)
Inductive wins (n : Z) (r : rule) (a : side) : position -> Prop :=
| wins_now g :
    won r a g -> wins n r a g
| wins_by_move g m :
    turn g = a -> legal n r g m -> wins n r a (m :: g) -> wins n r a g
| wins_against_all g :
    turn g = other a -> goes_on n r g ->
    (forall m, legal n r g m -> wins n r a (m :: g)) -> wins n r a g.
