(* Reads a certificate and hands it to the checker that was extracted from Rocq.

   FORMAT.md ("Win tree, version 1") has the format. Of what is read here, only the variant, the
   position and the claim are part of the theorem. A node that is read wrongly makes the checker
   refuse, or a win by other moves than the file's. *)

open Checker
open Numbers

exception Fault of int * string

(* Lines of the file *)

let max_line_bytes = 1 lsl 20
let max_plies = 1_999

(* Nodes of at most this length are checked at every position. *)
let max_rechecked_plies = 3

type reader = { file : in_channel; mutable line : int }

let fault reader what = raise (Fault (reader.line, what))

let next reader =
  reader.line <- reader.line + 1;
  match input_line reader.file with
  | exception End_of_file -> fault reader "the file ends here, before its tree does"
  | line ->
    if String.length line >= max_line_bytes then fault reader "the line is too long";
    line

let rest reader line word =
  if line = word then ""
  else
    let head = word ^ " " in
    let length = String.length head in
    if String.length line <= length || String.sub line 0 length <> head then
      fault reader ("'" ^ word ^ "', a blank and a value are expected");
    String.sub line length (String.length line - length)

let after reader word = rest reader (next reader) word

let is_digits text = text <> "" && String.for_all (fun c -> c >= '0' && c <= '9') text

(* A number without sign or leading zeros; -1 for other text. *)
let number text =
  if is_digits text && String.length text < 10 && (text = "0" || text.[0] <> '0') then
    int_of_string text
  else -1

(* The column and the row of a point, both from 0. *)
let read_point reader size text =
  let bad () = fault reader ("'" ^ text ^ "' is no point of the board") in
  if String.length text < 2 then bad ();
  let column = Char.code text.[0] - Char.code 'a' in
  let row = number (String.sub text 1 (String.length text - 1)) - 1 in
  if column < 0 || column >= size || row < 0 || row >= size then bad ();
  (column, row)

let words text = if text = "" then [] else String.split_on_char ' ' text

let cut text at =
  match String.index_opt text at with
  | None -> None
  | Some i -> Some (String.sub text 0 i, String.sub text (i + 1) (String.length text - i - 1))

type file = { certificate : certificate; variant : string; position : string; is_win : bool }

let read path =
  let reader = { file = open_in_bin path; line = 0 } in
  if next reader <> "kagetsu-proof 1" then
    fault reader "a win tree begins with 'kagetsu-proof 1'";
  let variant = after reader "variant" in
  let rules, size =
    match cut variant '-' with
    | Some ("freestyle", size) -> (Freestyle, number size)
    | Some ("standard", size) -> (Standard, number size)
    | _ -> fault reader "this checker knows freestyle and standard gomoku only"
  in
  if size < 5 || size > 22 then fault reader "a board has 5 to 22 rows";
  let line = next reader in
  if cut line ' ' <> None && String.sub line 0 6 = "setup " then
    fault reader "this checker knows positions without a setup only";
  let position = rest reader line "position" in
  let moves = List.map (read_point reader size) (words position) in
  let is_win, plies =
    match words (after reader "claim") with
    | [ "win"; plies ] -> (true, number plies)
    | [ "loss"; plies ] -> (false, number plies)
    | _ -> fault reader "a claim is a win or a loss, and a number of plies"
  in
  if plies < 0 || plies > max_plies then fault reader "no such number of plies";
  (* By number: the plies of a node; whether it has a move. *)
  let plies_of = Hashtbl.create 1024 in
  let bit (column, row) = n_of ((row * size) + column) in
  let reference text =
    let node, turn =
      match cut text '/' with
      | None -> (text, 0)
      | Some (node, turn) ->
        let t = number turn in
        if t < 1 || t > 7 then fault reader ("'" ^ text ^ "': there is no such symmetry");
        (node, t)
    in
    match Hashtbl.find_opt plies_of (number node) with
    | None -> fault reader ("'" ^ node ^ "' is no node before this one")
    | Some below -> ((positive (number node), n_of turn), below)
  in
  let rec read_nodes nodes count =
    match words (next reader) with
    | [ "end"; n ] ->
      if count = 0 || number n <> count then fault reader "the number of nodes is wrong";
      (match input_line reader.file with
       | exception End_of_file -> ()
       | _ -> fault reader "a line follows the end");
      (nodes, count)
    | n :: at :: answers when number n = count + 1 ->
      let is_root_of_loss = at = "-" in
      let longest = ref 0 and others = ref None and named = ref [] in
      let answer text =
        match cut text '>' with
        | None -> fault reader ("'" ^ text ^ "' is no answer, as in g7,g9>3 or *>11")
        | Some (replies, target) ->
          let target, below = reference target in
          longest := max !longest (below + 1);
          if replies = "*" then begin
            if !others <> None then fault reader "two answers to all other replies";
            others := Some target
          end else
            List.iter
              (fun reply ->
                let reply = bit (read_point reader size reply) in
                if List.mem_assoc reply !named then fault reader "two answers to a reply";
                named := (reply, target) :: !named)
              (String.split_on_char ',' replies)
      in
      List.iter answer answers;
      let move = if is_root_of_loss then n_of 0 else bit (read_point reader size at) in
      let total = !longest + if is_root_of_loss then 0 else 1 in
      if total > plies then fault reader "the game may last longer than claimed";
      (* No node refers to the root of a loss. *)
      if not is_root_of_loss then Hashtbl.add plies_of (count + 1) total;
      let node =
        { move; named = List.rev !named; otherwise = !others;
          is_long = total > max_rechecked_plies }
      in
      if is_root_of_loss && is_win then fault reader "a node of a win has a move";
      let nodes = PositiveMap.add (positive (count + 1)) node nodes in
      if is_root_of_loss then
        match words (next reader) with
        | [ "end"; n ] when number n = count + 1 -> (nodes, count + 1)
        | _ -> fault reader "the root of a loss is the last node"
      else read_nodes nodes (count + 1)
    | _ -> fault reader ("node " ^ string_of_int (count + 1) ^ " is expected")
  in
  let nodes, count = read_nodes PositiveMap.empty 0 in
  if (not is_win) && Hashtbl.mem plies_of count then fault reader "the root of a loss has '-'";
  close_in reader.file;
  let certificate =
    { size = n_of size; rules; moves = List.map (fun (x, y) -> (z_of x, z_of y)) moves;
      claimed = (if is_win then Win else Loss); nodes; root = positive count;
      length = nat_of (plies + 1) }
  in
  { certificate; variant; position; is_win }

(* Wins that a check by zones remembers, about 50 kB each. *)
let max_remembered = 30_000

let check ~every_reply path =
  let begun = Sys.time () in
  match read path with
  | exception Sys_error what -> Printf.printf "%s\n" what; 2
  | exception Fault (line, what) ->
    Printf.printf "%s does not hold: line %d: %s\n" path line what; 1
  | file ->
    let holds =
      if every_reply then check_every file.certificate
      else check_zones (n_of max_remembered) file.certificate
    in
    let seconds = Sys.time () -. begun in
    let verdict = if holds then "holds" else "does not hold" in
    Printf.printf "%s %s: %s %s is a %s for the side to move (%.1f s of CPU)\n%!" path verdict
      file.variant file.position (if file.is_win then "win" else "loss") seconds;
    if holds then 0 else 1

let () =
  let arguments = List.tl (Array.to_list Sys.argv) in
  let flags, paths = List.partition (fun word -> word = "--every-reply") arguments in
  if paths = [] then begin
    prerr_endline "usage: kagetsu-formal [--every-reply] FILE...";
    exit 2
  end;
  let check = check ~every_reply:(flags <> []) in
  exit (List.fold_left (fun status path -> max status (check path)) 0 paths)
