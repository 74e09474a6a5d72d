use tonic::Code;

use super::*;

struct Fixture {
    folder: tempfile::TempDir,
    authenticator: Arc<Authenticator>,
    bearer: String,
}

impl Fixture {
    fn new(roles: &[Role], rate: Option<u32>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("tokens.toml");
        let bearer = make(&path, "t", roles, rate);
        let authenticator = Authenticator::with_tokens(&path, DEFAULT_RATE, false);
        Self {
            folder,
            authenticator: authenticator.expect("sound"),
            bearer,
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("tokens.toml")
    }

    fn ask(&self, bearer: &str, permission: Permission) -> Result<Principal, AuthError> {
        ask(&self.authenticator, Some(bearer), permission)
    }
}

fn make(path: &Path, name: &str, roles: &[Role], rate: Option<u32>) -> String {
    let made = Tokens::change(path, |tokens| tokens.make(name, roles, rate, String::new()));
    format!("Bearer {}", made.expect("made"))
}

fn ask(
    authenticator: &Authenticator,
    authorization: Option<&str>,
    permission: Permission,
) -> Result<Principal, AuthError> {
    let credentials = RequestCredentials {
        authorization,
        address: None,
    };
    authenticator.authorize(credentials, permission)
}

#[test]
fn missing_and_unknown_tokens_are_rejected() {
    let fixture = Fixture::new(&[Role::Admin], None);
    let bearer = fixture.bearer.as_str();
    let longer = format!("{bearer}0");
    for (shown, error) in [
        (None, AuthError::NoToken),
        (Some(""), AuthError::NoToken),
        (Some("Bearer"), AuthError::NoToken),
        (Some("Bearer "), AuthError::NoToken),
        (Some("Basic a2FnZXRzdTo="), AuthError::NoToken),
        (Some("Bearer kagetsu_0"), AuthError::UnknownToken),
        (Some(&bearer[..bearer.len() - 1]), AuthError::UnknownToken),
        (Some(longer.as_str()), AuthError::UnknownToken),
    ] {
        let rejected = ask(&fixture.authenticator, shown, Permission::Read);
        assert_eq!(rejected.expect_err("rejected"), error, "{shown:?}");
        assert!(ask(&fixture.authenticator, shown, Permission::Public).is_ok());
    }
    assert!(fixture.ask(bearer, Permission::Admin).is_ok());
    let upper = bearer.to_uppercase().replacen("BEARER", "bearer", 1);
    assert!(fixture.ask(&upper, Permission::Read).is_err());
}

#[test]
fn unknown_tokens_are_limited_for_each_address() {
    let fixture = Fixture::new(&[Role::Read], None);
    let ask = |address: [u8; 4], authorization: &str| {
        let credentials = RequestCredentials {
            authorization: Some(authorization),
            address: Some(address.into()),
        };
        fixture
            .authenticator
            .authorize(credentials, Permission::Read)
    };
    let (attacker, other) = ([192, 0, 2, 1], [192, 0, 2, 2]);
    let unknown =
        (0..30_000).filter(|_| matches!(ask(attacker, "Bearer x"), Err(AuthError::UnknownToken)));
    assert_eq!(unknown.count(), 60);
    let error = ask(attacker, "Bearer x").expect_err("rejected");
    let wait = error.retry_after().expect("a time");
    assert!(wait <= Duration::from_secs(1), "{wait:?}");
    assert_eq!(
        (error.status().code(), error.http_code()),
        (Code::ResourceExhausted, 429)
    );
    assert!(
        ask(attacker, &fixture.bearer).is_ok(),
        "a valid token is not held up"
    );
    assert_eq!(
        ask(other, "Bearer x").expect_err("rejected"),
        AuthError::UnknownToken
    );
    fixture.authenticator.clock.advance(wait);
    assert_eq!(
        ask(attacker, "Bearer x").expect_err("rejected"),
        AuthError::UnknownToken
    );
    let counts = fixture.authenticator.rejections();
    assert!(
        counts.contains(&("too_many_failures", 29_941)),
        "{counts:?}"
    );
}

#[test]
fn each_token_has_its_own_rate() {
    let fixture = Fixture::new(&[Role::Read], Some(5));
    let other = make(&fixture.path(), "o", &[Role::Read], None);
    assert!(fixture.authenticator.reload().expect("sound"));
    let passed = (0..100)
        .filter(|_| fixture.ask(&fixture.bearer, Permission::Read).is_ok())
        .count();
    assert_eq!(passed, 10);
    let error = fixture
        .ask(&fixture.bearer, Permission::Read)
        .expect_err("too many");
    let wait = error.retry_after().expect("a time");
    let status = error.status();
    assert_eq!(
        (status.code(), error.http_code()),
        (Code::ResourceExhausted, 429)
    );
    assert!(status.metadata().get("grpc-retry-pushback-ms").is_some());
    assert!(fixture.ask(&other, Permission::Read).is_ok());
    fixture.authenticator.clock.advance(wait);
    assert!(fixture.ask(&fixture.bearer, Permission::Read).is_ok());
}

#[test]
fn public_callers_only_read() {
    let fixture = Fixture::new(&[Role::Build], None);
    let public = Authenticator::with_tokens(&fixture.path(), 3, true).expect("sound");
    let principal = ask(&public, None, Permission::Read).expect("public");
    assert!(principal.has(Permission::Read));
    for permission in [
        Permission::Analyse,
        Permission::Build,
        Permission::Work,
        Permission::Admin,
    ] {
        assert!(!principal.has(permission), "{permission:?}");
        let rejected = ask(&public, None, permission).expect_err("no token");
        assert_eq!(rejected, AuthError::NoToken, "{permission:?}");
    }
    let wrong = ask(&public, Some("Bearer kagetsu_0"), Permission::Read);
    assert_eq!(wrong.expect_err("wrong"), AuthError::UnknownToken);
    let builder = ask(&public, Some(&fixture.bearer), Permission::Build).expect("known");
    assert!(builder.has(Permission::Build));
    let passed = (0..100).filter(|_| ask(&public, None, Permission::Read).is_ok());
    assert_eq!(passed.count(), 5);
    let error = ask(&public, None, Permission::Read)
        .expect_err("too many")
        .to_string();
    assert!(
        error.starts_with("the total without a token exceeds 3 requests"),
        "{error}"
    );
}

#[test]
fn volunteers_may_work_and_nothing_else() {
    let fixture = Fixture::new(&[Role::Volunteer], None);
    assert!(fixture.ask(&fixture.bearer, Permission::Work).is_ok());
    for permission in [
        Permission::Read,
        Permission::Analyse,
        Permission::Build,
        Permission::Admin,
    ] {
        assert!(
            fixture.ask(&fixture.bearer, permission).is_err(),
            "{permission:?}"
        );
    }
}

#[test]
fn changed_file_is_loaded_and_damaged_one_ignored() {
    let fixture = Fixture::new(&[Role::Read], None);
    let authenticator = &fixture.authenticator;
    let path = fixture.path();
    let principal = fixture
        .ask(&fixture.bearer, Permission::Read)
        .expect("known");
    std::fs::write(&path, "nonsense").expect("room");
    assert!(matches!(
        authenticator.reload(),
        Err(TokensError::Damaged(..))
    ));
    assert!(!authenticator.reload().expect("reported once"));
    std::fs::remove_file(&path).expect("it is there");
    assert!(matches!(
        authenticator.reload(),
        Err(TokensError::Missing(_))
    ));
    assert!(!authenticator.reload().expect("reported once"));
    assert!(fixture.ask(&fixture.bearer, Permission::Read).is_ok());
    let another = make(&path, "another", &[Role::Work], None);
    assert!(!principal.revoked.is_cancelled());
    assert!(authenticator.reload().expect("sound"));
    assert!(principal.revoked.is_cancelled());
    let rejected = fixture.ask(&fixture.bearer, Permission::Read);
    assert_eq!(rejected.expect_err("gone"), AuthError::UnknownToken);
    let another = fixture.ask(&another, Permission::Work).expect("new");
    make(&path, "third", &[Role::Work], None);
    assert!(authenticator.reload().expect("sound"));
    assert!(
        !another.revoked.is_cancelled(),
        "unchanged tokens stay valid"
    );
}

#[test]
fn changed_permissions_of_the_file_are_noticed() {
    let fixture = Fixture::new(&[Role::Read], None);
    let path = fixture.path();
    // Tests may run as root, which can read every file, so compare the versions.
    let before = fixture.authenticator.state.lock().version;
    std::thread::sleep(Duration::from_millis(20));
    let permissions = std::fs::metadata(&path).expect("it is there").permissions();
    std::fs::set_permissions(&path, permissions).expect("it is ours");
    assert_ne!(file_version(&path), before);
    assert!(fixture.authenticator.reload().expect("sound"));
    assert!(fixture.ask(&fixture.bearer, Permission::Read).is_ok());
}

#[test]
fn missing_role_names_the_sufficient_roles() {
    let fixture = Fixture::new(&[Role::Read, Role::Work], None);
    let error = fixture
        .ask(&fixture.bearer, Permission::Build)
        .expect_err("too small");
    assert_eq!(
        error.to_string(),
        "the token 't' has the role read, work, and this needs one of: build, admin"
    );
    assert_eq!(
        (error.status().code(), error.http_code()),
        (Code::PermissionDenied, 403)
    );
}
