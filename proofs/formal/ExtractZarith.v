(** The checkers with the numbers of Zarith, a library for big numbers. It is faster, and trusts
    Zarith and the table below. *)

From Coq Require Import NArith Extraction ExtrOcamlBasic.
From Kagetsu Require Import Certificate Zones.

Extract Inductive positive => "Big.t" ["Big.double_plus_one" "Big.double" "Big.one"]
  "Big.positive_case".
Extract Inductive N => "Big.t" ["Big.zero" ""] "Big.natural_case".
Extract Inlined Constant Pos.eqb => "Big.equal".
Extract Inlined Constant N.succ_pos => "Big.succ".
Extract Inlined Constant N.succ => "Big.succ".
Extract Inlined Constant N.add => "Big.add".
Extract Inlined Constant N.mul => "Big.mul".
Extract Inlined Constant N.sub => "Big.sub".
Extract Inlined Constant N.eqb => "Big.equal".
Extract Inlined Constant N.leb => "Big.leq".
Extract Inlined Constant N.ltb => "Big.lt".
Extract Inlined Constant N.land => "Big.logand".
Extract Inlined Constant N.lor => "Big.logor".
Extract Inlined Constant N.lxor => "Big.logxor".
Extract Inlined Constant N.ldiff => "Big.ldiff".
Extract Inlined Constant N.shiftl => "Big.shiftl".
Extract Inlined Constant N.shiftr => "Big.shiftr".
Extract Inlined Constant N.testbit => "Big.testbit".
Extract Inlined Constant N.setbit => "Big.setbit".
Extract Inlined Constant N.clearbit => "Big.clearbit".

Extraction Language OCaml.
Extraction "checker.ml" check_every check_zones.
