use std::io::Write;
use std::path::{Path, PathBuf};

use crate::output::OutputArgs;
use anyhow::{Context, Result, bail};
use kagetsu_program::{Exit, Readers, shown, write_whole};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SerialNumber,
};
use serde::{Deserialize, Serialize};
use time::{Date, Duration, OffsetDateTime};

/// Validity of the certificate authority, in days.
const AUTHORITY_DAYS: i64 = 3_650;
/// The names by which a machine reaches itself.
const LOCAL_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
/// The file that records the settings, for --renew.
const SETTINGS_FILE: &str = "certs.toml";

/// Creates a private certificate authority and TLS certificates for a cluster
///
/// DIR gets ca.pem (the authority; copy it to every machine), ca.key (its private key; only --renew
/// needs it), coordinator.pem and .key, and client.pem and .key for workers and for `kagetsu`. The
/// certificate of the coordinator is valid for localhost, this machine's name, and each --host.
///
/// With --renew new certificates replace the old ones, with the same authority and keys; a running
/// coordinator loads them by itself. Without --renew no existing file is overwritten.
///
/// Example: kagetsu certs cluster-certs --host coordinator.example --host 10.0.0.5
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder, which is created if missing
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// A name or address by which clients reach the coordinator; repeat the flag for several
    #[arg(long, value_name = "HOST", value_parser = host)]
    host: Vec<String>,
    /// A further client with a certificate of its own, beside `client`; repeat the flag for several
    #[arg(long, value_name = "NAME", value_parser = client)]
    client: Vec<String>,
    /// Validity of the certificates in days; the authority is valid for ten years
    #[arg(long, default_value_t = 365, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..=3650))]
    days: u16,
    /// Renews the certificates with the authority in DIR
    #[arg(long)]
    renew: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// The certificates that were made.
#[derive(Serialize)]
struct CertsJson<'a> {
    folder: String,
    hosts: &'a [String],
    clients: &'a [String],
    /// The last day of validity, as in 2027-11-24.
    until: String,
}

/// The settings of the certificates in a folder.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CertSettings {
    /// The name of the authority.
    authority: String,
    /// Its last day of validity, as in 2036-11-19.
    until: String,
    hosts: Vec<String>,
    clients: Vec<String>,
}

fn host(text: &str) -> Result<String, String> {
    let is_address = text.parse::<std::net::IpAddr>().is_ok();
    let is_name = !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-.*_".contains(&b));
    if is_address || is_name {
        return Ok(text.to_string());
    }
    Err("neither a name nor an address; write it without https:// and without a port".into())
}

fn client(text: &str) -> Result<String, String> {
    let is_plain = !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    if is_plain && !["ca", "coordinator"].contains(&text) {
        return Ok(text.to_string());
    }
    Err("a client's name is of letters, digits, - and _, and neither ca nor coordinator".into())
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let folder = CertsFolder(&args.folder);
    let (mut record, issuer) = if args.renew {
        folder.authority()?
    } else {
        folder.found()?
    };
    for (known, wanted) in [
        (&mut record.hosts, &args.host),
        (&mut record.clients, &args.client),
    ] {
        let new: Vec<String> = wanted
            .iter()
            .filter(|name| !known.contains(name))
            .cloned()
            .collect();
        known.extend(new);
    }

    let until = OffsetDateTime::now_utc() + Duration::days(args.days.into());
    folder.certificate(
        "coordinator",
        &record.hosts,
        ExtendedKeyUsagePurpose::ServerAuth,
        until,
        &issuer,
    )?;
    for name in &record.clients {
        folder.certificate(
            name,
            std::slice::from_ref(name),
            ExtendedKeyUsagePurpose::ClientAuth,
            until,
            &issuer,
        )?;
    }
    folder.write(SETTINGS_FILE, &toml::to_string(&record)?, Readers::Usual)?;

    let made = CertsJson {
        folder: args.folder.display().to_string(),
        hosts: &record.hosts,
        clients: &record.clients,
        until: until.date().to_string(),
    };
    let out = &mut args.output.report(out, &made)?;
    let (folder, hosts) = (shown(&args.folder), record.hosts.join(", "));
    writeln!(
        out,
        "{folder}: coordinator ({hosts}) and clients ({}) until {}",
        record.clients.join(", "),
        until.date()
    )?;
    if !args.renew {
        writeln!(
            out,
            "kagetsu-coordinator --tls-cert {folder}/coordinator.pem --tls-key {folder}/coordinator.key --tls-client-ca {folder}/ca.pem ..\n\
             kagetsu-worker --tls-ca {folder}/ca.pem --tls-cert {folder}/client.pem --tls-key {folder}/client.key --coordinator https://.."
        )?;
    }
    Ok(Exit::Done)
}

/// A folder of certificates.
struct CertsFolder<'a>(&'a Path);

