(* Numbers of the checker. *)

open Checker

let rec positive n =
  if n = 1 then XH
  else if n land 1 = 1 then XI (positive (n lsr 1))
  else XO (positive (n lsr 1))

let n_of n = if n = 0 then N0 else Npos (positive n)
let z_of n = if n = 0 then Z0 else Zpos (positive n)
let rec nat_of n = if n = 0 then O else S (nat_of (n - 1))
