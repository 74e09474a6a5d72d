/// Named sets of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Constants {
    /// Kagetsu's own values.
    #[default]
    Own,
    /// Surakarta: values of points, by the paper of Li, Hu and Wang ("Value").
    Matrix,
    /// Surakarta: number of stones ("Value-2" of the same paper).
    Count,
    /// Surakarta: both together ("Evalue" of the same paper).
    Evalue,
}
