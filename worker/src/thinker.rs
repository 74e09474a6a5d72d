use anyhow::{Result, anyhow, bail};
use kagetsu_engines::{EngineSettings, External};
use kagetsu_game::{Answer, Question, Variant};
use kagetsu_search::{Control, Engine, EngineOptions, Progress};

/// Who answers questions: our own engine, or somebody else's.
pub enum Thinker {
    /// Ours.
    Own(Engine),
    /// Somebody else's, in a process of its own.
    External(Box<External>),
}

impl Thinker {
    /// Somebody else's engine that plays this variant by its rules.
    ///
    /// # Errors
    /// If it does not start, does not play the variant, or does something wrong where the answer is known.
    pub fn external(settings: EngineSettings, variant: Variant, control: &Control) -> Result<Self> {
        let mut engine = External::start(settings, control)?;
        engine.check(variant, control)?;
        Ok(Self::External(Box::new(engine)))
    }

    /// Its name and version.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Own(_) => Engine::NAME,
            Self::External(engine) => engine.name(),
        }
    }

    /// Thinks until the effort is spent or `control` stops it; see [`Engine::answer`] and [`External::answer`].
    ///
    /// # Errors
    /// What stood against it, in words.
    pub fn answer(
        &mut self,
        question: &Question,
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer> {
        match self {
            Self::Own(engine) => Ok(engine.answer(question, control, progress)?),
            Self::External(engine) => Ok(engine.answer(question, control, progress)?),
        }
    }

    /// A question that others answer too, see [`Engine::share`]; somebody else's engine hears nothing of them.
    pub(crate) fn share(
        &mut self,
        question: &Question,
        member: (u32, u32),
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer> {
        match self {
            Self::Own(engine) => Ok(engine.share(question, member, control, progress)?),
            Self::External(engine) => Ok(engine.answer(question, control, progress)?),
        }
    }
}

/// The thinkers of a worker, one for each slot.
pub(crate) struct Team {
    pub(crate) thinkers: Vec<Thinker>,
    /// Name and version, the same for all.
    pub(crate) name: String,
    /// What they play; none: what our own engine plays.
    pub(crate) variants: Vec<Variant>,
}

impl Team {
    /// Our own engines.
    pub(crate) fn own(slots: u32, options: EngineOptions) -> Result<Self> {
        let thinkers: Result<Vec<_>, _> = (0..slots)
            .map(|_| Engine::new(options).map(Thinker::Own))
            .collect();
        Ok(Self {
            thinkers: thinkers?,
            name: Engine::NAME.into(),
            variants: Vec::new(),
        })
    }

    /// Somebody else's, tried out in these variants; in all that are usual for its protocol where there are none.
    ///
    /// # Errors
    /// If it does not start, or fails in one of the variants; in all of the usual ones.
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
                    faults.push((variant, fault))
                }
                Err(fault) => bail!("{variant}: {fault}"),
            }
        }
        if variants.is_empty() {
            let faults: Vec<String> = faults
                .iter()
                .map(|(variant, fault)| format!("{variant}: {fault}"))
                .collect();
            return Err(anyhow!("{}", faults.join("; ")));
        }
        for (variant, fault) in faults {
            tracing::warn!(%variant, "{fault}; it gets no tasks of that");
        }
        let name = first.name().to_string();
        let twins: Vec<_> = (1..slots).map(|_| first.twin()).collect();
        let all = std::iter::once(first).chain(twins);
        let thinkers = all
            .map(|engine| Thinker::External(Box::new(engine)))
            .collect();
        Ok(Self {
            thinkers,
            name,
            variants,
        })
    }
}
