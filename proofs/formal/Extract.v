(** The checker as an OCaml program, and what the theorems rest on. *)

From Coq Require Import Extraction ExtrOcamlBasic.
From Kagetsu Require Import Certificate.

Print Assumptions check_every_sound.

Extraction Language OCaml.
Set Extraction AccessOpaque.
Extraction "checker.ml" check_every image_of.
