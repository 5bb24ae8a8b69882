extension SimulatorArguments {
    /// What `--help` prints.
    public static var help: String {
        """
        Usage: adafruit-io-simulator [OPTIONS]

        A stand-in for Adafruit IO on this machine: MQTT, REST and dashboards. It is not Adafruit's service.
        When ready, it prints one JSON line with ports, dashboard address, user and key file. SIGTERM or Ctrl-C ends it.

          --mqtt-port PORT      MQTT 3.1.1 without TLS (1883; 0 picks a free one)
          --http-port PORT      REST and dashboards (8080; 0 picks a free one)
          --control-port PORT   faults and counters, on loopback: POST and DELETE /fault, GET /counters (off)
          --listen ADDRESS      address of the first two (127.0.0.1)
          --username NAME       the account (local)
          --key-file FILE       its key; made with a random key and mode 0600 when missing (a temporary file)
          --key KEY             a throw-away key: every user of this machine can see it
          --account NAME:KEYFILE[:PLAN]   one more account; may be repeated
          --plan PLAN           free, plus, or data points a minute (free)
          --data FILE           keep feeds, data and dashboards in a file (memory)
          --fault SPEC          go wrong in this way; may be repeated
          --option KEY=VALUE    decide what is not known of the service; may be repeated
          --verbose             say on stderr what clients do wrong
          --help, --version

        Faults:
        \(columns(Fault.forms))

        Options, the usual value first:
        \(SimulatorOptions.keys.map { "  " + padded("\($0.name)=\($0.values)", 34) + $0.meaning }.joined(separator: "\n"))

        Exit status: 0 ended by a signal, 1 failed, 2 usage.

        """
    }

    private static func columns(_ words: [String]) -> String {
        stride(from: 0, to: words.count, by: 2).map { place in
            let second = place + 1 < words.count ? words[place + 1] : ""
            let line = "  " + padded(words[place], 40) + second
            return String(line.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(width - text.count, 1))
    }
}
