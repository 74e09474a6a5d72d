(** The checkers as an OCaml program, and what the theorems rest on. *)

From Coq Require Import Extraction ExtrOcamlBasic.
From Kagetsu Require Import Certificate Zones.

Print Assumptions check_every_sound.
Print Assumptions check_zones_sound.

Extraction Language OCaml.
Extraction "checker.ml" check_every check_zones.
