/// Named sets of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Constants {
    /// Kagetsu's own values.
    #[default]
    Own,
    /// Gomoku: Zheng and Kuang's paper on a multi-threaded gobang engine, table 1.
    Paper,
    /// Gomoku: Kou Yinghan's patent of 2021.
    Patent,
    /// Gomoku: the blog on kill search by the author of `gobang`, 2016.
    Blog,
    /// Surakarta: values of points, by the paper of Li, Hu and Wang ("Value").
    Matrix,
    /// Surakarta: number of stones ("Value-2" of the same paper).
    Count,
    /// Surakarta: both together ("Evalue" of the same paper).
    Evalue,
}

impl Constants {
    /// Whether a gomoku board has Kagetsu's own values.
    pub(crate) const fn are_own(self) -> bool {
        !matches!(self, Self::Paper | Self::Patent | Self::Blog)
    }
}
