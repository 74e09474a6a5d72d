(** Certificates, and a checker that plays every reply. *)

From Coq Require Import ZArith NArith List Lia Bool FMapPositive.
From Kagetsu Require Import Gomoku Board.
Import ListNotations.

(** A node of the tree, and a symmetry from 0 to 7. *)
Definition reference := (positive * N)%type.

(** A way to play. All of it is a hint: no theorem depends on what a node says. *)
Record node := {
  move : N;
  named : list (N * reference);
  otherwise : option reference;
  (** Whether a check by zones remembers the wins of the node. *)
  is_long : bool;
}.

Inductive claim := Win | Loss.

(** What a certificate claims is in the first four fields. *)
Record certificate := {
  size : N;
  rules : rule;
  (** The moves to the position, the first one first. *)
  moves : list point;
  (** For the side to move. *)
  claimed : claim;
  nodes : PositiveMap.t node;
  root : positive;
  (** More moves of the winner than a game may last. *)
  length : nat;
}.

(** The last move is the first of the list. *)
Definition claimed_position (c : certificate) : position := rev (moves c).

Definition winner (c : certificate) : side :=
  match claimed c with
  | Win => turn (claimed_position c)
  | Loss => other (turn (claimed_position c))
  end.

(** ** Lists of bits *)

Fixpoint bits_from (p : positive) (i : N) : list N :=
  match p with
  | xH => [i]
  | xO q => bits_from q (N.succ i)
  | xI q => i :: bits_from q (N.succ i)
  end.

Definition bits (a : N) : list N :=
  match a with N0 => [] | Npos p => bits_from p 0 end.

Lemma bits_from_spec p i j :
  (i <= j)%N -> N.testbit (Npos p) (j - i) = true -> In j (bits_from p i).
