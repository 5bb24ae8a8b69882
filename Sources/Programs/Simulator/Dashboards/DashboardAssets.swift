internal import HTTPServer

/// The files of the pages, which are part of the program, and the chart library, which Debian installs.
enum DashboardAssets {
    private static let files: [String: [UInt8]] = [
        "index.html": PackageResources.index_html, "dashboard.html": PackageResources.dashboard_html,
        "style.css": PackageResources.style_css, "icon.svg": PackageResources.icon_svg,
        "index.js": PackageResources.index_js, "dashboard.js": PackageResources.dashboard_js,
        "dom.js": PackageResources.dom_js, "feeds.js": PackageResources.feeds_js,
        "controls.js": PackageResources.controls_js, "displays.js": PackageResources.displays_js,
        "chart.js": PackageResources.chart_js, "track.js": PackageResources.track_js,
        "stream.js": PackageResources.stream_js,
    ]

    /// A page.
    static func page(_ name: String) -> HTTPResponse {
        .bytes(files[name] ?? [], type: "text/html; charset=utf-8")
    }

    /// A file that a page needs.
    static func asset(_ name: String) -> HTTPResponse {
        guard let bytes = files[name], !name.hasSuffix(".html") else { return .empty(404) }
        let type =
            switch name.split(separator: ".").last {
            case "js": "text/javascript; charset=utf-8"
            case "css": "text/css; charset=utf-8"
            default: "image/svg+xml"
            }
        return .bytes(bytes, type: type)
    }

    /// A file of the chart library; 404 when the package is not installed, and the page shows a table.
    static func dygraphs(_ name: String) -> HTTPResponse {
        let folder = "/usr/share/javascript/dygraphs"
        return switch name {
        case "dygraph.js": .file("\(folder)/dygraph.min.js", type: "text/javascript; charset=utf-8")
        case "dygraph.css": .file("\(folder)/dygraph.min.css", type: "text/css; charset=utf-8")
        default: .empty(404)
        }
    }

    /// The response with what keeps a page to itself.
    static func guarded(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.headers["Content-Security-Policy"] =
            "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        if response.headers["Cache-Control"] == nil { response.headers["Cache-Control"] = "no-store" }
        return response
    }
}
