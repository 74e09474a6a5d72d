(** Stones as bits of a number, and how they stand for a position of the game. *)

From Coq Require Import ZArith NArith List Lia Bool.
From Kagetsu Require Import Gomoku.
Import ListNotations.


(** The bits [i] below [k] with [f i]. *)
Fixpoint mask (f : N -> bool) (k : nat) : N :=
  match k with
  | O => 0%N
  | S j => if f (N.of_nat j) then N.setbit (mask f j) (N.of_nat j) else mask f j
  end.

Lemma mask_spec f k i :
  N.testbit (mask f k) i = true <-> (i < N.of_nat k)%N /\ f i = true.
Proof.
  induction k as [|k IH]; cbn [mask].
  - rewrite N.bits_0. split; [discriminate | lia].
  - assert (i = N.of_nat k \/ i <> N.of_nat k) as [->|D] by lia.
    + destruct (f (N.of_nat k)) eqn:E.
      * rewrite N.setbit_eq. split; [split; [lia|assumption] | reflexivity].
      * rewrite IH. split; intros [? ?]; [lia | congruence].
    + destruct (f (N.of_nat k)).
      * rewrite N.setbit_neq by congruence. rewrite IH.
        split; intros [? ?]; split; try assumption; lia.
      * rewrite IH. split; intros [? ?]; split; try assumption; lia.
Qed.

Lemma setbit_iff a m i :
  N.testbit (N.setbit a m) i = true <-> m = i \/ N.testbit a i = true.
Proof. apply N.setbit_iff. Qed.

(** A set of rows for each direction: the bits of the points at which they begin. *)
Record rows := { across : N; up : N; rise : N; fall : N }.

Definition get (r : rows) (d : direction) : N :=
  match d with Across => across r | Up => up r | Rise => rise r | Fall => fall r end.

Definition build (f : direction -> N) : rows :=
  {| across := f Across; up := f Up; rise := f Rise; fall := f Fall |}.

Lemma get_build f d : get (build f) d = f d.
Proof. destruct d; reflexivity. Qed.

(** The points and the rows of a board, so that they need to be computed once only. *)
Record geometry := { board_points : N; board_rows : rows }.

