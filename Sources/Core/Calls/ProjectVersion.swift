/// The version of this project: what all programs print for `--version`, and what `hello` returns.
///
/// It is written here and, because their formats require it, at the top of `CHANGELOG.md` and `debian/changelog`; a
/// test checks that they agree.
public enum ProjectVersion {
    /// Three numbers, as in semantic versioning: `0.1.0`.
    public static let text = "0.2.0"
}
