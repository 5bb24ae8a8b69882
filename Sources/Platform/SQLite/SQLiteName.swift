/// A name made safe to stand in SQL text.
public enum SQLiteName {
    /// `name` in double quotes, with those within it doubled: a table or a column, whatever characters it has.
    public static func quoted(_ name: String) -> String {
        var text = "\""
        for character in name.unicodeScalars where character != "\0" {
            if character == "\"" { text += "\"" }
            text.unicodeScalars.append(character)
        }
        return text + "\""
    }
}