Section Board.
  (** The number of columns and rows, and the rule. *)
  Variable size : N.
  Variable rule : Gomoku.rule.
  Notation n := (Z.of_N size).

  (** The number of a point: the bit that stands for it. *)
  Definition number (p : point) : N := Z.to_N (snd p * n + fst p)%Z.
  Definition place (i : N) : point := (Z.of_N i mod n, Z.of_N i / n)%Z.

  Definition is_on_board (p : point) : bool :=
    (0 <=? fst p)%Z && (fst p <? n)%Z && (0 <=? snd p)%Z && (snd p <? n)%Z.

  Lemma is_on_board_spec p : is_on_board p = true <-> on_board n p.
  Proof.
    unfold is_on_board, on_board. rewrite !andb_true_iff, !Z.leb_le, !Z.ltb_lt. lia.
  Qed.

  Definition points_of_board : nat := N.to_nat (size * size).
  Definition full : N := mask (fun _ => true) points_of_board.

  Definition step (d : direction) : N :=
    match d with
    | Across => 1
    | Up => size
    | Rise => size + 1
    | Fall => size - 1
    end.

  (** The points at which a row of five begins. *)
  Definition first (d : direction) : N :=
    mask (fun i => is_on_board (shift (place i) d 4)) points_of_board.

  Lemma full_spec i : N.testbit full i = true <-> (i < size * size)%N.
  Proof. unfold full. rewrite mask_spec. unfold points_of_board. rewrite N2Nat.id. tauto. Qed.

  Lemma number_place i : (i < size * size)%N -> number (place i) = i.
  Proof.
    intros H. unfold number, place. cbn [fst snd].
    assert (n <> 0)%Z by nia.
    pose proof (Z.div_mod (Z.of_N i) n ltac:(assumption)). lia.
  Qed.

  Lemma place_on_board i : (i < size * size)%N -> on_board n (place i).
  Proof.
    intros H. unfold on_board, place. cbn [fst snd].
    assert (0 < n)%Z by nia.
    pose proof (Z.mod_pos_bound (Z.of_N i) n ltac:(assumption)).
    split; [assumption|]. split.
    - apply Z.div_pos; lia.
    - apply Z.div_lt_upper_bound; nia.
  Qed.

  Lemma number_bound p : on_board n p -> (number p < size * size)%N.
  Proof. destruct p as [x y]. unfold on_board, number. cbn [fst snd]. intros. nia. Qed.

  Lemma place_number p : on_board n p -> place (number p) = p.
  Proof.
    destruct p as [x y]. unfold on_board, number, place. cbn [fst snd]. intros.
    rewrite Z2N.id by nia. f_equal.
    - rewrite Z.add_comm, Z.mod_add, Z.mod_small by lia. reflexivity.
    - rewrite Z.div_add_l, Z.div_small by lia. lia.
  Qed.

  Lemma number_injective p q :
    on_board n p -> on_board n q -> number p = number q -> p = q.
  Proof.
    intros Hp Hq E. rewrite <- (place_number p Hp), <- (place_number q Hq), E. reflexivity.
  Qed.

  (** A bit of a row and its point. *)
  Lemma number_shift p d k :
    on_board n p -> on_board n (shift p d (Z.of_N k)) ->
    number (shift p d (Z.of_N k)) = (number p + k * step d)%N.
  Proof.
    destruct p as [x y]. unfold on_board, number, shift, step.
    destruct d; cbn [fst snd vector]; intros; nia.
  Qed.

  Lemma shift_shift p d a b : shift (shift p d a) d b = shift p d (a + b).
  Proof. destruct p as [x y]. unfold shift. cbn [fst snd]. f_equal; lia. Qed.

  Lemma shift_0 p d : shift p d 0 = p.
  Proof. destruct p as [x y]. unfold shift. cbn [fst snd]. f_equal; lia. Qed.

  Lemma on_board_between p d a b :
    on_board n p -> on_board n (shift p d b) -> (0 <= a <= b)%Z -> on_board n (shift p d a).
  Proof.
    destruct p as [x y]. unfold on_board, shift. destruct d; cbn [fst snd vector]; lia.
  Qed.

  Lemma first_spec d i :
    N.testbit (first d) i = true <->
    (i < size * size)%N /\ on_board n (shift (place i) d 4).
  Proof.
    unfold first. rewrite mask_spec, is_on_board_spec.
    unfold points_of_board. rewrite N2Nat.id. tauto.
  Qed.

  Lemma first_number d p :
    on_board n p -> on_board n (shift p d 4) -> N.testbit (first d) (number p) = true.
  Proof.
    intros H H4. rewrite first_spec. split; [apply number_bound; assumption|].
    rewrite place_number; assumption.
  Qed.

  Definition geometry_of : geometry :=
    {| board_points := full; board_rows := build first |}.

  Variable geo : geometry.
  Hypothesis geo_ok : geo = geometry_of.

  (** The rows of five points that are full of stones. *)
  Definition full_rows (S : N) (d : direction) : N :=
    let s := step d in
    let two := N.land S (N.shiftr S s) in
    if (two =? 0)%N then 0%N else
    let four := N.land two (N.shiftr two (2 * s)) in
    if (four =? 0)%N then 0%N else
    N.land (N.land four (N.shiftr S (4 * s))) (get (board_rows geo) d).

  Lemma full_rows_spec S d i :
    N.testbit (full_rows S d) i = true <->
    N.testbit (first d) i = true /\ forall k, (k < 5)%N -> N.testbit S (i + k * step d) = true.
  Proof.
    set (two := N.land S (N.shiftr S (step d))).
    set (four := N.land two (N.shiftr two (2 * step d))).
    assert (E : full_rows S d = N.land (N.land four (N.shiftr S (4 * step d))) (first d)).
    { unfold full_rows. rewrite geo_ok. cbn [board_rows geometry_of]. rewrite get_build.
      fold two. fold four.
      destruct (N.eqb_spec two 0) as [Z|_].
      - unfold four. rewrite Z. rewrite !N.land_0_l. reflexivity.
      - destruct (N.eqb_spec four 0) as [Z|_]; [|reflexivity].
        rewrite Z. rewrite !N.land_0_l. reflexivity. }
    rewrite E. unfold four, two. rewrite !N.land_spec, !N.shiftr_spec', !N.land_spec,
      !N.shiftr_spec'.
    replace (i + 2 * step d + step d)%N with (i + 3 * step d)%N by lia.
    rewrite !andb_true_iff. split.
    - intros (((( H0 & H1) & H2 & H3) & H4) & F). split; [assumption|]. intros k Hk.
      assert (k = 0 \/ k = 1 \/ k = 2 \/ k = 3 \/ k = 4)%N as C by lia.
      destruct C as [-> | [-> | [-> | [-> | ->]]]]; try assumption.
      + rewrite N.mul_0_l, N.add_0_r. assumption.
      + rewrite N.mul_1_l. assumption.
    - intros [F H].
      pose proof (H 0%N) as H0. rewrite N.mul_0_l, N.add_0_r in H0.
      pose proof (H 1%N) as H1. rewrite N.mul_1_l in H1.
      repeat split; try assumption; try (apply H; lia); [apply H0 | apply H1]; lia.
  Qed.

  (** The rows that are fives. *)
  Definition fives (S : N) (d : direction) : N :=
    let rows := full_rows S d in
    if (rows =? 0)%N then 0%N else
    match rule with
    | Freestyle => rows
    | Standard => N.ldiff (N.ldiff rows (N.shiftl rows (step d))) (N.shiftr rows (step d))
    end.

  Definition has_any (rows : N) (i s : N) : bool :=
    existsb (fun k => (k * s <=? i)%N && N.testbit rows (i - k * s)) [0; 1; 2; 3; 4]%N.

  Definition directions := [Across; Up; Rise; Fall].

  (** The stone on bit [i] stands in a five. *)
  Definition makes_five (S : N) (i : N) : bool :=
    existsb (fun d => let rows := fives S d in
      if (rows =? 0)%N then false else has_any rows i (step d)) directions.

  Lemma makes_five_spec S i :
    makes_five S i = true <->
    exists d j k, N.testbit (fives S d) j = true /\ (k < 5)%N /\ i = (j + k * step d)%N.
  Proof.
    unfold makes_five. rewrite existsb_exists. split.
    - intros (d & _ & H). exists d.
      destruct (fives S d =? 0)%N; [discriminate|].
      unfold has_any in H. apply existsb_exists in H. destruct H as (k & Hk & H).
      apply andb_true_iff in H. destruct H as [L H]. apply N.leb_le in L.
      exists (i - k * step d)%N, k. split; [assumption|]. split; [|lia].
      cbn in Hk. intuition lia.
    - intros (d & j & k & H & Hk & ->). exists d. split.
      + destruct d; cbn; tauto.
      + destruct (N.eqb_spec (fives S d) 0) as [E|E].
        * rewrite E, N.bits_0 in H. discriminate.
        * unfold has_any. apply existsb_exists. exists k. split.
          -- cbn. lia.
          -- apply andb_true_iff. split; [apply N.leb_le; lia|].
             replace (j + k * step d - k * step d)%N with j by lia. assumption.
  Qed.

  Lemma fives_spec S d j :
    N.testbit (fives S d) j = true <->
    N.testbit (full_rows S d) j = true /\
    (rule = Standard ->
      ~ ((step d <= j)%N /\ N.testbit (full_rows S d) (j - step d) = true) /\
      N.testbit (full_rows S d) (j + step d) <> true).
  Proof.
    unfold fives. destruct (N.eqb_spec (full_rows S d) 0) as [E|E].
    - rewrite E, N.bits_0. split; [discriminate | intros [? _]; discriminate].
    - destruct rule.
      + split; [intros H; split; [assumption | discriminate] | tauto].
      + rewrite !N.ldiff_spec, N.shiftr_spec by lia.
        rewrite !andb_true_iff, !negb_true_iff.
        destruct (N.le_gt_cases (step d) j) as [L|L].
        * rewrite N.shiftl_spec_high by lia. rewrite <- !not_true_iff_false. tauto.
        * rewrite N.shiftl_spec_low by assumption.
          assert (~ (step d <= j)%N) by lia.
          destruct (N.testbit (full_rows S d) (j + step d)); intuition congruence.
  Qed.

  (** The stones [X] of the game are the bits of [S]. *)
  Definition stands_for (S : N) (X : point -> Prop) : Prop :=
    (forall p, X p -> on_board n p) /\
    (forall p, on_board n p -> (X p <-> N.testbit S (number p) = true)).

  Lemma full_rows_start S d j :
    N.testbit (full_rows S d) j = true ->
    on_board n (place j) /\ on_board n (shift (place j) d 4) /\ number (place j) = j.
  Proof.
    rewrite full_rows_spec, first_spec. intros [[L B] _].
    split; [apply place_on_board; assumption|]. split; [assumption|].
    apply number_place. assumption.
  Qed.

  Lemma full_rows_of_stones S X d p :
    stands_for S X ->
    (forall i, (0 <= i < 5)%Z -> X (shift p d i)) <->
    (on_board n p /\ on_board n (shift p d 4) /\ N.testbit (full_rows S d) (number p) = true).
  Proof.
    intros [B R]. split.
    - intros H.
      assert (Bp : on_board n p). { rewrite <- (shift_0 p d). apply B, H. lia. }
      assert (B4 : on_board n (shift p d 4)). { apply B, H. lia. }
      split; [assumption|]. split; [assumption|].
      rewrite full_rows_spec. split; [apply first_number; assumption|].
      intros k Hk. specialize (H (Z.of_N k) ltac:(lia)).
      rewrite <- number_shift; [| assumption | apply B, H].
      apply R; [apply B, H | assumption].
    - intros (Bp & B4 & H) i Hi. apply full_rows_spec in H. destruct H as [_ H].
      assert (Bi : on_board n (shift p d i)).
      { apply (on_board_between p d i 4); try assumption. lia. }
      specialize (H (Z.to_N i) ltac:(lia)).
      rewrite <- number_shift in H; [| assumption | rewrite Z2N.id by lia; assumption].
      rewrite Z2N.id in H by lia. apply R; assumption.
  Qed.

  Lemma makes_five_is_five S X m :
    stands_for S X -> on_board n m ->
    (makes_five S (number m) = true <-> five rule X m).
  Proof.
    intros R Bm. rewrite makes_five_spec. unfold five. split.
    - intros (d & j & k & H & Hk & E). apply fives_spec in H. destruct H as [H X5].
      destruct (full_rows_start _ _ _ H) as (Bj & B4 & Nj).
      assert (Rows : forall i, (0 <= i < 5)%Z -> X (shift (place j) d i)).
      { apply (full_rows_of_stones S X d (place j) R). rewrite Nj. tauto. }
      exists d, (place j). split; [|split; [exact Rows|]].
      + exists (Z.of_N k). split; [lia|].
        assert (Bk : on_board n (shift (place j) d (Z.of_N k))).
        { apply (on_board_between _ d _ 4); try assumption. lia. }
        apply number_injective; try assumption.
        rewrite number_shift by assumption. rewrite Nj. assumption.
      + intros Std. destruct (X5 Std) as [Xl Xr]. split; intros Xp.
        * assert (Bq : on_board n (shift (place j) d (-1))) by (apply R; assumption).
          apply Xl.
          set (q := shift (place j) d (-1)) in *.
          assert (Ej : place j = shift q d (Z.of_N 1)).
          { unfold q. rewrite shift_shift. cbn. rewrite shift_0. reflexivity. }
          assert (Nq : (j = number q + 1 * step d)%N).
          { rewrite <- Nj at 1. rewrite Ej. apply number_shift; [assumption|].
            rewrite <- Ej. assumption. }
          split; [lia|].
          replace (j - step d)%N with (number q) by lia.
          apply (full_rows_of_stones S X d q R). intros i Hi.
          assert (i = 0 \/ 1 <= i)%Z as [->|Hi1] by lia.
          -- rewrite shift_0. assumption.
          -- unfold q. rewrite shift_shift. apply Rows. lia.
        * assert (B5 : on_board n (shift (place j) d 5)) by (apply R; assumption).
          assert (B1 : on_board n (shift (place j) d (Z.of_N 1))).
          { apply (on_board_between _ d _ 5); try assumption. lia. }
          apply Xr.
          replace (j + step d)%N with (number (shift (place j) d (Z.of_N 1))).
          2: { rewrite number_shift by assumption. rewrite Nj. lia. }
          apply (full_rows_of_stones S X d _ R). intros i Hi. rewrite shift_shift.
          assert (i = 4 \/ i < 4)%Z as [->|Hi1] by lia; [exact Xp|]. apply Rows. lia.
    - intros (d & p & (i & Hi & Em) & Rows & X5).
      pose proof (proj1 (full_rows_of_stones S X d p R) Rows) as (Bp & B4 & F).
      exists d, (number p), (Z.to_N i). split; [|split; [lia|]].
      + apply fives_spec. split; [assumption|]. intros Std.
        destruct (X5 Std) as [Xl Xr]. split.
        * intros [L F']. destruct (full_rows_start _ _ _ F') as (Bq & Bq4 & Nq).
          set (q := place (number p - step d)) in *.
          assert (Ep : shift q d (Z.of_N 1) = p).
          { assert (on_board n (shift q d (Z.of_N 1))).
            { apply (on_board_between _ d _ 4); try assumption. lia. }
            apply number_injective; try assumption.
            rewrite number_shift by assumption. rewrite Nq. lia. }
          apply Xl. rewrite <- Ep, shift_shift. cbn. rewrite shift_0.
          rewrite <- (shift_0 q d).
          apply (full_rows_of_stones S X d q R); [|lia].
          split; [assumption|]. split; [assumption|]. rewrite Nq. assumption.
        * intros F'. destruct (full_rows_start _ _ _ F') as (Bq & Bq4 & Nq).
          set (q := place (number p + step d)) in *.
          assert (Eq : q = shift p d (Z.of_N 1)).
          { assert (on_board n (shift p d (Z.of_N 1))).
            { apply (on_board_between _ d _ 4); try assumption. lia. }
            apply number_injective; try assumption.
            rewrite number_shift by assumption. rewrite Nq. lia. }
          apply Xr. replace 5%Z with (1 + 4)%Z by lia. rewrite <- shift_shift.
          change 1%Z with (Z.of_N 1). rewrite <- Eq.
          apply (full_rows_of_stones S X d q R); [|lia].
          split; [assumption|]. split; [assumption|]. rewrite Nq. assumption.
      + rewrite Em in Bm |- *. rewrite <- (Z2N.id i) at 1 by lia.
        apply number_shift; [assumption|]. rewrite Z2N.id by lia. assumption.
  Qed.

  (** ** Winning with bits *)

  (** The bit [i] is a point of the board without a stone. *)
  Definition empty (W L : N) (i : N) : Prop :=
    N.testbit full i = true /\ N.testbit W i = false /\ N.testbit L i = false.

  (** The winner, whose turn it is, wins with the stones [W] against the stones [L]. It does not
      matter how many stones there are. *)
  Inductive bits_win : N -> N -> Prop :=
  | bits_now W L m :
      empty W L m -> makes_five (N.setbit W m) m = true -> bits_win W L
  | bits_later W L m q :
      empty W L m -> empty (N.setbit W m) L q ->
      (forall i, empty (N.setbit W m) L i -> makes_five (N.setbit L i) i = false) ->
      (forall i, empty (N.setbit W m) L i -> bits_win (N.setbit W m) (N.setbit L i)) ->
      bits_win W L.

  (** Bits stand for a position in which [a] is the winner. *)
  Record stands (a : side) (W L : N) (g : position) : Prop := {
    stands_winner : stands_for W (stone a g);
    stands_loser : stands_for L (stone (other a) g);
    stands_board : forall p, In p g -> on_board n p;
  }.

  Lemma other_other s : other (other s) = s.
  Proof. destruct s; reflexivity. Qed.

  Lemma other_neq s : other s <> s.
  Proof. destruct s; discriminate. Qed.

  Lemma in_stone g p : In p g <-> exists s, stone s g p.
  Proof.
    induction g as [|m g IH]; cbn [In stone].
    - split; [tauto | intros [_ []]].
    - split.
      + intros [->|H]; [exists (turn g); tauto|].
        apply IH in H. destruct H as [s H]. exists s. tauto.
      + intros [s [[-> _]|H]]; [tauto|]. right. apply IH. exists s. assumption.
  Qed.

  Lemma in_stone_of a g p : In p g <-> stone a g p \/ stone (other a) g p.
  Proof.
    rewrite in_stone. split.
    - intros [s H]. destruct a, s; tauto.
    - intros [H|H]; eexists; exact H.
  Qed.

  Lemma empty_number a W L g p :
    stands a W L g -> on_board n p -> (empty W L (number p) <-> ~ In p g).
  Proof.
    intros [[_ RW] [_ RL] _] B. unfold empty.
    rewrite (in_stone_of a), (RW p B), (RL p B), full_spec.
    rewrite <- !not_true_iff_false. pose proof (number_bound p B). tauto.
  Qed.

  Lemma empty_place a W L g i :
    stands a W L g -> empty W L i ->
    on_board n (place i) /\ ~ In (place i) g /\ number (place i) = i.
  Proof.
    intros R E. pose proof E as (F & _). apply full_spec in F.
    pose proof (place_on_board i F) as B. pose proof (number_place i F) as Ni.
    split; [assumption|]. split; [|assumption].
    apply (empty_number a W L g _ R B). rewrite Ni. assumption.
  Qed.

  Lemma stands_for_move S X Y m :
    stands_for S X -> on_board n m -> (forall p, Y p <-> m = p \/ X p) ->
    stands_for (N.setbit S (number m)) Y.
  Proof.
    intros [B R] Bm E. split.
    - intros p Hp. apply E in Hp. destruct Hp as [<-|Hp]; auto.
    - intros p Bp. rewrite E, setbit_iff, (R p Bp). split.
      + intros [->|H]; tauto.
      + intros [H|H]; [|tauto]. left. apply number_injective; assumption.
  Qed.

  Lemma stands_for_same S X Y :
    stands_for S X -> (forall p, Y p <-> X p) -> stands_for S Y.
  Proof.
    intros [B R] E. split.
    - intros p H. apply B, E, H.
    - intros p Bp. rewrite E. apply R, Bp.
  Qed.

  Lemma stands_move a W L g m :
    stands a W L g -> turn g = a -> on_board n m ->
    stands a (N.setbit W (number m)) L (m :: g).
  Proof.
    intros [RW RL B] T Bm. split.
    - apply (stands_for_move W (stone a g)); try assumption. intros p. cbn. tauto.
    - apply (stands_for_same L (stone (other a) g)); [assumption|]. intros p. cbn.
      pose proof (other_neq a). split; [intros [[_ H']|H'] | tauto]; [congruence|assumption].
    - intros p [<-|H]; auto.
  Qed.

  Lemma stands_swap a W L g : stands a W L g -> stands (other a) L W g.
  Proof. intros [RW RL B]. split; try assumption. rewrite other_other. assumption. Qed.

  Lemma stands_reply a W L g m :
    stands a W L g -> turn g = other a -> on_board n m ->
    stands a W (N.setbit L (number m)) (m :: g).
  Proof.
    intros R T Bm. apply stands_swap in R.
    pose proof (stands_move _ _ _ _ _ R T Bm) as R'. apply stands_swap in R'.
    rewrite other_other in R'. assumption.
  Qed.

  Lemma won_move a W L g m :
    stands a W L g -> turn g = a -> on_board n m ->
    (won rule a (m :: g) <-> makes_five (N.setbit W (number m)) (number m) = true).
  Proof.
    intros R T Bm. pose proof (stands_move _ _ _ _ _ R T Bm) as [RW _ _].
    rewrite (makes_five_is_five _ _ _ RW Bm). cbn [won]. tauto.
  Qed.

  Lemma won_by_turn s g m : won rule s (m :: g) -> turn g = s.
  Proof. cbn. tauto. Qed.

  Lemma wins_reply_by_reply a W L g q :
    stands a W L g -> turn g = other a -> (forall s, ~ won rule s g) -> empty W L q ->
    (forall i, empty W L i -> makes_five (N.setbit L i) i = false) ->
    (forall i, empty W L i -> forall h, stands a W (N.setbit L i) h -> turn h = a ->
      (forall s, ~ won rule s h) -> wins n rule a h) ->
    wins n rule a g.
  Proof.
    intros R T Go Q NF H.
    destruct (empty_place _ _ _ _ _ R Q) as (Bq & NIq & _).
    apply wins_against_all; [assumption| |].
    { split; [assumption|]. exists (place q). tauto. }
    intros p (_ & Bp & NIp).
    pose proof (proj2 (empty_number _ _ _ _ p R Bp) NIp) as Ep.
    apply (H _ Ep).
    - apply stands_reply; assumption.
    - cbn. rewrite T. apply other_other.
    - intros s Hs. pose proof (won_by_turn _ _ _ Hs) as Ts. rewrite T in Ts. subst s.
      apply (won_move (other a) L W) in Hs; try assumption.
      + rewrite (NF _ Ep) in Hs. discriminate.
      + apply stands_swap. assumption.
  Qed.

  (** A win with bits is a win of the game. *)
  Theorem bits_win_wins W L :
    bits_win W L ->
    forall a g, stands a W L g -> turn g = a -> (forall s, ~ won rule s g) ->
    wins n rule a g.
  Proof.
    intros H. induction H as [W L m E F | W L m q E Q NF _ IH]; intros a g R T Go.
    - destruct (empty_place _ _ _ _ _ R E) as (B & NI & Nm).
      apply wins_by_move with (place m); [assumption| |].
      + split; [split; [assumption|]|split; assumption]. exists (place m). tauto.
      + apply wins_now. apply (won_move a W L); try assumption. rewrite Nm. assumption.
    - destruct (empty_place _ _ _ _ _ R E) as (B & NI & Nm).
      pose proof (stands_move _ _ _ _ _ R T B) as R'. rewrite Nm in R'.
      apply wins_by_move with (place m); [assumption| |].
      { split; [split; [assumption|]|split; assumption]. exists (place m). tauto. }
      destruct (makes_five (N.setbit W m) m) eqn:F.
      { apply wins_now. apply (won_move a W L); try assumption. rewrite Nm. assumption. }
      apply (wins_reply_by_reply a (N.setbit W m) L _ q); try assumption.
      + cbn. congruence.
      + intros s Hs. pose proof (won_by_turn _ _ _ Hs) as Ts. rewrite T in Ts. subst s.
        apply (won_move a W L) in Hs; try assumption. rewrite Nm in Hs. congruence.
      + intros i Ei h. exact (IH i Ei a h).
  Qed.

  (** The loser, whose turn it is, loses whatever is played. *)
  Definition bits_lose (W L : N) : Prop :=
    (exists q, empty W L q) /\
    forall i, empty W L i -> makes_five (N.setbit L i) i = false /\ bits_win W (N.setbit L i).

  Theorem bits_lose_wins W L a g :
    bits_lose W L -> stands a W L g -> turn g = other a -> (forall s, ~ won rule s g) ->
    wins n rule a g.
  Proof.
    intros [[q Q] H] R T Go. apply (wins_reply_by_reply a W L g q); try assumption.
    - intros i Ei. apply (H i Ei).
    - intros i Ei h. apply bits_win_wins. apply (H i Ei).
  Qed.
End Board.
