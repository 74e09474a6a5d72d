//! The settings of a build: they survive every encoding, and all that is wrong is reported at once.

use kagetsu_book::{
    BUILD_FIELDS, BuildSpec, Day, Deepen, MAX_NODES, MAX_POSITIONS, Policy, REGISTRY,
};
use kagetsu_game::Side;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is not an object"),
    }
}

prop_compose! {
    fn any_deepen()(
        depth in proptest::option::of(1_u8..=100),
        nodes in proptest::option::of(1..=MAX_NODES),
        before in proptest::option::of(0_u32..100_000),
        engine in proptest::option::of("[a-z ]{1,9}"),
    ) -> Deepen {
        Deepen { depth, nodes, before: before.map(Day), engine }
    }
}

prop_compose! {
    fn any_choice()(
        policy in 0..REGISTRY.len(),
        side in prop_oneof![Just(Side::First), Just(Side::Second)],
        alpha in 0.0..=1_000.0,
        noise in 0.0..=100.0,
        seed: u64,
        margin: Option<u16>,
        deepen in proptest::option::of(any_deepen()),
    ) -> BuildSpec {
        let policy = REGISTRY[policy];
        let deepen = deepen.filter(|_| policy.info().can_deepen);
        BuildSpec { policy, side, alpha, noise, seed, margin, deepen, ..BuildSpec::default() }
    }
}

prop_compose! {
    fn any_spec()(
        choice in any_choice(),
        depth in proptest::option::of(1_u8..=100),
        nodes in proptest::option::of(1..=MAX_NODES),
        time_ms in proptest::option::of(1_u64..=2_592_000_000),
        top in 1_u16..=1_000,
        max_ply: Option<u16>,
        split: bool,
        positions in proptest::option::of(1..=MAX_POSITIONS),
        total_nodes in proptest::option::of(1..=MAX_NODES),
        until_stable in proptest::option::of(1..=MAX_POSITIONS),
        priority in -100_i8..=100,
    ) -> BuildSpec {
        BuildSpec {
            depth, nodes, time_ms, top, max_ply, split, positions, total_nodes, until_stable,
            priority, ..choice
        }
    }
}

proptest! {
    #[test]
    fn json_round_trip_keeps_every_setting(spec in any_spec()) {
        prop_assert_eq!(spec.validate(), Ok(()));
        let spec = spec.completed();
        prop_assert_eq!(&BuildSpec::from_json(spec.to_json()), &Ok(spec.clone()));
        let text = Value::Object(spec.to_json()).to_string();
        prop_assert_eq!(&BuildSpec::from_json_text(&text), &Ok(spec.clone()));
        prop_assert_eq!(spec.clone().completed(), spec);
    }

    #[test]
    fn flag_texts_read_as_their_json(spec in any_spec()) {
        let settings = spec.to_json();
        for field in BUILD_FIELDS.iter().filter(|field| field.flag.is_some()) {
            let text = match settings.get(field.name) {
                None | Some(Value::Null) => continue,
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
            };
            let read = field.parse(&text);
            prop_assert_eq!(read.as_ref(), Ok(&settings[field.name]));
        }
    }
}

#[test]
fn field_list_names_every_setting() {
    let spec = serde_json::to_value(BuildSpec::default()).expect("plain data");
    let mut names: Vec<&str> = BUILD_FIELDS.iter().map(|field| field.name).collect();
    names.sort_unstable();
    let settings = object(spec);
    let known: Vec<&str> = settings.keys().map(String::as_str).collect();
    assert_eq!(names, known);
    for field in BUILD_FIELDS {
        assert!(
            !field.label.is_empty() && !field.help.is_empty(),
            "{field:?}"
        );
    }
}

