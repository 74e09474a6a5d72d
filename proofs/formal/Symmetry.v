(** A win stays a win where the board is mirrored or turned. *)

From Coq Require Import ZArith NArith List Lia Bool.
From Kagetsu Require Import Gomoku Board.

Section Symmetry.
  Variable size : N.
  Variable rule : Gomoku.rule.
  Variable geo : geometry.
  Hypothesis geo_ok : geo = geometry_of size.
  Notation n := (Z.of_N size).
  Notation makes_five := (makes_five size rule geo).
  Notation bits_win := (bits_win size rule geo).

  Definition swap (p : point) : point := (snd p, fst p).
  Definition mirror_columns (p : point) : point := (n - 1 - fst p, snd p)%Z.
  Definition mirror_rows (p : point) : point := (fst p, n - 1 - snd p)%Z.

  (** A map of the board that is its own inverse, and maps neighbours in a row to neighbours. *)
  Record is_mirror (f : point -> point) : Prop := {
    own_inverse : forall p, f (f p) = p;
    keeps_board : forall p, on_board n p -> on_board n (f p);
    keeps_rows : forall d, exists e s, (s = 1 \/ s = -1)%Z /\
      forall p k, f (shift p d k) = shift (f p) e (s * k);
  }.

  Ltac same_point := intros [x y] k; unfold shift; cbn [fst snd vector]; f_equal; lia.

  Lemma swap_is_mirror : is_mirror swap.
  Proof.
    split.
    - intros [x y]. reflexivity.
    - intros [x y]. unfold on_board, swap. cbn. tauto.
    - unfold swap. intros [].
      + exists Up, 1%Z. split; [lia | same_point].
      + exists Across, 1%Z. split; [lia | same_point].
      + exists Rise, 1%Z. split; [lia | same_point].
      + exists Fall, (-1)%Z. split; [lia | same_point].
  Qed.

  Lemma mirror_columns_is_mirror : is_mirror mirror_columns.
  Proof.
    split.
    - intros [x y]. unfold mirror_columns. cbn [fst snd]. f_equal. lia.
    - intros [x y]. unfold on_board, mirror_columns. cbn [fst snd]. lia.
    - unfold mirror_columns. intros [].
      + exists Across, (-1)%Z. split; [lia | same_point].
      + exists Up, 1%Z. split; [lia | same_point].
      + exists Fall, 1%Z. split; [lia | same_point].
      + exists Rise, 1%Z. split; [lia | same_point].
  Qed.

  Lemma mirror_rows_is_mirror : is_mirror mirror_rows.
  Proof.
    split.
    - intros [x y]. unfold mirror_rows. cbn [fst snd]. f_equal. lia.
    - intros [x y]. unfold on_board, mirror_rows. cbn [fst snd]. lia.
    - unfold mirror_rows. intros [].
      + exists Across, 1%Z. split; [lia | same_point].
      + exists Up, (-1)%Z. split; [lia | same_point].
      + exists Fall, (-1)%Z. split; [lia | same_point].
      + exists Rise, (-1)%Z. split; [lia | same_point].
  Qed.

  Section Mirror.
    Variable f : point -> point.
    Hypothesis mirror : is_mirror f.

    Lemma five_mirrored (X Y : point -> Prop) m :
      (forall p, X p <-> Y (f p)) -> five rule X m -> five rule Y (f m).
    Proof.
      intros E (d & p & (i & Hi & ->) & Rows & Ends).
      destruct (keeps_rows _ mirror d) as (e & s & S & H).
      assert (Y' : forall k, X (shift p d k) <-> Y (shift (f p) e (s * k))).
      { intros k. rewrite E, H. tauto. }
      destruct S as [-> | ->].
      - exists e, (f p). split; [|split].
        + exists i. split; [assumption|]. rewrite H. f_equal. lia.
        + intros k Hk. specialize (Rows k Hk). apply Y' in Rows.
          replace (1 * k)%Z with k in Rows by lia. assumption.
        + intros St. destruct (Ends St) as [A B]. rewrite Y' in A, B. split; assumption.
      - exists e, (shift (f p) e (-4)). split; [|split].
        + exists (4 - i)%Z. split; [lia|]. rewrite H, shift_shift. f_equal. lia.
        + intros k Hk. rewrite shift_shift. assert (0 <= 4 - k < 5)%Z as Hk' by lia.
          specialize (Rows _ Hk'). apply Y' in Rows.
          replace (-1 * (4 - k))%Z with (-4 + k)%Z in Rows by lia. assumption.
        + intros St. destruct (Ends St) as [A B]. rewrite Y' in A, B. rewrite !shift_shift.
          split; [exact B | exact A].
    Qed.

    (** The point of a bit after the mirror. *)
    Definition mirrored (i : N) : N := number size (f (place size i)).

    Definition flip (S : N) : N :=
      mask (fun i => N.testbit S (mirrored i)) (points_of_board size).

    Notation on i := (i < size * size)%N.

    Lemma mirrored_on i : on i -> on (mirrored i).
    Proof.
      intros H. apply number_bound. apply (keeps_board _ mirror). apply place_on_board. assumption.
    Qed.

    Lemma mirrored_twice i : on i -> mirrored (mirrored i) = i.
    Proof.
      intros H. unfold mirrored.
      rewrite place_number by (apply (keeps_board _ mirror), place_on_board; assumption).
      rewrite (own_inverse _ mirror). apply number_place. assumption.
    Qed.

    (** [A] has the stones of [B] as the mirror shows them. *)
    Definition shows (A B : N) : Prop :=
      forall i, on i -> N.testbit A i = N.testbit B (mirrored i).

    Lemma flip_shows S : shows (flip S) S.
    Proof.
      intros i H. unfold flip. apply eq_true_iff_eq. rewrite mask_spec.
      unfold points_of_board. rewrite N2Nat.id. tauto.
    Qed.

    Lemma shows_setbit A B i :
      on i -> shows A B -> shows (N.setbit A i) (N.setbit B (mirrored i)).
    Proof.
      intros H S j Hj. apply eq_true_iff_eq. rewrite !setbit_iff, (S j Hj).
      split; (intros [E|E]; [left|right; assumption]); [congruence|].
      rewrite <- (mirrored_twice i H), E. apply mirrored_twice. assumption.
    Qed.

    Definition stones_of (S : N) (p : point) : Prop :=
      on_board n p /\ N.testbit S (number size p) = true.

    Lemma stones_of_spec S : stands_for size S (stones_of S).
    Proof. unfold stones_of. split; tauto. Qed.

    Lemma makes_five_mirrored A B i :
      on i -> shows A B -> (makes_five A i = true <-> makes_five B (mirrored i) = true).
    Proof.
      intros H S. set (p := place size i).
      assert (Bp : on_board n p) by (apply place_on_board; assumption).
      assert (Bf : on_board n (f p)) by (apply (keeps_board _ mirror); assumption).
      assert (Ei : i = number size p) by (symmetry; apply number_place; assumption).
      unfold mirrored. fold p. rewrite Ei.
      rewrite (makes_five_is_five size rule geo geo_ok A _ _ (stones_of_spec A) Bp).
      rewrite (makes_five_is_five size rule geo geo_ok B _ _ (stones_of_spec B) Bf).
      assert (E : forall q, stones_of A q <-> stones_of B (f q)).
      { intros q. unfold stones_of. split.
        - intros [Bq Q]. split; [apply (keeps_board _ mirror); assumption|].
          rewrite S in Q by (apply number_bound; assumption).
          unfold mirrored in Q. rewrite place_number in Q by assumption. assumption.
        - intros [Bq Q].
          assert (Bq' : on_board n q).
          { rewrite <- (own_inverse _ mirror q). apply (keeps_board _ mirror). assumption. }
          split; [assumption|]. rewrite S by (apply number_bound; assumption).
          unfold mirrored. rewrite place_number by assumption. assumption. }
      split; intros F.
      - apply five_mirrored with (stones_of A); assumption.
      - rewrite <- (own_inverse _ mirror p). apply five_mirrored with (stones_of B); [|assumption].
        intros q. rewrite E, (own_inverse _ mirror). tauto.
    Qed.

    Lemma empty_mirrored V K W L i :
      shows V W -> shows K L -> on i ->
      (empty size V K i <-> empty size W L (mirrored i)).
    Proof.
      intros SW SL H. unfold empty. rewrite !full_spec, (SW i H), (SL i H).
      pose proof (mirrored_on i H). tauto.
    Qed.

    Lemma bits_win_mirrored V K : bits_win V K ->
      forall W L, shows V W -> shows K L -> bits_win W L.
    Proof.
      intros H. induction H as [V K m E F | V K m q E Q NF _ IH]; intros W L SW SL;
        pose proof (proj1 (full_spec size m) (proj1 E)) as Om;
        pose proof (shows_setbit V W m Om SW) as SW'.
      - apply bits_now with (mirrored m).
        + apply (empty_mirrored V K); assumption.
        + apply (makes_five_mirrored (N.setbit V m)); assumption.
      - assert (Back : forall i, on i -> exists j, on j /\ i = mirrored j).
        { intros i Hi. exists (mirrored i). split; [apply mirrored_on; assumption|].
          symmetry. apply mirrored_twice. assumption. }
        apply bits_later with (mirrored m) (mirrored q).
        + apply (empty_mirrored V K); assumption.
        + apply (empty_mirrored (N.setbit V m) K); try assumption. apply full_spec, Q.
        + intros i Ei. destruct (Back i) as (j & Oj & ->); [apply full_spec, Ei|].
          apply (empty_mirrored (N.setbit V m) K) in Ei; try assumption.
          specialize (NF j Ei). apply not_true_iff_false. apply not_true_iff_false in NF.
          intros X. apply NF.
          apply (makes_five_mirrored (N.setbit K j) (N.setbit L (mirrored j))); try assumption.
          apply shows_setbit; assumption.
        + intros i Ei. destruct (Back i) as (j & Oj & ->); [apply full_spec, Ei|].
          apply (empty_mirrored (N.setbit V m) K) in Ei; try assumption.
          apply (IH j Ei); [assumption|]. apply shows_setbit; assumption.
    Qed.

    Lemma bits_win_flip W L : bits_win (flip W) (flip L) -> bits_win W L.
    Proof. intros H. apply (bits_win_mirrored _ _ H); apply flip_shows. Qed.
  End Mirror.

  (** Stones as a node under a symmetry sees them. *)
  Definition turned_back (t : N) (S : N) : N :=
    let S := if N.testbit t 1 then flip mirror_rows S else S in
    let S := if N.testbit t 0 then flip mirror_columns S else S in
    if N.testbit t 2 then flip swap S else S.

  Theorem bits_win_turned t W L :
    bits_win (turned_back t W) (turned_back t L) -> bits_win W L.
  Proof.
    unfold turned_back. cbv zeta. intros H.
    assert (R : forall b f W L, is_mirror f ->
      bits_win (if b : bool then flip f W else W) (if b then flip f L else L) -> bits_win W L).
    { intros [] f V K M; [apply bits_win_flip; assumption | tauto]. }
    apply R in H; [|apply swap_is_mirror]. apply R in H; [|apply mirror_columns_is_mirror].
    apply R in H; [|apply mirror_rows_is_mirror]. assumption.
  Qed.
End Symmetry.
