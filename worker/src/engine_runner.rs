use anyhow::{Result, bail};
use kagetsu_engines::{EngineSettings, External};
use kagetsu_game::{Answer, Question, Variant};
use kagetsu_search::threats::ClaimStrategy;
use kagetsu_search::{Control, Engine, EngineOptions, Progress};

/// Table memory of Kagetsu's own engine beside an external one, in bytes.
const PROVER_TABLE: usize = 16 << 20;

/// An engine that answers questions: Kagetsu's own, or an external one. Questions that ask for a
/// proof alone are answered by Kagetsu's own engine.
pub struct EngineRunner {
    own: Engine,
    /// In a process of its own.
    external: Option<Box<External>>,
}

impl EngineRunner {
    /// Returns Kagetsu's own engine.
    #[must_use]
    pub const fn own(own: Engine) -> Self {
        Self {
            own,
            external: None,
        }
    }

    /// Starts an external engine and checks that it plays this variant by its rules.
    ///
    /// # Errors
    /// If the engine does not start, does not play the variant, or gives a wrong answer to a known
    /// position.
    pub fn external(settings: EngineSettings, variant: Variant, control: &Control) -> Result<Self> {
        let mut engine = External::start(settings, control)?;
        engine.check(variant, control)?;
        Self::beside(engine)
    }

    /// Returns an external engine beside Kagetsu's own with a small table.
    fn beside(external: External) -> Result<Self> {
        let options = EngineOptions {
            table_bytes: PROVER_TABLE,
            ..EngineOptions::default()
        };
        Ok(Self {
            own: Engine::new(options)?,
            external: Some(Box::new(external)),
        })
    }

    /// Returns the engine's name and version.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.external {
            Some(engine) => engine.name(),
            None => Engine::NAME,
        }
    }

    /// Searches until the effort is spent or `control` stops it; see [`Engine::answer`] and
    /// [`External::answer`].
    ///
    /// # Errors
    /// Those of the engine.
    pub fn answer(
        &mut self,
        question: &Question,
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer> {
        match self.asked(question) {
            Some(engine) => Ok(engine.answer(question, control, progress)?),
            None => Ok(self.own.answer(question, control, progress)?),
        }
    }

    /// See [`Engine::want_strategies`]. External engines have none.
    pub(crate) fn want_strategies(&mut self, are_wanted: bool) {
        self.own.want_strategies(are_wanted);
    }

    /// See [`Engine::limit_end_tables`].
    pub(crate) fn limit_end_tables(&mut self, pieces: u8) {
        self.own.limit_end_tables(pieces);
    }

    /// Takes the strategies behind the claims of the last answer; see [`Engine::take_strategies`].
    pub(crate) fn take_strategies(&mut self) -> Vec<ClaimStrategy> {
        self.own.take_strategies()
    }

    /// Searches as one member of a shared search, see [`Engine::share`]. An external engine
    /// searches alone.
    pub(crate) fn share(
        &mut self,
        question: &Question,
        member: (u32, u32),
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer> {
        match self.asked(question) {
            Some(engine) => Ok(engine.answer(question, control, progress)?),
            None => Ok(self.own.share(question, member, control, progress)?),
        }
    }

    /// Replaces an engine that a panic may have left in any state.
    pub(crate) fn replace(&mut self, options: EngineOptions) {
        match (&mut self.external, Engine::new(options)) {
            (Some(engine), _) => **engine = engine.twin(),
            (None, Ok(fresh)) => self.own = fresh,
            (None, Err(error)) => tracing::error!("cannot create a new engine: {error}"),
        }
    }

    /// Returns the external engine unless only a proof is asked for.
    fn asked(&mut self, question: &Question) -> Option<&mut External> {
        let proves =
            question.window.asks_for_proof() && question.position.variant().has_threat_search();
        self.external.as_deref_mut().filter(|_| !proves)
    }
}

/// The engines of a worker, one for each slot.
pub(crate) struct EnginePool {
    pub(crate) engines: Vec<EngineRunner>,
    /// Name and version, the same for all.
    pub(crate) name: String,
    /// The variants that they play; empty for all variants of Kagetsu's own engine.
    pub(crate) variants: Vec<Variant>,
}

impl EnginePool {
    /// Creates Kagetsu's own engines.
    pub(crate) fn own(slots: u32, options: EngineOptions) -> Result<Self> {
        let engines = (0..slots).map(|_| Engine::new(options).map(EngineRunner::own));
        Ok(Self {
            engines: engines.collect::<Result<_, _>>()?,
            name: Engine::NAME.into(),
            variants: Vec::new(),
        })
    }

    /// Creates external engines and checks that they play the wanted variants, or any of the
    /// protocol's usual variants if none is wanted.
    ///
    /// # Errors
    /// If the engine does not start, fails in a wanted variant, or fails in all usual variants.
    pub(crate) fn external(
        slots: u32,
        settings: EngineSettings,
        wanted: &[Variant],
        control: &Control,
    ) -> Result<Self> {
        let usual = settings.address.protocol.usual_variants();
        let mut first = External::start(settings, control)?;
        let mut variants = Vec::new();
        let mut faults = Vec::new();
        for &variant in if wanted.is_empty() { usual } else { wanted } {
            match first.check(variant, control) {
                Ok(()) => variants.push(variant),
                Err(fault) if wanted.is_empty() && !control.is_stopped() => {
                    faults.push((variant, fault));
                }
                Err(fault) => bail!("{variant}: {fault}"),
            }
        }
        if variants.is_empty() {
            let faults = faults
                .iter()
                .map(|(variant, fault)| format!("{variant}: {fault}"));
            bail!("{}", faults.collect::<Vec<_>>().join("; "));
        }
        for (variant, fault) in faults {
            tracing::warn!(%variant, "{fault}; it gets no tasks of this variant");
        }
        let name = first.name().to_string();
        let twins: Vec<_> = (1..slots).map(|_| first.twin()).collect();
        let engines = std::iter::once(first).chain(twins);
        Ok(Self {
            engines: engines.map(EngineRunner::beside).collect::<Result<_>>()?,
            name,
            variants,
        })
    }
}