Proof.
  revert i. induction p as [p IH|p IH|]; intros i L H; cbn [bits_from].
  - assert (j = i \/ N.succ i <= j)%N as [->|L'] by lia; [left; reflexivity|].
    right. apply IH; [assumption|].
    replace (j - i)%N with (N.succ (j - N.succ i)) in H by lia.
    change (Npos p~1) with (2 * Npos p + 1)%N in H.
    rewrite N.testbit_odd_succ in H by lia. assumption.
  - assert (j = i \/ N.succ i <= j)%N as [->|L'] by lia.
    + rewrite N.sub_diag in H. discriminate.
    + apply IH; [assumption|].
      replace (j - i)%N with (N.succ (j - N.succ i)) in H by lia.
      change (Npos p~0) with (2 * Npos p)%N in H.
      rewrite N.testbit_even_succ in H by lia. assumption.
  - assert (j = i \/ N.succ i <= j)%N as [->|L'] by lia; [left; reflexivity|].
    replace (j - i)%N with (N.succ (j - N.succ i)) in H by lia.
    change 1%N with (2 * 0 + 1)%N in H.
    rewrite N.testbit_odd_succ, N.bits_0 in H by lia. discriminate.
Qed.

Lemma bits_spec a j : N.testbit a j = true -> In j (bits a).
Proof.
  destruct a as [|p]; [rewrite N.bits_0; discriminate|].
  intros H. apply bits_from_spec; [lia|]. rewrite N.sub_0_r. assumption.
Qed.

Lemma bits_from_in p i j :
  In j (bits_from p i) -> (i <= j)%N /\ N.testbit (Npos p) (j - i) = true.
Proof.
  revert i. induction p as [p IH|p IH|]; intros i H; cbn [bits_from] in H.
  - destruct H as [<-|H]; [rewrite N.sub_diag; split; [lia|reflexivity]|].
    apply IH in H. destruct H as [L H]. split; [lia|].
    replace (j - i)%N with (N.succ (j - N.succ i)) by lia.
    change (Npos p~1) with (2 * Npos p + 1)%N. rewrite N.testbit_odd_succ by lia. assumption.
  - apply IH in H. destruct H as [L H]. split; [lia|].
    replace (j - i)%N with (N.succ (j - N.succ i)) by lia.
    change (Npos p~0) with (2 * Npos p)%N. rewrite N.testbit_even_succ by lia. assumption.
  - destruct H as [<-|[]]. rewrite N.sub_diag. split; [lia|reflexivity].
Qed.

Lemma bits_in_spec a j : In j (bits a) -> N.testbit a j = true.
Proof.
  destruct a as [|p]; [intros []|]. intros H. apply bits_from_in in H.
  rewrite N.sub_0_r in H. apply H.
Qed.

Lemma nonzero_bit a : a <> 0%N -> exists i, N.testbit a i = true.
Proof. intros H. exists (N.log2 a). apply N.bit_log2. assumption. Qed.

(** ** Symmetries *)

Definition image_of (size t i : N) : N :=
  let x := N.modulo i size in
  let y := N.div i size in
  let '(x, y) := if N.testbit t 2 then (y, x) else (x, y) in
  let x := if N.testbit t 0 then (size - 1 - x)%N else x in
  let y := if N.testbit t 1 then (size - 1 - y)%N else y in
  (y * size + x)%N.

(** First one symmetry, then another one. *)
Definition then_ (a b : N) : N :=
  let swapped :=
    if N.testbit b 2 then
      match a with 1 => 2 | 2 => 1 | 5 => 6 | 6 => 5 | _ => a end%N
    else a in
  N.lxor swapped b.

Definition image_key (t i : N) : positive := N.succ_pos (8 * i + t).

Definition image_table (size : N) : PositiveMap.t N :=
  fold_left (fun table i =>
    fold_left (fun table t => PositiveMap.add (image_key t i) (image_of size t i) table)
      [1; 2; 3; 4; 5; 6; 7]%N table)
    (bits (full size)) (PositiveMap.empty N).

Section Checker.
  Variable c : certificate.
  Variable geo : geometry.
  Hypothesis geo_ok : geo = geometry_of (size c).
  Notation board := (board_points geo).
  Notation makes_five := (Board.makes_five (size c) (rules c) geo).
  Notation empty := (Board.empty (size c)).
  Notation bits_win := (Board.bits_win (size c) (rules c) geo).
  Notation bits_lose := (Board.bits_lose (size c) (rules c) geo).

  (** The images of the points under the symmetries. *)
  Variable images : PositiveMap.t N.

  Definition image (t i : N) : N :=
    match t with
    | N0 => i
    | _ => match PositiveMap.find (image_key t i) images with
      | Some j => j
      | None => i
      end
    end.

  Definition is_empty (W L : N) (i : N) : bool :=
    N.testbit board i && negb (N.testbit W i) && negb (N.testbit L i).

  Lemma is_empty_spec W L i : is_empty W L i = true <-> empty W L i.
  Proof.
    unfold is_empty, Board.empty. rewrite geo_ok. cbn [board_points geometry_of]. rewrite !andb_true_iff, !negb_true_iff. tauto.
  Qed.

  (** The answer of a node under a symmetry to a reply. *)
  Definition answer (nd : node) (t i : N) : option reference :=
    let next := match find (fun a => N.eqb (image t (fst a)) i) (named nd) with
      | Some a => Some (snd a)
      | None => otherwise nd
      end in
    option_map (fun '(number, u) => (number, then_ u t)) next.

  (** All points without a stone. *)
  Definition empties (W L : N) : N := N.ldiff board (N.lor W L).

  Lemma empties_spec W L i : N.testbit (empties W L) i = true <-> empty W L i.
  Proof.
    unfold empties, Board.empty. rewrite geo_ok. cbn [board_points geometry_of].
    rewrite N.ldiff_spec, N.lor_spec.
    rewrite andb_true_iff, negb_true_iff, orb_false_iff. tauto.
  Qed.

  (** Whether the node has an answer that wins against every reply. *)
  Definition every_reply (rec : reference -> N -> N -> bool) (nd : node) (t : N) (W L : N) :=
    let replies := empties W L in
    negb (replies =? 0)%N &&
    forallb (fun i =>
      negb (makes_five (N.setbit L i) i) &&
      match answer nd t i with
      | Some next => rec next W (N.setbit L i)
      | None => false
      end) (bits replies).

  Fixpoint every (fuel : nat) (at_ : reference) (W L : N) : bool :=
    match fuel with
    | O => false
    | S fuel =>
      match PositiveMap.find (fst at_) (nodes c) with
      | None => false
      | Some nd =>
        let t := snd at_ in
        let m := image t (move nd) in
        is_empty W L m &&
        (let W := N.setbit W m in
         if makes_five W m then true else every_reply (every fuel) nd t W L)
      end
    end.

  Lemma every_reply_sound rec nd t W L :
    (forall r W L, rec r W L = true -> bits_win W L) ->
    every_reply rec nd t W L = true -> bits_lose W L.
  Proof.
    intros IH H. unfold every_reply in H. apply andb_true_iff in H. destruct H as [Q H].
    apply negb_true_iff, N.eqb_neq, nonzero_bit in Q. destruct Q as [q Q].
    split; [exists q; apply empties_spec; assumption|].
    intros i Ei. rewrite forallb_forall in H.
    specialize (H i (bits_spec _ _ (proj2 (empties_spec W L i) Ei))).
    apply andb_true_iff in H. destruct H as [F H]. apply negb_true_iff in F.
    split; [assumption|].
    destruct (answer nd t i); [|discriminate]. apply IH in H. assumption.
  Qed.

  Lemma bits_win_by_move W L m :
    empty W L m -> bits_lose (N.setbit W m) L -> bits_win W L.
  Proof.
    intros E [[q Q] H]. apply bits_later with (m := m) (q := q); try assumption; apply H.
  Qed.

  Lemma every_sound fuel : forall r W L, every fuel r W L = true -> bits_win W L.
  Proof.
    induction fuel as [|fuel IH]; intros r W L H; cbn [every] in H; [discriminate|].
    destruct (PositiveMap.find (fst r) (nodes c)) as [nd|]; [|discriminate].
    apply andb_true_iff in H. destruct H as [E H]. apply is_empty_spec in E.
    destruct (makes_five _ _) eqn:F in H.
    - apply bits_now with (image (snd r) (move nd)); assumption.
    - apply bits_win_by_move with (image (snd r) (move nd)); [assumption|].
      apply (every_reply_sound (every fuel) nd (snd r)); assumption.
  Qed.

  (** ** The moves to the position *)

  (** The stones of the side to move and of the other one after more moves. *)
  Fixpoint replay (line : list point) (mine theirs : N) : option (N * N) :=
    match line with
    | [] => Some (mine, theirs)
    | m :: rest =>
      if is_on_board (size c) m then
        let i := number (size c) m in
        if is_empty mine theirs i && negb (makes_five (N.setbit mine i) i)
        then replay rest theirs (N.setbit mine i)
        else None
      else None
    end.

  Notation n := (Z.of_N (size c)).

  Lemma replay_sound line : forall mine theirs g mine' theirs',
    replay line mine theirs = Some (mine', theirs') ->
    stands (size c) (turn g) mine theirs g ->
    (forall s, ~ won (rules c) s g) -> legal_game n (rules c) g ->
    let g' := rev line ++ g in
    stands (size c) (turn g') mine' theirs' g' /\
    (forall s, ~ won (rules c) s g') /\ legal_game n (rules c) g'.
  Proof.
    induction line as [|m line IH]; intros mine theirs g mine' theirs' H R Go Lg; cbn [replay] in H.
    - injection H as <- <-. cbn. tauto.
    - destruct (is_on_board (size c) m) eqn:B; [|discriminate].
      apply is_on_board_spec in B.
      destruct (is_empty _ _ _ && negb _) eqn:E in H; [|discriminate].
      apply andb_true_iff in E. destruct E as [E NF].
      apply is_empty_spec in E. apply negb_true_iff in NF.
      apply (empty_number _ _ _ _ _ _ R B) in E.
      pose proof (stands_move _ _ _ _ _ _ R eq_refl B) as R'.
      cbn [rev]. rewrite <- app_assoc. cbn [app].
      apply (IH _ _ (m :: g) _ _ H).
      + cbn [turn]. apply stands_swap. assumption.
      + intros s Hs. pose proof (won_by_turn _ _ _ _ Hs) as Ts. subst s.
        apply (won_move (size c) (rules c) geo geo_ok _ mine theirs) in Hs; try assumption; try reflexivity.
        rewrite NF in Hs. discriminate Hs.
      + cbn. split; [|assumption]. split; [|tauto]. split; [assumption|]. exists m. tauto.
  Qed.

  Lemma stands_nothing : stands (size c) First 0 0 [].
  Proof.
    split; [split|split|]; try solve [intros ? []]; intros q _; rewrite N.bits_0;
      (split; [intros [] | discriminate]).
  Qed.

  Lemma claim_proven mine theirs :
    replay (moves c) 0 0 = Some (mine, theirs) ->
    match claimed c with
    | Win => bits_win mine theirs
    | Loss => bits_lose theirs mine
    end ->
    legal_game n (rules c) (claimed_position c) /\
    wins n (rules c) (winner c) (claimed_position c).
  Proof.
    intros H C. apply (replay_sound _ _ _ []) in H;
      [| apply stands_nothing | intros s [] | exact I].
    cbn zeta in H. rewrite app_nil_r in H. destruct H as (R & Go & Lg).
    split; [exact Lg|]. unfold winner. fold (claimed_position c) in R, Go.
    destruct (claimed c).
    - apply (bits_win_wins _ _ geo geo_ok _ _ C); [exact R | reflexivity | exact Go].
    - apply (bits_lose_wins _ _ geo geo_ok _ _ _ _ C); [| rewrite other_other; reflexivity | exact Go].
      apply stands_swap. exact R.
  Qed.
End Checker.

(** Whether a certificate holds, by every reply. *)
Definition check_every (c : certificate) : bool :=
  let images := image_table (size c) in
  let geo := geometry_of (size c) in
  match replay c geo (moves c) 0 0 with
  | None => false
  | Some (mine, theirs) =>
    match claimed c with
    | Win => every c geo images (length c) (root c, 0%N) mine theirs
    | Loss =>
      match PositiveMap.find (root c) (nodes c) with
      | None => false
      | Some nd => every_reply c geo images (every c geo images (length c)) nd 0 theirs mine
      end
    end
  end.

(** If the checker accepts a certificate, its moves are a game, and its winner wins from there. *)
Theorem check_every_sound c :
  check_every c = true ->
  legal_game (Z.of_N (size c)) (rules c) (claimed_position c) /\
  wins (Z.of_N (size c)) (rules c) (winner c) (claimed_position c).
Proof.
  unfold check_every. cbv zeta.
  destruct (replay c (geometry_of (size c)) (moves c) 0 0) as [[mine theirs]|] eqn:E;
    [|discriminate].
  intros H. apply (claim_proven c _ eq_refl _ _ E). destruct (claimed c).
  - apply every_sound in H; [assumption | reflexivity].
  - destruct (PositiveMap.find (root c) (nodes c)) as [nd|]; [|discriminate].
    apply every_reply_sound in H; [assumption | reflexivity | apply every_sound; reflexivity].
Qed.

(** A legal first move after which the second side loses wins the game for the first side. *)
Corollary first_move_wins n r m :
  legal_game n r [m] -> wins n r First [m] -> wins n r First [].
Proof. intros [L _] H. apply wins_by_move with m; [reflexivity | assumption | assumption]. Qed.