impl CertsFolder<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Creates an authority in a folder without one.
    fn found(&self) -> Result<(CertSettings, Issuer<'static, KeyPair>)> {
        std::fs::create_dir_all(self.0)
            .with_context(|| format!("cannot make the folder {}", self.0.display()))?;
        for name in [
            "ca.pem",
            "ca.key",
            SETTINGS_FILE,
            "coordinator.pem",
            "coordinator.key",
            "client.pem",
            "client.key",
        ] {
            if self.path(name).exists() {
                bail!(
                    "{} is there already and is not written over: --renew makes new certificates of the same authority; for \
                     a new authority name another folder",
                    self.path(name).display()
                );
            }
        }
        let key = KeyPair::generate()?;
        let authority = format!("Kagetsu cluster {:08x}", rand::random::<u32>());
        let until = OffsetDateTime::now_utc() + Duration::days(AUTHORITY_DAYS);
        let mut params = authority_params(&authority);
        params.not_before = OffsetDateTime::now_utc() - Duration::DAY;
        params.not_after = until;
        params.serial_number = Some(serial());
        self.write("ca.key", &key.serialize_pem(), Readers::Owner)?;
        self.write("ca.pem", &params.self_signed(&key)?.pem(), Readers::Usual)?;
        let mut hosts: Vec<String> = LOCAL_NAMES.map(String::from).to_vec();
        hosts.extend(this_machine().filter(|name| name != "localhost"));
        let record = CertSettings {
            authority,
            until: until.date().to_string(),
            hosts,
            clients: vec!["client".into()],
        };
        Ok((record, Issuer::new(params, key)))
    }

    /// Reads the authority in the folder.
    fn authority(&self) -> Result<(CertSettings, Issuer<'static, KeyPair>)> {
        let path = self.path(SETTINGS_FILE);
        let text = kagetsu_files::read_text(&path).with_context(|| {
            format!(
                "{} cannot be read: --renew is for a folder that `kagetsu certs` has made",
                path.display()
            )
        })?;
        let record: CertSettings =
            toml::from_str(&text).with_context(|| format!("{} is damaged", path.display()))?;
        let format = time::macros::format_description!("[year]-[month]-[day]");
        let until = Date::parse(&record.until, format)
            .with_context(|| format!("{} is damaged", path.display()))?;
        if until <= OffsetDateTime::now_utc().date() {
            bail!(
                "the authority of {} ended on {until}: make a new one in another folder",
                self.0.display()
            );
        }
        let params = authority_params(&record.authority);
        Ok((
            record,
            Issuer::new(
                params,
                self.key("ca.key", "renewing needs the authority's key")?,
            ),
        ))
    }

    fn key(&self, name: &str, why: &str) -> Result<KeyPair> {
        let path = self.path(name);
        let text = kagetsu_files::read_text(&path)
            .with_context(|| format!("cannot read {}: {why}", path.display()))?;
        KeyPair::from_pem(&text).with_context(|| format!("{} holds no private key", path.display()))
    }

    /// Creates a certificate for the existing key, or for a new one.
    fn certificate(
        &self,
        name: &str,
        hosts: &[String],
        usage: ExtendedKeyUsagePurpose,
        until: OffsetDateTime,
        issuer: &Issuer<'_, KeyPair>,
    ) -> Result<()> {
        let file = format!("{name}.key");
        let key = if self.path(&file).exists() {
            self.key(&file, "its certificate cannot be renewed")?
        } else {
            let key = KeyPair::generate()?;
            self.write(&file, &key.serialize_pem(), Readers::Owner)?;
            key
        };
        let mut params = CertificateParams::new(hosts)
            .with_context(|| format!("no certificate can be for {hosts:?}"))?;
        params.distinguished_name.push(DnType::CommonName, name);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![usage];
        params.use_authority_key_identifier_extension = true;
        // The clocks of two machines differ.
        params.not_before = OffsetDateTime::now_utc() - Duration::DAY;
        params.not_after = until;
        params.serial_number = Some(serial());
        self.write(
            &format!("{name}.pem"),
            &params.signed_by(&key, issuer)?.pem(),
            Readers::Usual,
        )
    }

    /// Writes a file atomically.
    fn write(&self, name: &str, text: &str, readers: Readers) -> Result<()> {
        let path = self.path(name);
        write_whole(&path, text, readers)
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Returns the parameters of the authority that its certificates repeat.
fn authority_params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

/// Returns a random positive serial number.
fn serial() -> SerialNumber {
    let mut bytes: [u8; 16] = rand::random();
    bytes[0] = bytes[0] & 0x7f | 0x40;
    SerialNumber::from_slice(&bytes)
}

fn this_machine() -> Option<String> {
    host(gethostname::gethostname().to_str()?).ok()
}
