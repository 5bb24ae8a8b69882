public import FastJSON

/// Where the blocks of a dashboard are, for each of five widths of screen.
public struct DashboardLayouts: Sendable, Hashable {
    /// The place of one block, in cells of the grid.
    public struct Place: Sendable, Hashable {
        /// The block's number, as text.
        public var block: String
        /// Cells from the left.
        public var x: Int
        /// Cells from the top.
        public var y: Int
        /// Width in cells.
        public var width: Int
        /// Height in cells.
        public var height: Int

        /// Makes a place.
        public init(block: String, x: Int, y: Int, width: Int, height: Int) {
            self.block = block
            self.x = x
            self.y = y
            self.width = width
            self.height = height
        }

        func overlaps(_ other: Place) -> Bool {
            x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height
        }
    }

    /// The widths of screen, widest first.
    public static let breakpoints = ["xl", "lg", "md", "sm", "xs"]
    /// The columns that the grid of `lg` has.
    public static let columns = 16

    private var places: [String: [Place]] = [:]

    /// The places of one width of screen.
    public subscript(breakpoint: String) -> [Place] {
        get { places[breakpoint] ?? [] }
        set { places[breakpoint] = newValue }
    }

    /// Reads `{"lg":[{"i":"1","x":0,"y":0,"w":4,"h":4}]}`; widths that are missing or null are empty.
    public init(_ json: JSON) {
        for breakpoint in DashboardLayouts.breakpoints {
            places[breakpoint] = (json[breakpoint]?.array ?? []).compactMap(Place.init)
        }
    }

    /// The same form, always with all five widths.
    public var json: JSON {
        .object(JSONObject(DashboardLayouts.breakpoints.map { ($0, .array(self[$0].map(\.json))) }))
    }

    /// Takes over the widths that `json` names; the others stay.
    public mutating func update(_ json: JSON) {
        for breakpoint in DashboardLayouts.breakpoints {
            guard let list = json[breakpoint]?.array else { continue }
            places[breakpoint] = list.compactMap(Place.init)
        }
    }

    /// Gives a new block the first free place of its size on the wide grids, top to bottom.
    public mutating func add(block: String, width: Int, height: Int) {
        for breakpoint in DashboardLayouts.breakpoints {
            let columns = DashboardLayouts.width(of: breakpoint)
            var place = Place(block: block, x: 0, y: 0, width: min(max(width, 2), columns), height: max(height, 2))
            let others = self[breakpoint]
            while others.contains(where: place.overlaps) {
                place.x += 1
                if place.x + place.width > columns { (place.x, place.y) = (0, place.y + 1) }
            }
            places[breakpoint] = others + [place]
        }
    }

    /// Forgets a block.
    public mutating func remove(block: String) {
        for breakpoint in DashboardLayouts.breakpoints {
            places[breakpoint]?.removeAll { $0.block == block }
        }
    }

    private static func width(of breakpoint: String) -> Int {
        switch breakpoint {
        case "xl", "lg": columns
        case "md": 12
        case "sm": 8
        default: 4
        }
    }
}

extension DashboardLayouts.Place {
    fileprivate init?(_ json: JSON) {
        guard let block = json["i"]?.string ?? json["i"]?.int64.map(String.init) else { return nil }
        func cells(_ key: String, _ least: Int) -> Int {
            min(max(json[key]?.double.flatMap { Int(exactly: $0.rounded()) } ?? least, least), 1000)
        }
        self.init(block: block, x: cells("x", 0), y: cells("y", 0), width: cells("w", 1), height: cells("h", 1))
    }

    fileprivate var json: JSON {
        ["i": .string(block), "x": JSON(x), "y": JSON(y), "w": JSON(width), "h": JSON(height)]
    }
}
