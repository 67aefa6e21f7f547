/// The version of this project: what all programs print for `--version`, and what `hello` tells.
///
/// It is stated here and, because their formats want it, on top of `CHANGELOG.md` and `debian/changelog`; a test holds them together.
public enum ProjectVersion {
    /// Three numbers, as semantic versioning has them: `0.1.0`.
    public static let text = "0.1.0"
}