#[test]
fn all_faults_are_reported_at_once() {
    let rows = [
        (
            json!({"alpha": -1}),
            vec!["alpha: -1 is not a number from 0 to 1000"],
        ),
        (json!({"alpha": "x"}), vec!["alpha: \"x\" is not a number"]),
        (
            json!({"depth": 0}),
            vec!["depth: 0 is not a number from 1 to 100"],
        ),
        (json!({"depth": 101}), vec!["depth: 101 is not"]),
        (
            json!({"depth": 2.5}),
            vec!["depth: 2.5 is not a whole number"],
        ),
        (
            json!({"top": 0, "noise": 101, "priority": -101}),
            vec!["top: 0", "noise: 101", "priority: -101"],
        ),
        (
            json!({"policy": "best"}),
            vec!["policy: \"best\" is not one of drop-out, one-side, prove"],
        ),
        (
            json!({"side": "black"}),
            vec!["side: \"black\" is not one of first, second"],
        ),
        (json!({"split": 1}), vec!["split: 1 is not true or false"]),
        (
            json!({"depths": 4, "nods": 2}),
            vec!["depths: a build has no such setting", "nods:"],
        ),
        (json!({"deepen": 3}), vec!["deepen: 3 is not an object"]),
        (
            json!({"deepen": {"depth": 0, "before": "yesterday", "x": 1, "engine": ""}}),
            vec![
                "deepen.depth: 0",
                "deepen.before: yesterday is not a day",
                "deepen.x:",
                "deepen.engine:",
            ],
        ),
        (
            json!({"deepen": {"engine": "rapfi\u{0}"}}),
            vec!["deepen.engine: 'rapfi\\0' is not a text of 1 to 200 bytes"],
        ),
        (
            json!({"deepen": {"engine": "\u{202e}", "nodes": u64::MAX}}),
            vec!["deepen.engine: '\\u{202e}' is not", "deepen.nodes: "],
        ),
        (
            json!({"deepen": {"engine": "e".repeat(201)}}),
            vec!["deepen.engine: '"],
        ),
        (
            json!({
                "positions": u64::MAX, "total_nodes": u64::MAX, "until_stable": u64::MAX,
                "nodes": u64::MAX, "time_ms": u64::MAX,
            }),
            vec![
                "positions: 18446744073709551615 is not a number from 1 to 1000000000000",
                "total_nodes: 18446744073709551615 is not a number from 1 to",
                "until_stable: 18446744073709551615 is not a number from 1 to",
                "nodes: 18446744073709551615 is not a number from 1 to",
                "time_ms: 18446744073709551615 is not a number from 1 to",
            ],
        ),
        (
            json!({"policy": "prove", "deepen": {}, "positions": 0}),
            vec!["deepen: needs another policy than prove", "positions: 0"],
        ),
    ];
    for (settings, expected) in rows {
        let faults = BuildSpec::from_json(object(settings.clone())).expect_err("wrong settings");
        assert_eq!(faults.0.len(), expected.len(), "{settings}: {faults}");
        for words in expected {
            assert!(
                faults.to_string().contains(words),
                "{settings}: {faults}, not {words}"
            );
        }
    }
    let wrong = BuildSpec {
        alpha: f64::NAN,
        top: 0,
        ..BuildSpec::default()
    };
    assert_eq!(wrong.validate().expect_err("wrong settings").0.len(), 2);
}

#[test]
fn policies_choose_what_is_left_open() {
    let read = |settings| BuildSpec::from_json(object(settings)).expect("good settings");
    let effort = |spec: &BuildSpec| (spec.depth, spec.nodes, spec.margin);
    assert_eq!(effort(&read(json!({}))), (Some(6), None, None));
    let one_side = read(json!({"policy": "one-side", "nodes": 9}));
    assert_eq!(effort(&one_side), (None, Some(9), Some(100)));
    let prove = read(json!({"policy": "prove", "alpha": 7, "depth": null}));
    assert_eq!(effort(&prove), (None, Some(20_000), None));
    assert_eq!((prove.policy, prove.alpha), (Policy::PROVE, 1.0));
}

#[test]
fn settings_of_a_later_program_are_kept() {
    let stored = json!({"depth": 4, "colour": "blue"});
    let spec: BuildSpec = serde_json::from_value(stored).expect("settings");
    assert_eq!(spec.to_json()["colour"], "blue");
    assert!(spec.validate().is_err());
    assert_eq!(spec.completed().unknown["colour"], "blue");
}
