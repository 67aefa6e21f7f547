import Glibc
public import QuickConnect

extension KioskSettings {
    /// What is odd and does no harm: a page that is not there may still come.
    public var warnings: [ConfigurationMistake] {
        guard let page, let pageLocation, !page.contains("://") else { return [] }
        var status = stat()
        let problem: String
        if stat(page, &status) != 0 {
            // Of a folder that this user may not see, nothing is known.
            guard errno == ENOENT || errno == ENOTDIR else { return [] }
            problem = "the folder \(page) does not exist"
        } else if status.st_mode & S_IFMT != S_IFDIR {
            problem = "\(page) is not a folder"
        } else if stat("\(page)/index.html", &status) != 0, errno == ENOENT {
            problem = "the folder \(page) has no index.html"
        } else {
            return []
        }
        let words = "'page': \(problem), so the kiosk shows nothing; give a folder with an index.html, or an address"
        return [ConfigurationMistake(words, at: pageLocation)]
    }
}
