//! Searches of positions.

use std::cell::RefCell;

use kagetsu_api::{AnswerJson, ErrorJson, QuestionJson, UpdateJson, read_position};
use kagetsu_game::{Answer, Effort, Question};
use kagetsu_search::{Control, Engine, EngineOptions, Progress, missing_weights};
use serde_json::Value;

use crate::answers::{failed, json};
use crate::host;

thread_local! {
    static RUNNING: RefCell<Option<Control>> = const { RefCell::new(None) };
    static ENGINE: RefCell<Option<Engine>> = const { RefCell::new(None) };
}

/// Analyses a position, and tells the host the answer after each depth. The host may end it.
pub(crate) fn analyse(body: &[u8]) -> Result<Value, ErrorJson> {
    let bad = |error: serde_json::Error| ErrorJson::new("bad_request", error.to_string());
    let asked: QuestionJson = serde_json::from_slice(body).map_err(bad)?;
    let at = read_position(&asked.variant, asked.fen.as_deref(), &asked.moves)?;
    if at.outcome().is_some() {
        let message = format!("the game is over in {at}: there is nothing to search");
        return Err(ErrorJson::new("bad_request", message));
    }
    if let Some(file) = missing_weights(at.variant()) {
        return Err(ErrorJson::new("no_weights", file));
    }
    let effort = Effort {
        depth: asked.depth.map(|depth| depth.min(255) as u8),
        nodes: asked.nodes,
        time: asked.time_ms.map(std::time::Duration::from_millis),
    };
    let question = Question {
        width: asked.top.clamp(1, 400) as u16,
        ..Question::new(at.clone(), effort)
    };
    let control = Control::clocked(host::now, move |_| {
        if host::must_stop() {
            RUNNING.with_borrow(|running| running.iter().for_each(Control::stop));
        }
    });
    RUNNING.set(Some(control.clone()));
    let begun = host::now();
    let update = |answer: Answer, nodes: u64, is_final: bool| {
        let elapsed = host::now().saturating_sub(begun).as_millis() as u64;
        let answer = AnswerJson::new(&at, &dated(answer), elapsed).with_nodes(nodes);
        json(&UpdateJson {
            answer,
            workers: 1,
            is_final,
        })
    };
    let mut told = 0;
    ENGINE.with_borrow_mut(|kept| {
        let engine = match kept {
            Some(engine) => engine,
            None => {
                let made = Engine::new(EngineOptions::default());
                kept.insert(made.map_err(|_| ErrorJson::new("engine_stopped", "no memory"))?)
            }
        };
        let mut tell = |progress: &Progress| {
            told = progress.nodes;
            let json = update(progress.answer.clone(), told, false);
            host::tell(&json.unwrap_or_default().to_string());
        };
        let answer = engine.answer(&question, &control, &mut tell);
        let answer = answer.map_err(failed)?;
        let nodes = told.max(answer.nodes());
        update(answer, nodes, true)
    })
}

/// Gives verdicts that were found now the day of the host.
fn dated(answer: Answer) -> Answer {
    let today = (host::now().as_secs() / 86_400) as u32;
    let verdicts = answer.verdicts().iter().cloned();
    let dated = verdicts.map(|(m, mut verdict)| {
        verdict.by.day = today;
        (m, verdict)
    });
    dated.collect()
}
