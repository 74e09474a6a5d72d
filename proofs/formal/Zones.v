(** Conditions on the loser's stones under which a win holds, and a checker that leaves out replies
    that do not matter to them. docs/development/zones.md has the same argument in words. *)

From Coq Require Import ZArith NArith List Lia Bool FMapPositive.
From Kagetsu Require Import Gomoku Board Symmetry Certificate.
Import ListNotations.
Open Scope nat_scope.

(** ** Stones in a row *)

(** Whether the [k]-th point of the row that begins at [r] has a stone. *)
Definition hit (S s r k : N) : nat := if N.testbit S (r + k * s) then 1 else 0.

Definition count (S s r : N) : nat :=
  hit S s r 0 + hit S s r 1 + hit S s r 2 + hit S s r 3 + hit S s r 4.

(** The rows with at least one, two, three or four stones. *)
Record counts := { one : N; two : N; three : N; four : N }.

Definition any_stone (S s : N) : N :=
  N.lor (N.lor (N.lor S (N.shiftr S s)) (N.lor (N.shiftr S (2 * s)) (N.shiftr S (3 * s))))
    (N.shiftr S (4 * s)).

Definition counts_of (S s : N) : counts :=
  let b := N.shiftr S s in
  let c := N.shiftr S (2 * s) in
  let d := N.shiftr S (3 * s) in
  let e := N.shiftr S (4 * s) in
  let ab := N.land S b in
  let a_b := N.lor S b in
  let cd := N.land c d in
  let c_d := N.lor c d in
  let mixed := N.land a_b c_d in
  let both := N.lor ab cd in
  let more := N.lor (N.land ab c_d) (N.land a_b cd) in
  {| one := N.lor (N.lor a_b c_d) e;
     two := N.lor (N.lor both mixed) (N.land e (N.lor a_b c_d));
     three := N.lor more (N.land e (N.lor both mixed));
     four := N.lor (N.land ab cd) (N.land e more) |}.

Ltac by_stones S s r :=
  unfold count, hit;
  rewrite ?N.mul_0_l, ?N.mul_1_l, ?N.add_0_r;
  destruct (N.testbit S r), (N.testbit S (r + s)), (N.testbit S (r + 2 * s)),
    (N.testbit S (r + 3 * s)), (N.testbit S (r + 4 * s)); cbn; split; intros;
  try reflexivity; try discriminate; try lia.

Lemma any_stone_spec S s r : N.testbit (any_stone S s) r = true <-> 1 <= count S s r.
Proof. unfold any_stone. rewrite !N.lor_spec, !N.shiftr_spec'. by_stones S s r. Qed.

Lemma one_spec S s r : N.testbit (one (counts_of S s)) r = true <-> 1 <= count S s r.
Proof.
  cbn [counts_of one]. rewrite ?N.lor_spec, ?N.land_spec, ?N.lor_spec, ?N.land_spec,
    ?N.lor_spec, ?N.land_spec, ?N.shiftr_spec'. by_stones S s r.
Qed.

Lemma two_spec S s r : N.testbit (two (counts_of S s)) r = true <-> 2 <= count S s r.
Proof.
  cbn [counts_of two].
  repeat rewrite ?N.lor_spec, ?N.land_spec, ?N.shiftr_spec'. by_stones S s r.
Qed.

Lemma three_spec S s r : N.testbit (three (counts_of S s)) r = true <-> 3 <= count S s r.
Proof.
  cbn [counts_of three].
  repeat rewrite ?N.lor_spec, ?N.land_spec, ?N.shiftr_spec'. by_stones S s r.
Qed.

Lemma four_spec S s r : N.testbit (four (counts_of S s)) r = true <-> 4 <= count S s r.
Proof.
  cbn [counts_of four].
  repeat rewrite ?N.lor_spec, ?N.land_spec, ?N.shiftr_spec'. by_stones S s r.
Qed.

(** Whether the row that begins at [r] has the point [p]. *)
Definition through (s r p : N) : Prop := exists k, (k < 5)%N /\ p = (r + k * s)%N.

Lemma through_dec s r p : through s r p \/ forall k, (k < 5)%N -> p <> (r + k * s)%N.
Proof.
  destruct (N.eq_dec p (r + 0 * s)); [left; exists 0%N; split; [lia|assumption]|].
  destruct (N.eq_dec p (r + 1 * s)); [left; exists 1%N; split; [lia|assumption]|].
  destruct (N.eq_dec p (r + 2 * s)); [left; exists 2%N; split; [lia|assumption]|].
  destruct (N.eq_dec p (r + 3 * s)); [left; exists 3%N; split; [lia|assumption]|].
  destruct (N.eq_dec p (r + 4 * s)); [left; exists 4%N; split; [lia|assumption]|].
  right. intros k Hk.
  assert (k = 0 \/ k = 1 \/ k = 2 \/ k = 3 \/ k = 4)%N as C by lia.
  destruct C as [-> | [-> | [-> | [-> | ->]]]]; assumption.
Qed.

Lemma hit_other S s r k p : p <> (r + k * s)%N -> hit (N.setbit S p) s r k = hit S s r k.
Proof. intros H. unfold hit. rewrite N.setbit_neq by congruence. reflexivity. Qed.

Lemma hit_here S s r k p : p = (r + k * s)%N -> hit (N.setbit S p) s r k = 1.
Proof. intros ->. unfold hit. rewrite N.setbit_eq. reflexivity. Qed.

Lemma hit_free S s r k p : N.testbit S p = false -> p = (r + k * s)%N -> hit S s r k = 0.
Proof. intros F ->. unfold hit. rewrite F. reflexivity. Qed.

Lemma count_away S s r p :
  (forall k, (k < 5)%N -> p <> (r + k * s)%N) -> count (N.setbit S p) s r = count S s r.
Proof.
  intros H. unfold count.
  rewrite !hit_other by (apply H; lia). reflexivity.
Qed.

Lemma count_through S s r p :
  s <> 0%N -> N.testbit S p = false -> through s r p ->
  count (N.setbit S p) s r = 1 + count S s r.
Proof.
  intros Hs F (k & Hk & E). unfold count.
  assert (k = 0 \/ k = 1 \/ k = 2 \/ k = 3 \/ k = 4)%N as C by lia.
  destruct C as [-> | [-> | [-> | [-> | ->]]]];
    rewrite (hit_here S s r _ p E), (hit_free S s r _ p F E), ?(hit_other S s r) by lia; lia.
Qed.

Lemma count_positive S s r p : N.testbit S p = true -> through s r p -> 1 <= count S s r.
Proof.
  intros H (k & Hk & E).
  assert (hit S s r k = 1) by (unfold hit; rewrite <- E, H; reflexivity).
  unfold count.
  assert (k = 0 \/ k = 1 \/ k = 2 \/ k = 3 \/ k = 4)%N as C by lia.
  destruct C as [-> | [-> | [-> | [-> | ->]]]]; lia.
Qed.

(** ** Conditions *)

Record conditions := {
  (** Points without a stone of the loser. *)
  free : N;
  (** Points with a stone of the loser. *)
  kept : N;
  (** Rows with at most so many stones of the loser. *)
  most0 : rows;
  most1 : rows;
  most2 : rows;
  most3 : rows;
}.

Definition no_rows : rows := build (fun _ => 0%N).

Definition most (C : conditions) (k : nat) : rows :=
  match k with
  | 0 => most0 C
  | 1 => most1 C
  | 2 => most2 C
  | 3 => most3 C
  | _ => no_rows
  end.

Definition no_conditions : conditions :=
  {| free := 0; kept := 0;
     most0 := no_rows; most1 := no_rows; most2 := no_rows; most3 := no_rows |}.

Definition with_free (C : conditions) (points : N) : conditions :=
  {| free := N.lor (free C) points; kept := kept C;
     most0 := most0 C; most1 := most1 C; most2 := most2 C; most3 := most3 C |}.

Definition with_kept (C : conditions) (points : N) : conditions :=
  {| free := free C; kept := N.lor (kept C) points;
     most0 := most0 C; most1 := most1 C; most2 := most2 C; most3 := most3 C |}.

