(* Numbers of the checker, where they are those of Zarith. *)

open Checker

let positive n = Big.of_int n
let n_of n = Big.of_int n
let z_of n = if n = 0 then Z0 else Zpos (positive n)
let rec nat_of n = if n = 0 then O else S (nat_of (n - 1))
