(* Rocq's positive and natural numbers as numbers of Zarith. *)

type t = Z.t

let of_int = Z.of_int
let one = Z.one
let zero = Z.zero
let double p = Z.shift_left p 1
let double_plus_one p = Z.succ (Z.shift_left p 1)

let positive_case odd even last p =
  if Z.equal p Z.one then last ()
  else if Z.is_odd p then odd (Z.shift_right p 1)
  else even (Z.shift_right p 1)

let natural_case zero positive n = if Z.equal n Z.zero then zero () else positive n
let add = Z.add
let mul = Z.mul
let succ = Z.succ
let sub a b = if Z.lt a b then Z.zero else Z.sub a b
let equal = Z.equal
let leq = Z.leq
let lt = Z.lt
let logand = Z.logand
let logor = Z.logor
let logxor = Z.logxor
let ldiff a b = Z.logand a (Z.lognot b)
let shiftl a n = Z.shift_left a (Z.to_int n)
let shiftr a n = Z.shift_right a (Z.to_int n)
let testbit a n = Z.testbit a (Z.to_int n)
let setbit a n = Z.logor a (Z.shift_left Z.one (Z.to_int n))
let clearbit a n = ldiff a (Z.shift_left Z.one (Z.to_int n))