Definition without_kept (C : conditions) (point : N) : conditions :=
  {| free := free C; kept := N.clearbit (kept C) point;
     most0 := most0 C; most1 := most1 C; most2 := most2 C; most3 := most3 C |}.

Definition unite (a b : rows) : rows := build (fun d => N.lor (get a d) (get b d)).

Definition both (C D : conditions) : conditions :=
  {| free := N.lor (free C) (free D); kept := N.lor (kept C) (kept D);
     most0 := unite (most0 C) (most0 D); most1 := unite (most1 C) (most1 D);
     most2 := unite (most2 C) (most2 D); most3 := unite (most3 C) (most3 D) |}.

Section Zones.
  Variable c : certificate.
  Variable geo : geometry.
  Hypothesis geo_ok : geo = geometry_of (size c).
  Hypothesis big : (1 < size c)%N.
  Variable images : PositiveMap.t N.
  (** The number of wins that are remembered. *)
  Variable limit : N.

  Notation board := (board_points geo).
  Notation makes_five := (Board.makes_five (size c) (rules c) geo).
  Notation empty := (Board.empty (size c)).
  Notation bits_win := (Board.bits_win (size c) (rules c) geo).
  Notation bits_lose := (Board.bits_lose (size c) (rules c) geo).
  Notation step := (Board.step (size c)).

  Lemma step_positive d : step d <> 0%N.
  Proof. destruct d; cbn; lia. Qed.

  (** Bounds of rows. *)
  Definition bounded (C : conditions) (L : N) : Prop :=
    forall k d r, k < 4 -> N.testbit (get (most C k) d) r = true -> count L (step d) r <= k.

  Definition meets (C : conditions) (L : N) : Prop :=
    (forall i, N.testbit (free C) i = true -> N.testbit L i = false) /\
    (forall i, N.testbit (kept C) i = true -> N.testbit L i = true) /\
    bounded C L.

  (** Stones of the loser beside those of the winner. *)
  Definition beside (W L : N) : Prop :=
    forall i, N.testbit L i = true -> N.testbit board i = true /\ N.testbit W i = false.

  Definition sound (W : N) (C : conditions) : Prop :=
    forall M, beside W M -> meets C M -> bits_win W M.

  (** Where the loser's stones meet the conditions, the reply on [i] is answered by a win. *)
  Definition covers (W : N) (C : conditions) (i : N) : Prop :=
    forall M, beside W M -> meets C M -> empty W M i -> bits_win W (N.setbit M i).

  Definition refines (C D : conditions) : Prop := forall M, meets C M -> meets D M.

  Lemma refines_trans A B C : refines A B -> refines B C -> refines A C.
  Proof. unfold refines. auto. Qed.

  Lemma covers_refines W C D i : refines D C -> covers W C i -> covers W D i.
  Proof. unfold refines, covers. auto. Qed.

  Lemma most_both C D k d r :
    k < 4 -> N.testbit (get (most (both C D) k) d) r =
      N.testbit (get (most C k) d) r || N.testbit (get (most D k) d) r.
  Proof.
    intros Hk. rewrite <- N.lor_spec.
    destruct k as [|[|[|[|k]]]]; try lia; cbn [most both most0 most1 most2 most3];
      unfold unite; rewrite get_build; reflexivity.
  Qed.

  Lemma meets_both C D L : meets (both C D) L <-> meets C L /\ meets D L.
  Proof.
    unfold meets. cbn [both free kept]. split.
    - intros (F & K & B). split; (split; [|split]).
      + intros i H. apply F. rewrite N.lor_spec, H. reflexivity.
      + intros i H. apply K. rewrite N.lor_spec, H. reflexivity.
      + intros k d r Hk H. apply B; [assumption|]. rewrite most_both, H by assumption.
        reflexivity.
      + intros i H. apply F. rewrite N.lor_spec, H. apply orb_true_r.
      + intros i H. apply K. rewrite N.lor_spec, H. apply orb_true_r.
      + intros k d r Hk H. apply B; [assumption|]. rewrite most_both, H by assumption.
        apply orb_true_r.
    - intros [(F & K & B) (F' & K' & B')]. split; [|split].
      + intros i H. rewrite N.lor_spec in H. apply orb_true_iff in H. destruct H; auto.
      + intros i H. rewrite N.lor_spec in H. apply orb_true_iff in H. destruct H; auto.
      + intros k d r Hk H. rewrite most_both in H by assumption.
        apply orb_true_iff in H. destruct H; [apply B | apply B']; assumption.
  Qed.

  Lemma refines_left C D : refines (both C D) C.
  Proof. intros M H. apply meets_both in H. apply H. Qed.

  Lemma refines_right C D : refines (both C D) D.
  Proof. intros M H. apply meets_both in H. apply H. Qed.

  Lemma most_with_kept C P k : most (with_kept C P) k = most C k.
  Proof. destruct k as [|[|[|[|k]]]]; reflexivity. Qed.

  Lemma most_with_free C P k : most (with_free C P) k = most C k.
  Proof. destruct k as [|[|[|[|k]]]]; reflexivity. Qed.

  Lemma meets_with_kept C P L :
    meets (with_kept C P) L <->
    meets C L /\ forall i, N.testbit P i = true -> N.testbit L i = true.
  Proof.
    unfold meets, bounded. cbn [with_kept free kept]. split.
    - intros (F & K & B). split; [split; [exact F | split]|].
      + intros i H. apply K. rewrite N.lor_spec, H. reflexivity.
      + intros k d r Hk H. apply B; [assumption|]. rewrite most_with_kept. assumption.
      + intros i H. apply K. rewrite N.lor_spec, H. apply orb_true_r.
    - intros [(F & K & B) P']. split; [exact F | split].
      + intros i H. rewrite N.lor_spec in H. apply orb_true_iff in H. destruct H; auto.
      + intros k d r Hk H. rewrite most_with_kept in H. apply B; assumption.
  Qed.

  Lemma meets_with_free C P L :
    meets (with_free C P) L <->
    meets C L /\ forall i, N.testbit P i = true -> N.testbit L i = false.
  Proof.
    unfold meets, bounded. cbn [with_free free kept]. split.
    - intros (F & K & B). split; [split; [|split; [exact K|]]|].
      + intros i H. apply F. rewrite N.lor_spec, H. reflexivity.
      + intros k d r Hk H. apply B; [assumption|]. rewrite most_with_free. assumption.
      + intros i H. apply F. rewrite N.lor_spec, H. apply orb_true_r.
    - intros [(F & K & B) P']. split; [|split; [exact K|]].
      + intros i H. rewrite N.lor_spec in H. apply orb_true_iff in H. destruct H; auto.
      + intros k d r Hk H. rewrite most_with_free in H. apply B; assumption.
  Qed.

  Lemma refines_with_kept C P : refines (with_kept C P) C.
  Proof. intros M H. apply meets_with_kept in H. apply H. Qed.

  Lemma no_rows_spec d r : N.testbit (get no_rows d) r = false.
  Proof. unfold no_rows. rewrite get_build. apply N.bits_0. Qed.

  Lemma most_no_conditions k : most no_conditions k = no_rows.
  Proof. destruct k as [|[|[|[|k]]]]; reflexivity. Qed.

  Lemma meets_nothing L : meets no_conditions L.
  Proof.
    split; [|split].
    - cbn [free no_conditions]. intros i H. rewrite N.bits_0 in H. discriminate.
    - cbn [kept no_conditions]. intros i H. rewrite N.bits_0 in H. discriminate.
    - intros k d r _ H. rewrite most_no_conditions, no_rows_spec in H. discriminate.
  Qed.

  (** ** One more stone of the loser *)

  Definition lower (a more touched : rows) : rows :=
    build (fun d => N.lor (get a d) (N.land (get more d) (get touched d))).

  (** Conditions under which others are met after one more stone on one of the points. *)
  Definition before (C : conditions) (points : N) : conditions :=
    let touched := build (fun d => any_stone points (step d)) in
    {| free := free C; kept := kept C;
       most0 := lower (most0 C) (most1 C) touched;
       most1 := lower (most1 C) (most2 C) touched;
       most2 := lower (most2 C) (most3 C) touched;
       most3 := most3 C |}.

  Lemma most_before C P k d r :
    k < 4 ->
    N.testbit (get (most (before C P) k) d) r = true <->
    N.testbit (get (most C k) d) r = true \/
    (k < 3 /\ N.testbit (get (most C (S k)) d) r = true /\ 1 <= count P (step d) r).
  Proof.
    intros Hk.
    assert (E : forall a b, N.testbit
        (get (lower a b (build (fun d => any_stone P (step d)))) d) r = true <->
        N.testbit (get a d) r = true \/
        (N.testbit (get b d) r = true /\ 1 <= count P (step d) r)).
    { intros a b. unfold lower. rewrite !get_build, N.lor_spec, N.land_spec.
      rewrite orb_true_iff, andb_true_iff, any_stone_spec. tauto. }
    destruct k as [|[|[|[|k]]]]; try lia; cbn [most before most0 most1 most2 most3];
      rewrite ?E; split; intros H; try tauto; intuition lia.
  Qed.

  (** The stones that meet conditions also meet those before a reply, where the bounds allow it. *)
  Lemma bounded_before C P L :
    bounded C L ->
    (forall k d r, k < 3 -> N.testbit (get (most C (S k)) d) r = true ->
      1 <= count P (step d) r -> count L (step d) r <= k) ->
    bounded (before C P) L.
  Proof.
    intros B H k d r Hk M. apply most_before in M; [|assumption].
    destruct M as [M | (K & M & T)]; [apply B | apply H]; assumption.
  Qed.

  Lemma bounded_after C P M p :
    bounded (before C P) M -> N.testbit P p = true -> N.testbit M p = false ->
    (forall d r, N.testbit (get (most0 C) d) r = true -> ~ through (step d) r p) ->
    bounded C (N.setbit M p).
  Proof.
    intros B Pp Mp Z k d r Hk H.
    destruct (through_dec (step d) r p) as [T | A].
    - rewrite count_through by (try assumption; apply step_positive).
      destruct k as [|k]; [exfalso; apply (Z d r); assumption|].
      assert (count M (step d) r <= k); [|lia].
      apply B; [lia|]. apply most_before; [lia|]. right. split; [lia|]. split; [assumption|].
      apply count_positive with p; assumption.
    - rewrite count_away by assumption. apply B; [assumption|].
      apply most_before; [assumption|]. left. assumption.
  Qed.

  Lemma most_without_kept C p k : most (without_kept C p) k = most C k.
  Proof. destruct k as [|[|[|[|k]]]]; reflexivity. Qed.

  Lemma single_spec p i : N.testbit (N.setbit 0 p) i = true <-> p = i.
  Proof. rewrite setbit_iff, N.bits_0. intuition discriminate. Qed.

  Lemma count_single s r p : s <> 0%N -> 1 <= count (N.setbit 0 p) s r -> through s r p.
  Proof.
    intros Hs H. destruct (through_dec s r p) as [T|A]; [assumption|].
    rewrite count_away in H by assumption.
    unfold count, hit in H. rewrite !N.bits_0 in H. cbn in H. lia.
  Qed.

  (** The conditions before one reply. *)
  Definition before_reply (C : conditions) (q : N) : conditions :=
    without_kept (before C (N.setbit 0 q)) q.

  Lemma beside_reply W M q : beside W M -> empty W M q -> beside W (N.setbit M q).
  Proof.
    intros B (Q & Qw & _) i H. apply setbit_iff in H. destruct H as [<-|H]; [|auto].
    split; [|assumption]. rewrite geo_ok. assumption.
  Qed.

  Lemma before_reply_met C L q :
    N.testbit L q = false -> meets C (N.setbit L q) -> meets (before_reply C q) L.
  Proof.
    intros Lq (F & K & B). split; [|split].
    - cbn. intros i H. specialize (F i H). destruct (N.testbit L i) eqn:E; [|reflexivity].
      rewrite <- F. symmetry. apply setbit_iff. tauto.
    - cbn. intros i H. rewrite N.clearbit_iff in H. destruct H as [H D].
      specialize (K i H). apply setbit_iff in K. destruct K as [->|K]; [congruence|assumption].
    - intros k d r Hk H. unfold before_reply in H. rewrite most_without_kept in H.
      revert k d r Hk H. fold (bounded (before C (N.setbit 0 q)) L).
      assert (Same : forall k d r, k < 4 -> N.testbit (get (most C k) d) r = true ->
        count L (step d) r <= k).
      { intros k d r Hk H. specialize (B k d r Hk H).
        destruct (through_dec (step d) r q) as [T|A].
        - rewrite count_through in B by (try assumption; apply step_positive). lia.
        - rewrite count_away in B by assumption. assumption. }
      apply bounded_before; [exact Same|].
      intros k d r Hk H T. apply count_single in T; [|apply step_positive].
      assert (S k < 4) as Hk' by lia.
      specialize (B (S k) d r Hk' H).
      rewrite count_through in B by (try assumption; apply step_positive). lia.
  Qed.

  Lemma before_reply_covers W C L q :
    N.testbit L q = false -> meets C (N.setbit L q) -> sound W C ->
    covers W (before_reply C q) q.
  Proof.
    intros Lq (F & K & B) Snd M BM (F' & K' & B') E. apply Snd; [apply beside_reply; assumption|].
    pose proof E as (_ & _ & Mq). split; [|split].
    - intros i H. destruct (N.eq_dec q i) as [<-|D].
      + specialize (F q H). rewrite N.setbit_eq in F. discriminate.
      + rewrite N.setbit_neq by assumption. apply F'. exact H.
    - intros i H. apply setbit_iff. destruct (N.eq_dec q i) as [D|D]; [left; assumption|right].
      apply K'. cbn. apply N.clearbit_iff. split; [assumption|congruence].
    - apply bounded_after with (N.setbit 0 q); try assumption.
      + apply N.setbit_eq.
      + intros d r H T. assert (0 < 4) as H0 by lia.
        specialize (B 0 d r H0 H).
        pose proof (count_positive (N.setbit L q) (step d) r q (N.setbit_eq _ _) T). lia.
  Qed.

  (** ** Replies that do not matter *)

  (** The rows that hold as many stones as they may. *)
  Definition tight (C : conditions) (L : N) (d : direction) : N :=
    let n := counts_of L (step d) in
    N.lor (N.lor (get (most0 C) d) (N.land (get (most1 C) d) (one n)))
      (N.lor (N.land (get (most2 C) d) (two n)) (N.land (get (most3 C) d) (three n))).

  Lemma tight_spec C L d r k :
    k < 4 -> N.testbit (get (most C k) d) r = true -> k <= count L (step d) r ->
    N.testbit (tight C L d) r = true.
  Proof.
    intros Hk H T. unfold tight. rewrite !N.lor_spec, !N.land_spec.
    rewrite !orb_true_iff, !andb_true_iff, one_spec, two_spec, three_spec.
    destruct k as [|[|[|[|k]]]]; try lia; cbn [most] in H; tauto.
  Qed.

  (** All points of rows. *)
  Definition spread (T s : N) : N :=
    if (T =? 0)%N then 0%N else
    N.lor (N.lor (N.lor T (N.shiftl T s)) (N.lor (N.shiftl T (2 * s)) (N.shiftl T (3 * s))))
      (N.shiftl T (4 * s)).

  Lemma spread_spec T s r p :
    N.testbit T r = true -> through s r p -> N.testbit (spread T s) p = true.
  Proof.
    intros H (k & Hk & ->). unfold spread.
    destruct (N.eqb_spec T 0) as [->|_]; [rewrite N.bits_0 in H; discriminate|].
    rewrite !N.lor_spec, !orb_true_iff.
    assert (Sh : N.testbit (N.shiftl T (k * s)) (r + k * s) = true).
    { rewrite N.shiftl_spec_high' by lia. replace (r + k * s - k * s)%N with r by lia.
      assumption. }
    assert (k = 0 \/ k = 1 \/ k = 2 \/ k = 3 \/ k = 4)%N as D by lia.
    destruct D as [-> | [-> | [-> | [-> | ->]]]].
    - rewrite N.mul_0_l, N.add_0_r. tauto.
    - rewrite N.mul_1_l in *. tauto.
    - tauto.
    - tauto.
    - tauto.
  Qed.

  Definition relevant (C : conditions) (L : N) : N :=
    fold_left (fun points d => N.lor points (spread (tight C L d) (step d)))
      directions (free C).

  Lemma relevant_spec C L p :
    N.testbit (relevant C L) p = false ->
    N.testbit (free C) p = false /\
    forall d r, N.testbit (tight C L d) r = true -> ~ through (step d) r p.
  Proof.
    unfold relevant, directions. cbn [fold_left]. rewrite !N.lor_spec, !orb_false_iff.
    intros ((((F & A) & U) & R) & Fa). split; [assumption|].
    intros d r H T. pose proof (spread_spec _ _ _ _ H T) as Sp.
    destruct d; congruence.
  Qed.

  (** Conditions after a pass also hold before a reply on any point that is not relevant. *)
  Lemma pass_met D L P :
    meets D L -> (forall p, N.testbit P p = true -> N.testbit (relevant D L) p = false) ->
    meets (before D P) L.
  Proof.
    intros (F & K & B) H. split; [exact F | split; [exact K|]].
    apply bounded_before; [exact B|]. intros k d r Hk M T.
    destruct (Nat.le_gt_cases (count L (step d) r) k) as [|G]; [assumption|exfalso].
    assert (Th : exists p, N.testbit P p = true /\ through (step d) r p).
    { unfold count, hit in T.
      destruct (N.testbit P (r + 0 * step d)) eqn:E0;
        [eexists; split; [exact E0 | exists 0%N; split; [lia|reflexivity]]|].
      destruct (N.testbit P (r + 1 * step d)) eqn:E1;
        [eexists; split; [exact E1 | exists 1%N; split; [lia|reflexivity]]|].
      destruct (N.testbit P (r + 2 * step d)) eqn:E2;
        [eexists; split; [exact E2 | exists 2%N; split; [lia|reflexivity]]|].
      destruct (N.testbit P (r + 3 * step d)) eqn:E3;
        [eexists; split; [exact E3 | exists 3%N; split; [lia|reflexivity]]|].
      destruct (N.testbit P (r + 4 * step d)) eqn:E4;
        [eexists; split; [exact E4 | exists 4%N; split; [lia|reflexivity]]|].
      lia. }
    destruct Th as (p & Pp & Th). specialize (H p Pp). apply relevant_spec in H.
    destruct H as [_ H]. apply (H d r); [|assumption].
    apply tight_spec with (S k); [lia | assumption | lia].
  Qed.

  Lemma pass_covers W D L P p :
    meets D L -> sound W D -> N.testbit P p = true -> N.testbit (relevant D L) p = false ->
    covers W (before D P) p.
  Proof.
    intros _ Snd Pp Rp M BM (F & K & B) E. apply Snd; [apply beside_reply; assumption|].
    apply relevant_spec in Rp. destruct Rp as [Fp Rp].
    pose proof E as (_ & _ & Mp). split; [|split].
    - intros i H. destruct (N.eq_dec p i) as [<-|N]; [congruence|].
      rewrite N.setbit_neq by assumption. apply F. exact H.
    - intros i H. apply setbit_iff. right. apply K. exact H.
    - apply bounded_after with P; try assumption.
      intros d r H. apply Rp. apply tight_spec with 0; [lia | exact H | lia].
  Qed.

  (** ** Replies that make a five *)

  Definition no_fives (W : N) (C : conditions) : Prop :=
    forall M, beside W M -> meets C M -> forall i, empty W M i ->
      makes_five (N.setbit M i) i = false.

  (** The rows without a stone. *)
  Definition outside (W : N) : rows :=
    build (fun d => N.ldiff (get (board_rows geo) d) (any_stone W (step d))).

  (** Conditions under which no reply makes a five; [None] if one does. *)
  Definition quiet (W L : N) : option conditions :=
    let open := outside W in
    if forallb (fun d => (N.land (get open d) (four (counts_of L (step d))) =? 0)%N) directions
    then Some {| free := 0; kept := 0;
      most0 := no_rows; most1 := no_rows; most2 := no_rows; most3 := open |}
    else if existsb (fun i => makes_five (N.setbit L i) i) (bits (empties geo W L))
    then None
    else Some {| free := N.ldiff board L; kept := L;
      most0 := no_rows; most1 := no_rows; most2 := no_rows; most3 := no_rows |}.

  (** A five by a reply fills a row without stones of the winner, of which four were there. *)
  Lemma five_of_four W M i :
    beside W M -> empty W M i -> makes_five (N.setbit M i) i = true ->
    exists d r, N.testbit (get (outside W) d) r = true /\ 4 <= count M (step d) r.
  Proof.
    intros BM (Bi & Wi & Mi) H. apply makes_five_spec in H.
    destruct H as (d & r & k & H & Hk & E). apply fives_spec in H. destruct H as [H _].
    apply full_rows_spec in H; [|exact geo_ok]. destruct H as [Fst H].
    exists d, r. split.
    - unfold outside. rewrite get_build, N.ldiff_spec, andb_true_iff, negb_true_iff. split.
      { rewrite geo_ok. cbn [board_rows geometry_of]. rewrite get_build. assumption. }
      apply not_true_iff_false. rewrite any_stone_spec.
      assert (Wk : forall k, (k < 5)%N -> N.testbit W (r + k * step d) = false).
      { intros j Hj. specialize (H j Hj). apply setbit_iff in H.
        destruct H as [<-|H]; [assumption|]. apply (BM _ H). }
      unfold count, hit. rewrite !Wk by lia. cbn. lia.
    - assert (T : through (step d) r i) by (exists k; tauto).
      pose proof (count_through M (step d) r i (step_positive d) Mi T) as C.
      assert (count (N.setbit M i) (step d) r = 5); [|lia].
      unfold count, hit. rewrite !H by lia. reflexivity.
  Qed.

  Lemma quiet_spec W L C :
    beside W L -> quiet W L = Some C -> meets C L /\ no_fives W C.
  Proof.
    intros BL. unfold quiet. destruct (forallb _ directions) eqn:Q.
    - intros [= <-]. split.
      + split; [|split].
        * cbn [free]. intros i H. rewrite N.bits_0 in H. discriminate.
        * cbn [kept]. intros i H. rewrite N.bits_0 in H. discriminate.
        * intros k d r Hk H. destruct k as [|[|[|[|k]]]]; try lia; cbn [most] in H;
            try (rewrite no_rows_spec in H; discriminate).
          destruct (Nat.le_gt_cases (count L (step d) r) 3) as [|G]; [assumption|exfalso].
          rewrite forallb_forall in Q.
          assert (In d directions) as Hd by (destruct d; cbn; tauto).
          specialize (Q d Hd). apply N.eqb_eq in Q.
          assert (X : N.testbit 0 r = true); [|rewrite N.bits_0 in X; discriminate].
          rewrite <- Q, N.land_spec, andb_true_iff. split; [exact H|]. apply four_spec. lia.
      + intros M BM (_ & _ & B) i E. destruct (makes_five _ _) eqn:F; [exfalso|reflexivity].
        destruct (five_of_four W M i BM E F) as (d & r & O & G).
        assert (3 < 4) as H3 by lia. specialize (B 3 d r H3 O). lia.
    - destruct (existsb _ _) eqn:X; [discriminate|]. intros [= <-]. split.
      + split; [|split].
        * cbn. intros i H. rewrite N.ldiff_spec, andb_true_iff, negb_true_iff in H. tauto.
        * cbn. tauto.
        * intros k d r Hk H. destruct k as [|[|[|[|k]]]]; try lia; cbn [most] in H;
            rewrite no_rows_spec in H; discriminate.
      + intros M BM (F & K & _) i E. cbn [free kept] in F, K.
        assert (M = L) as ->.
        { apply N.bits_inj. intros j. destruct (N.testbit L j) eqn:Lj; [apply K; assumption|].
          destruct (N.testbit M j) eqn:Mj; [|reflexivity].
          rewrite <- Mj. apply F. rewrite N.ldiff_spec, Lj.
          rewrite (proj1 (BM j Mj)). reflexivity. }
        destruct (makes_five _ _) eqn:G; [|reflexivity]. rewrite <- X. symmetry.
        apply existsb_exists. exists i. split; [|assumption].
        apply bits_spec. apply (empties_spec c geo geo_ok W L i). assumption.
  Qed.

  (** ** Known wins *)

  Record memory := { known : PositiveMap.t (list (N * conditions)); remembered : N }.

  Definition nothing_known : memory := {| known := PositiveMap.empty _; remembered := 0 |}.

  Definition all_sound (m : memory) : Prop :=
    forall key l W C, PositiveMap.find key (known m) = Some l -> In (W, C) l -> sound W C.

  Lemma nothing_known_sound : all_sound nothing_known.
  Proof. intros key l W C H. cbn in H. rewrite PositiveMap.gempty in H. discriminate. Qed.

  Fixpoint fold_bits (fuel : nat) (W h : N) : N :=
    match fuel with
    | O => h
    | S fuel => match W with
      | N0 => h
      | _ => fold_bits fuel (N.shiftr W 13) (N.lxor (N.land W 8191) h)
      end
    end.

  (** A place in the memory. Nothing depends on what it is. *)
  Definition key_of (at_ : reference) (W : N) : positive :=
    N.succ_pos ((Npos (fst at_) * 8 + snd at_) * 8192 + fold_bits 40 W 0).

  Definition exceeds (C : conditions) (L : N) (d : direction) : N :=
    let n := counts_of L (step d) in
    N.lor (N.lor (N.land (get (most0 C) d) (one n)) (N.land (get (most1 C) d) (two n)))
      (N.lor (N.land (get (most2 C) d) (three n)) (N.land (get (most3 C) d) (four n))).

  Definition are_met (C : conditions) (L : N) : bool :=
    (N.land (free C) L =? 0)%N && (N.ldiff (kept C) L =? 0)%N &&
    forallb (fun d => (exceeds C L d =? 0)%N) directions.

  Lemma are_met_spec C L : are_met C L = true -> meets C L.
  Proof.
    unfold are_met. rewrite !andb_true_iff, !N.eqb_eq. intros [[F K] B]. split; [|split].
    - intros i H. destruct (N.testbit L i) eqn:E; [|reflexivity].
      assert (X : N.testbit 0 i = true); [|rewrite N.bits_0 in X; discriminate].
      rewrite <- F, N.land_spec, H, E. reflexivity.
    - intros i H. destruct (N.testbit L i) eqn:E; [reflexivity|].
      rewrite <- (N.bits_0 i), <- K, N.ldiff_spec, H, E. reflexivity.
    - intros k d r Hk H.
      destruct (Nat.le_gt_cases (count L (step d) r) k) as [|G]; [assumption|exfalso].
      rewrite forallb_forall in B.
      assert (In d directions) as Hd by (destruct d; cbn; tauto).
      specialize (B d Hd). apply N.eqb_eq in B.
      assert (X : N.testbit (exceeds C L d) r = true);
        [|rewrite B, N.bits_0 in X; discriminate].
      unfold exceeds. rewrite !N.lor_spec, !N.land_spec, !orb_true_iff, !andb_true_iff,
        one_spec, two_spec, three_spec, four_spec.
      destruct k as [|[|[|[|k]]]]; try lia; cbn [most] in H; tauto.
  Qed.

  Definition lookup (key : positive) (W L : N) (m : memory) : option conditions :=
    match PositiveMap.find key (known m) with
    | None => None
    | Some l => option_map snd (find (fun a => N.eqb (fst a) W && are_met (snd a) L) l)
    end.

  Lemma lookup_spec key W L m C :
    all_sound m -> lookup key W L m = Some C -> meets C L /\ sound W C.
  Proof.
    intros Snd H. unfold lookup in H.
    destruct (PositiveMap.find key (known m)) as [l|] eqn:E; [|discriminate].
    destruct (find _ l) as [[V D]|] eqn:F; [|discriminate].
    injection H as <-. apply find_some in F. destruct F as [I F]. cbn in F.
    apply andb_true_iff in F. destruct F as [EV F]. apply N.eqb_eq in EV. subst V.
    split; [apply are_met_spec; assumption|]. exact (Snd _ _ _ _ E I).
  Qed.

  Definition remember (key : positive) (W : N) (C : conditions) (m : memory) : memory :=
    let m := if (limit <=? remembered m)%N then nothing_known else m in
    let l := match PositiveMap.find key (known m) with Some l => l | None => [] end in
    {| known := PositiveMap.add key ((W, C) :: l) (known m);
       remembered := N.succ (remembered m) |}.

  Lemma remember_sound key W C m :
    all_sound m -> sound W C -> all_sound (remember key W C m).
  Proof.
    intros Snd H. unfold remember.
    set (m' := if (limit <=? remembered m)%N then nothing_known else m).
    assert (Snd' : all_sound m').
    { unfold m'. destruct (limit <=? remembered m)%N; [apply nothing_known_sound|assumption]. }
    intros key' l V D F I. cbn in F.
    destruct (Pos.eq_dec key key') as [<-|N].
    - rewrite PositiveMap.gss in F. injection F as <-. destruct I as [[= <- <-]|I]; [assumption|].
      destruct (PositiveMap.find key (known m')) as [l'|] eqn:E; [|destruct I].
      exact (Snd' _ _ _ _ E I).
    - rewrite PositiveMap.gso in F by congruence. exact (Snd' _ _ _ _ F I).
  Qed.

  (** ** The checker *)

  Definition checker := reference -> N -> N -> memory -> option conditions * memory.

  Definition good (rec : checker) : Prop :=
    forall at_ W L m o m', beside W L -> all_sound m -> rec at_ W L m = (o, m') ->
      all_sound m' /\ forall C, o = Some C -> meets C L /\ sound W C.

  Definition reply_by (rec : checker) (next : reference) (W L q : N) (m : memory) :=
    let '(o, m) := rec next W (N.setbit L q) m in
    (option_map (fun C => before_reply C q) o, m).

  Lemma reply_by_spec rec next W L q m o m' :
    good rec -> beside W L -> empty W L q -> all_sound m ->
    reply_by rec next W L q m = (o, m') ->
    all_sound m' /\ forall D, o = Some D -> meets D L /\ covers W D q.
  Proof.
    intros G B E Snd H. unfold reply_by in H.
    destruct (rec next W (N.setbit L q) m) as [o1 m1] eqn:R. injection H as <- <-.
    destruct (G _ _ _ _ _ _ (beside_reply _ _ _ B E) Snd R) as [S1 H1].
    split; [assumption|]. intros D HD. destruct o1 as [C|]; [|discriminate].
    injection HD as <-. destruct (H1 C eq_refl) as [M Sd].
    pose proof E as (_ & _ & Lq). split.
    - apply before_reply_met; assumption.
    - apply before_reply_covers with L; assumption.
  Qed.

  (** The replies that a node names. [open] has the points without an answer so far. *)
  Fixpoint by_name (rec : checker) (t W L : N) (l : list (N * reference))
      (C : conditions) (open : N) (m : memory) : option (conditions * N) * memory :=
    match l with
    | [] => (Some (C, open), m)
    | (q, next) :: l =>
      let q := image images t q in
      if N.testbit open q then
        if N.testbit L q then
          by_name rec t W L l (with_kept C (N.setbit 0 q)) (N.clearbit open q) m
        else
          let '(o, m) := reply_by rec (fst next, then_ (snd next) t) W L q m in
          match o with
          | None => (None, m)
          | Some D => by_name rec t W L l (both C D) (N.clearbit open q) m
          end
      else by_name rec t W L l C open m
    end.

  Lemma by_name_spec rec t W L : good rec -> beside W L -> forall l C open m o m',
    all_sound m -> meets C L ->
    (forall i, N.testbit open i = true -> N.testbit board i = true /\ N.testbit W i = false) ->
    by_name rec t W L l C open m = (o, m') ->
    all_sound m' /\ forall D rest, o = Some (D, rest) ->
      meets D L /\ refines D C /\
      (forall i, N.testbit rest i = true -> N.testbit open i = true) /\
      forall i, N.testbit open i = true -> N.testbit rest i = true \/ covers W D i.
  Proof.
    intros G B l. induction l as [|[q next] l IH]; intros C open m o m' Snd M O H;
      cbn [by_name] in H.
    - injection H as <- <-. split; [assumption|]. intros D rest [= <- <-].
      split; [assumption|]. split; [intros K; tauto|]. tauto.
    - set (q' := image images t q) in *.
      assert (O' : forall i, N.testbit (N.clearbit open q') i = true ->
        N.testbit board i = true /\ N.testbit W i = false).
      { intros i Hi. apply N.clearbit_iff in Hi. apply O, Hi. }
      destruct (N.testbit open q') eqn:Oq; [|apply (IH C open m); assumption].
      destruct (N.testbit L q') eqn:Lq.
      + apply IH in H; try assumption.
        2: { apply meets_with_kept. split; [assumption|]. intros i Hi.
             apply single_spec in Hi. subst i. assumption. }
        destruct H as [Sm H]. split; [assumption|]. intros D rest E.
        destruct (H D rest E) as (MD & RD & Sub & Cov).
        split; [assumption|]. split; [|split].
        * eapply refines_trans; [exact RD | apply refines_with_kept].
        * intros i Hi. apply Sub in Hi. apply N.clearbit_iff in Hi. apply Hi.
        * intros i Hi. destruct (N.eq_dec q' i) as [<-|N].
          -- right. intros K _ MK (_ & _ & Kq). apply RD, meets_with_kept in MK.
             destruct MK as [_ MK]. rewrite MK in Kq; [discriminate|]. apply N.setbit_eq.
          -- apply Cov. apply N.clearbit_iff. split; assumption.
      + destruct (reply_by rec _ W L q' m) as [o1 m1] eqn:R.
        assert (E : empty W L q').
        { destruct (O q' Oq) as [Q Wq]. split; [|split; assumption].
          rewrite geo_ok in Q. exact Q. }
        destruct (reply_by_spec _ _ _ _ _ _ _ _ G B E Snd R) as [S1 H1].
        destruct o1 as [D1|]; [|injection H as <- <-; split; [assumption|discriminate]].
        destruct (H1 D1 eq_refl) as [M1 C1].
        apply IH in H; try assumption; [|apply meets_both; tauto].
        destruct H as [Sm H]. split; [assumption|]. intros D rest E'.
        destruct (H D rest E') as (MD & RD & Sub & Cov).
        split; [assumption|]. split; [|split].
        * eapply refines_trans; [exact RD | apply refines_left].
        * intros i Hi. apply Sub in Hi. apply N.clearbit_iff in Hi. apply Hi.
        * intros i Hi. destruct (N.eq_dec q' i) as [<-|N].
          -- right. apply covers_refines with D1; [|assumption].
             eapply refines_trans; [exact RD | apply refines_right].
          -- apply Cov. apply N.clearbit_iff. split; assumption.
  Qed.

  (** One answer to each reply of a list. *)
  Fixpoint each (rec : checker) (next : reference) (W L : N) (l : list N)
      (C : conditions) (m : memory) : option conditions * memory :=
    match l with
    | [] => (Some C, m)
    | q :: l =>
      let '(o, m) := reply_by rec next W L q m in
      match o with
      | None => (None, m)
      | Some D => each rec next W L l (both C D) m
      end
    end.

  Lemma each_spec rec next W L : good rec -> beside W L -> forall l C m o m',
    all_sound m -> meets C L -> (forall i, In i l -> empty W L i) ->
    each rec next W L l C m = (o, m') ->
    all_sound m' /\ forall D, o = Some D ->
      meets D L /\ refines D C /\ forall i, In i l -> covers W D i.
  Proof.
    intros G B l. induction l as [|q l IH]; intros C m o m' Snd M E H; cbn [each] in H.
    - injection H as <- <-. split; [assumption|]. intros D [= <-].
      split; [assumption|]. split; [intros K; tauto | intros i []].
    - destruct (reply_by rec next W L q m) as [o1 m1] eqn:R.
      destruct (reply_by_spec _ _ _ _ _ _ _ _ G B (E q (or_introl eq_refl)) Snd R) as [S1 H1].
      destruct o1 as [D1|]; [|injection H as <- <-; split; [assumption|discriminate]].
      destruct (H1 D1 eq_refl) as [M1 C1].
      apply IH in H; try assumption;
        [| apply meets_both; tauto | intros i Hi; apply E; right; assumption].
      destruct H as [Sm H]. split; [assumption|]. intros D E'.
      destruct (H D E') as (MD & RD & Cov). split; [assumption|]. split.
      + eapply refines_trans; [exact RD | apply refines_left].
      + intros i [<-|Hi]; [|auto]. apply covers_refines with D1; [|assumption].
        eapply refines_trans; [exact RD | apply refines_right].
  Qed.

  (** One answer to a reply on any point of [open], some of which the loser may hold. *)
  Definition by_others (rec : checker) (next : reference) (W L open : N) (m : memory) :=
    let '(o, m) := rec next W L m in
    let '(C, matter) := match o with
      | None => (no_conditions, open)
      | Some D =>
        let matter := N.land open (relevant D L) in
        (before D (N.ldiff open matter), matter)
      end in
    each rec next W L (bits (N.ldiff matter L)) (with_kept C (N.land matter L)) m.

  Lemma bits_in a i : In i (bits a) -> N.testbit a i = true.
  Proof. apply bits_in_spec. Qed.

  Lemma by_others_spec rec next W L open m o m' :
    good rec -> beside W L -> all_sound m ->
    (forall i, N.testbit open i = true -> N.testbit board i = true /\ N.testbit W i = false) ->
    by_others rec next W L open m = (o, m') ->
    all_sound m' /\ forall D, o = Some D ->
      meets D L /\ forall i, N.testbit open i = true -> covers W D i.
  Proof.
    intros G B Snd O H. unfold by_others in H.
    destruct (rec next W L m) as [o1 m1] eqn:R.
    destruct (G _ _ _ _ _ _ B Snd R) as [S1 H1].
    assert (P : exists C matter,
      (forall i, N.testbit matter i = true -> N.testbit open i = true) /\
      meets C L /\
      (forall i, N.testbit open i = true -> N.testbit matter i = true \/ covers W C i) /\
      each rec next W L (bits (N.ldiff matter L)) (with_kept C (N.land matter L)) m1 = (o, m')).
    { destruct o1 as [D|].
      - destruct (H1 D eq_refl) as [MD SD].
        exists (before D (N.ldiff open (N.land open (relevant D L)))), (N.land open (relevant D L)).
        assert (NR : forall p, N.testbit (N.ldiff open (N.land open (relevant D L))) p = true ->
          N.testbit (relevant D L) p = false).
        { intros p Hp. rewrite N.ldiff_spec, N.land_spec, andb_true_iff, negb_true_iff in Hp.
          destruct Hp as [Op Hp]. rewrite Op in Hp. exact Hp. }
        split; [|split; [|split]].
        + intros i Hi. rewrite N.land_spec, andb_true_iff in Hi. tauto.
        + apply pass_met; assumption.
        + intros i Hi. destruct (N.testbit (N.land open (relevant D L)) i) eqn:Mi; [tauto|].
          right.
          assert (Ni : N.testbit (N.ldiff open (N.land open (relevant D L))) i = true).
          { rewrite N.ldiff_spec, Hi, Mi. reflexivity. }
          apply pass_covers with L; try assumption. apply NR. assumption.
        + exact H.
      - exists no_conditions, open. split; [tauto|]. split; [apply meets_nothing|].
        split; [tauto|exact H]. }
    destruct P as (C & matter & Sub & MC & Cov & H'). clear H H1 R.
    apply each_spec in H'; try assumption.
    - destruct H' as [Sm H]. split; [assumption|]. intros D E.
      destruct (H D E) as (MD & RD & CD). split; [assumption|].
      intros i Hi. destruct (Cov i Hi) as [Mi|Ci].
      + destruct (N.testbit L i) eqn:Li.
        * intros K _ MK (_ & _ & Ki). apply RD, meets_with_kept in MK. destruct MK as [_ MK].
          rewrite MK in Ki; [discriminate|]. rewrite N.land_spec, Mi, Li. reflexivity.
        * apply CD. apply bits_spec. rewrite N.ldiff_spec, Mi, Li. reflexivity.
      + apply covers_refines with C; [|assumption].
        eapply refines_trans; [exact RD | apply refines_with_kept].
    - apply meets_with_kept. split; [assumption|]. intros i Hi.
      rewrite N.land_spec, andb_true_iff in Hi. tauto.
    - intros i Hi. apply bits_in in Hi. rewrite N.ldiff_spec, andb_true_iff, negb_true_iff in Hi.
      destruct Hi as [Mi Li]. destruct (O i (Sub i Mi)) as [Bi Wi].
      split; [|split; assumption]. rewrite geo_ok in Bi. exact Bi.
  Qed.

  (** All replies of the loser, who is to move. *)
  Definition all_replies (rec : checker) (nd : node) (t W L : N) (m : memory) :=
    match quiet W L with
    | None => (None, m)
    | Some C =>
      let points := N.ldiff board W in
      let '(o, m) := by_name rec t W L (named nd) C points m in
      match o with
      | None => (None, m)
      | Some (C, open) =>
        let '(o, m) := match otherwise nd with
          | None =>
            (if (N.ldiff open L =? 0)%N then Some (with_kept C open) else None, m)
          | Some next =>
            let '(o, m) := by_others rec (fst next, then_ (snd next) t) W L open m in
            (option_map (both C) o, m)
          end in
        match o with
        | None => (None, m)
        (* A point for the winner's next move stays empty. *)
        | Some C => (if (N.land (free C) points =? 0)%N then None else Some C, m)
        end
      end
    end.

  Lemma all_replies_spec rec nd t W L m o m' :
    good rec -> beside W L -> all_sound m -> all_replies rec nd t W L m = (o, m') ->
    all_sound m' /\ forall C, o = Some C ->
      meets C L /\ forall M, beside W M -> meets C M -> bits_lose W M.
  Proof.
    intros G B Snd H. unfold all_replies in H.
    destruct (quiet W L) as [C0|] eqn:Q;
      [|injection H as <- <-; split; [assumption|discriminate]].
    destruct (quiet_spec _ _ _ B Q) as [M0 NF].
    destruct (by_name rec t W L (named nd) C0 (N.ldiff board W) m) as [o1 m1] eqn:R.
    apply by_name_spec in R; try assumption.
    2: { intros i Hi. rewrite N.ldiff_spec, andb_true_iff, negb_true_iff in Hi. exact Hi. }
    destruct R as [S1 H1].
    destruct o1 as [[C1 open]|]; [|injection H as <- <-; split; [assumption|discriminate]].
    destruct (H1 C1 open eq_refl) as (M1 & R1 & Sub & Cov1). clear H1.
    set (o2 := match otherwise nd with
      | None => (if (N.ldiff open L =? 0)%N then Some (with_kept C1 open) else None, m1)
      | Some next =>
        let '(o, m) := by_others rec (fst next, then_ (snd next) t) W L open m1 in
        (option_map (both C1) o, m)
      end) in H.
    destruct o2 as [o2' m2] eqn:E2. subst o2.
    assert (P : all_sound m2 /\ forall C, o2' = Some C -> meets C L /\ refines C C1 /\
      forall i, N.testbit open i = true -> covers W C i).
    { destruct (otherwise nd) as [next|].
      - destruct (by_others rec _ W L open m1) as [o3 m3] eqn:E3.
        apply by_others_spec in E3; try assumption.
        2: { intros i Hi. apply Sub in Hi.
             rewrite N.ldiff_spec, andb_true_iff, negb_true_iff in Hi. exact Hi. }
        destruct E3 as [S3 H3]. injection E2 as <- <-. split; [assumption|].
        intros C EC. destruct o3 as [D|]; [|discriminate]. injection EC as <-.
        destruct (H3 D eq_refl) as [MD CD]. split; [apply meets_both; tauto|].
        split; [apply refines_left|]. intros i Hi.
        apply covers_refines with D; [apply refines_right | auto].
      - injection E2 as <- <-. split; [assumption|]. intros C EC.
        destruct (N.eqb_spec (N.ldiff open L) 0) as [Z|_]; [|discriminate].
        injection EC as <-. split; [|split; [apply refines_with_kept|]].
        + apply meets_with_kept. split; [assumption|]. intros i Hi.
          destruct (N.testbit L i) eqn:Li; [reflexivity|].
          rewrite <- (N.bits_0 i), <- Z, N.ldiff_spec, Hi, Li. reflexivity.
        + intros i Hi K _ MK (_ & _ & Ki). apply meets_with_kept in MK.
          destruct MK as [_ MK]. rewrite MK in Ki by assumption. discriminate. }
    destruct P as [S2 H2].
    destruct o2' as [C2|]; [|injection H as <- <-; split; [assumption|discriminate]].
    injection H as <- <-. split; [assumption|]. intros C EC.
    destruct (N.eqb_spec (N.land (free C2) (N.ldiff board W)) 0) as [_|Z]; [discriminate|].
    injection EC as <-. destruct (H2 C2 eq_refl) as (M2 & R2 & Cov2).
    split; [assumption|]. intros M BM MM. split.
    - apply nonzero_bit in Z. destruct Z as [q Z]. exists q.
      rewrite N.land_spec, N.ldiff_spec, !andb_true_iff, negb_true_iff in Z.
      destruct Z as [Fq [Bq Wq]]. split; [|split; [assumption|]].
      + rewrite geo_ok in Bq. exact Bq.
      + apply (proj1 MM). assumption.
    - intros i Ei. split.
      + apply (NF M BM); [|assumption]. apply R1, R2. assumption.
      + assert (Oi : N.testbit (N.ldiff board W) i = true).
        { destruct Ei as (Bi & Wi & _). rewrite N.ldiff_spec, Wi, geo_ok.
          cbn [board_points geometry_of]. rewrite Bi. reflexivity. }
        destruct (Cov1 i Oi) as [Ri|Ci].
        * apply (Cov2 i Ri M BM MM Ei).
        * apply (Ci M BM (R2 M MM) Ei).
  Qed.

  Fixpoint zone (fuel : nat) (at_ : reference) (W L : N) (m : memory)
      : option conditions * memory :=
    match fuel with
    | O => (None, m)
    | S fuel =>
      match PositiveMap.find (fst at_) (nodes c) with
      | None => (None, m)
      | Some nd =>
        let key := if is_long nd then key_of at_ W else xH in
        match (if is_long nd then lookup key W L m else None) with
        | Some C => (Some C, m)
        | None =>
          let t := snd at_ in
          let i := image images t (move nd) in
          if is_empty geo W L i then
            let W' := N.setbit W i in
            if makes_five W' i then (Some (with_free no_conditions (N.setbit 0 i)), m)
            else
              let '(o, m) := all_replies (zone fuel) nd t W' L m in
              match o with
              | None => (None, m)
              | Some C =>
                let C := with_free C (N.setbit 0 i) in
                (Some C, if is_long nd then remember key W C m else m)
              end
          else (None, m)
        end
      end
    end.

  Lemma beside_move W L i : beside W L -> N.testbit L i = false -> beside (N.setbit W i) L.
  Proof.
    intros B F j H. destruct (B j H) as [Bj Wj]. split; [assumption|].
    rewrite N.setbit_neq; [assumption|]. intros ->. congruence.
  Qed.

  Lemma zone_good fuel : good (zone fuel).
  Proof.
    induction fuel as [|fuel IH]; intros at_ W L m o m' B Snd H; cbn [zone] in H.
    { injection H as <- <-. split; [assumption|discriminate]. }
    destruct (PositiveMap.find (fst at_) (nodes c)) as [nd|];
      [|injection H as <- <-; split; [assumption|discriminate]].
    cbv zeta in H.
    set (key := if is_long nd then key_of at_ W else xH) in H.
    destruct (if is_long nd then lookup key W L m else None) as [K|] eqn:EK.
    { injection H as <- <-. split; [assumption|]. intros C [= <-].
      destruct (is_long nd); [|discriminate]. apply lookup_spec in EK; assumption. }
    set (i := image images (snd at_) (move nd)) in H.
    destruct (is_empty geo W L i) eqn:E;
      [|injection H as <- <-; split; [assumption|discriminate]].
    apply (is_empty_spec c geo geo_ok) in E. pose proof E as (Bi & Wi & Li).
    destruct (makes_five (N.setbit W i) i) eqn:F.
    - injection H as <- <-. split; [assumption|]. intros C [= <-]. split.
      + apply meets_with_free. split; [apply meets_nothing|]. intros j Hj.
        apply single_spec in Hj. subst j. assumption.
      + intros M BM MM. apply meets_with_free in MM. destruct MM as [_ MM].
        apply bits_now with i; [|assumption]. split; [assumption|]. split; [assumption|].
        apply MM. apply single_spec. reflexivity.
    - destruct (all_replies (zone fuel) nd (snd at_) (N.setbit W i) L m) as [o1 m1] eqn:R.
      apply all_replies_spec in R; try assumption; [|apply beside_move; assumption].
      destruct R as [S1 H1].
      destruct o1 as [C1|]; [|injection H as <- <-; split; [assumption|discriminate]].
      destruct (H1 C1 eq_refl) as [M1 Lose].
      assert (SC : sound W (with_free C1 (N.setbit 0 i))).
      { intros M BM MM. apply meets_with_free in MM. destruct MM as [MM Fi].
        assert (Mi : N.testbit M i = false) by (apply Fi, single_spec; reflexivity).
        apply bits_win_by_move with i; [split; [assumption|split; assumption]|].
        apply Lose; [apply beside_move; assumption | assumption]. }
      injection H as <- <-. split.
      + destruct (is_long nd); [apply remember_sound; assumption | assumption].
      + intros C [= <-]. split; [|assumption]. apply meets_with_free. split; [assumption|].
        intros j Hj. apply single_spec in Hj. subst j. assumption.
  Qed.

  Definition is_beside (W L : N) : bool := (N.ldiff L (N.ldiff board W) =? 0)%N.

  Lemma is_beside_spec W L : is_beside W L = true -> beside W L.
  Proof.
    unfold is_beside. rewrite N.eqb_eq. intros H i Hi.
    assert (X : N.testbit (N.ldiff L (N.ldiff board W)) i = false)
      by (rewrite H; apply N.bits_0).
    rewrite !N.ldiff_spec, Hi in X. cbn in X. apply negb_false_iff in X.
    apply andb_true_iff in X. rewrite negb_true_iff in X. exact X.
  Qed.

  (** The replies at the root of a loss, many of which are images of each other. *)
  Fixpoint root_replies (rec : checker) (nd : node) (W L : N) (l : list N)
      (seen : list (positive * N * N)) (m : memory) : bool :=
    match l with
    | [] => true
    | i :: l =>
      if makes_five (N.setbit L i) i then false else
      match answer images nd 0 i with
      | None => false
      | Some (at_, t) =>
        let V := turned_back (size c) t W in
        let K := turned_back (size c) t (N.setbit L i) in
        let is_same a :=
          Pos.eqb (fst (fst a)) at_ && N.eqb (snd (fst a)) V && N.eqb (snd a) K in
        if existsb is_same seen then root_replies rec nd W L l seen m
        else if is_beside V K then
          match rec (at_, 0%N) V K m with
          | (Some _, m) => root_replies rec nd W L l ((at_, V, K) :: seen) m
          | (None, _) => false
          end
        else false
      end
    end.

  Lemma root_replies_spec rec nd W L : good rec -> forall l seen m,
    all_sound m -> (forall a, In a seen -> bits_win (snd (fst a)) (snd a)) ->
    root_replies rec nd W L l seen m = true ->
    forall i, In i l ->
      makes_five (N.setbit L i) i = false /\ bits_win W (N.setbit L i).
  Proof.
    intros G l. induction l as [|q l IH]; intros seen m Snd Sn H i Hi; [destruct Hi|].
    cbn [root_replies] in H. destruct (makes_five (N.setbit L q) q) eqn:F; [discriminate|].
    destruct (answer images nd 0 q) as [[at_ t]|]; [|discriminate]. cbv zeta in H.
    set (V := turned_back (size c) t W) in H.
    set (K := turned_back (size c) t (N.setbit L q)) in H.
    destruct (existsb _ seen) eqn:X.
    - destruct Hi as [<-|Hi]; [|exact (IH seen m Snd Sn H i Hi)]. split; [assumption|].
      apply existsb_exists in X. destruct X as ([[r V'] K'] & I & E). cbn in E.
      rewrite !andb_true_iff, !N.eqb_eq in E. destruct E as [[_ ->] ->].
      apply Sn in I. apply (bits_win_turned (size c) (rules c) geo geo_ok t). exact I.
    - destruct (is_beside V K) eqn:B; [|discriminate]. apply is_beside_spec in B.
      destruct (rec (at_, 0%N) V K m) as [o m'] eqn:R.
      destruct (G _ _ _ _ _ _ B Snd R) as [S1 H1]. destruct o as [C|]; [|discriminate].
      destruct (H1 C eq_refl) as [M S].
      assert (Win : bits_win V K) by (apply S; assumption).
      destruct Hi as [<-|Hi].
      + split; [assumption|].
        apply (bits_win_turned (size c) (rules c) geo geo_ok t). exact Win.
      + refine (IH _ _ S1 _ H i Hi). intros a [<-|I]; [exact Win | auto].
  Qed.
End Zones.

(** Whether a certificate holds, by zones. [limit] is the number of wins that are remembered. *)
Definition check_zones (limit : N) (c : certificate) : bool :=
  let images := image_table (size c) in
  let geo := geometry_of (size c) in
  (1 <? size c)%N &&
  match replay c geo (moves c) 0 0 with
  | None => false
  | Some (mine, theirs) =>
    let none := nothing_known in
    match claimed c with
    | Win =>
      is_beside geo mine theirs &&
      match fst (zone c geo images limit (length c) (root c, 0%N) mine theirs none) with
      | Some _ => true
      | None => false
      end
    | Loss =>
      match PositiveMap.find (root c) (nodes c) with
      | None => false
      | Some nd =>
        let rec := zone c geo images limit (length c) in
        let replies := empties geo theirs mine in
        negb (replies =? 0)%N &&
        root_replies c geo images rec nd theirs mine (bits replies) [] none
      end
    end
  end.

(** If the checker accepts a certificate, its moves are a game, and its winner wins from there. *)
Theorem check_zones_sound limit c :
  check_zones limit c = true ->
  legal_game (Z.of_N (size c)) (rules c) (claimed_position c) /\
  wins (Z.of_N (size c)) (rules c) (winner c) (claimed_position c).
Proof.
  unfold check_zones. cbv zeta. rewrite andb_true_iff, N.ltb_lt. intros [Big H].
  destruct (replay c (geometry_of (size c)) (moves c) 0 0) as [[mine theirs]|] eqn:E;
    [|discriminate].
  apply (claim_proven c _ eq_refl _ _ E). destruct (claimed c).
  - apply andb_true_iff in H. destruct H as [B H]. apply is_beside_spec in B.
    destruct (zone _ _ _ _ _ _ _ _ _) as [o m] eqn:R.
    apply (zone_good c _ eq_refl Big) in R; [|assumption|apply nothing_known_sound].
    destruct o as [C|]; [|discriminate]. destruct (proj2 R C eq_refl) as [M S].
    apply S; assumption.
  - destruct (PositiveMap.find (root c) (nodes c)) as [nd|]; [|discriminate].
    apply andb_true_iff in H. destruct H as [Q H].
    apply negb_true_iff, N.eqb_neq, nonzero_bit in Q. destruct Q as [q Q].
    split; [exists q; apply (empties_spec c _ eq_refl); assumption|].
    intros i Ei.
    refine (root_replies_spec c _ eq_refl _ _ nd theirs mine
      (zone_good c _ eq_refl Big _ limit (length c)) _ [] _ (nothing_known_sound c _) _ H i _).
    + intros a [].
    + apply bits_spec. apply (empties_spec c _ eq_refl). assumption.
Qed.
