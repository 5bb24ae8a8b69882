/// The texts of `--help`. Each fits a screen.
enum Help {
    static let program = """
        feedbridge: sensors of a small Linux computer to Adafruit IO dashboards, and a toggle back.

        Usage: feedbridge COMMAND [--config FILE] [OPTIONS]

          init        write a commented feedbridge.toml for what is found on this machine
          check       check the configuration and count the data points a minute it needs
          run         sample, record and publish until stopped
          sensors     show every stream with what it reads now
          status      show what the running bridge does
          record      start, stop or toggle the recording, or set a mark in it
          sessions    list, show, export or delete recordings
          outbox      count, list, export, retry or drop the data points that wait
          query       print the samples of a stream between two times
          steps       tell the steps of an interval, or since a moment
          import      take over a phone's history from an Apple Health export
          replay      compute steps, attitude and more from a recording in a file
          dashboard   create the dashboard with its toggle, status and charts

        feedbridge COMMAND --help tells more; feedbridge --version prints the version.

        Configuration: --config FILE, else ./feedbridge.toml, else
        $XDG_CONFIG_HOME/feedbridge/feedbridge.toml, else /etc/feedbridge/feedbridge.toml.
        Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.

        """

    static let commands: [String: String] = [
        "run": """
        Usage: feedbridge run [--config FILE]

        Samples, records and publishes until it is stopped. SIGTERM and SIGINT end the running session,
        send what waits and disconnect within 5 s; a second one ends at once. SIGHUP reads the
        configuration again and keeps what did not change running.

        """,
        "init": """
        Usage: feedbridge init [--output FILE] [--force]

        Writes a commented configuration for what is found on this machine.

          --output FILE   where to write it (default: ./feedbridge.toml)
          --force         write over a file that is there

        """,
        "check": """
        Usage: feedbridge check [--config FILE] [--json]

        Checks the configuration without starting anything, and counts the data points a minute that
        its rules need against those of the plan.

          --json          print {"points_per_minute","plan","feeds","problems"}

        """,
        "status": """
        Usage: feedbridge status [--config FILE] [--json]

        Shows what the running bridge does: link, recording, data points, budget, streams, switch.

          --json          print it as JSON

        """,
        "sensors": """
        Usage: feedbridge sensors [--config FILE] [--json]

        Reads every stream of the configuration once, and shows values, units and states. Without a
        configuration it shows what this machine has.

          --json          print [{"stream","kind","fields","state"}]

        """,
        "record": """
        Usage: feedbridge record start|stop|toggle [--config FILE]
               feedbridge record mark TEXT [--config FILE]

        Starts, stops or toggles the recording of the running bridge, as the dashboard's toggle does;
        the toggle follows. A mark puts a text with the time into the running session.

        """,
        "sessions": """
        Usage: feedbridge sessions list [--json]
               feedbridge sessions show ID [--json]
               feedbridge sessions export ID --format csv|jsonl|gpx --output DIRECTORY
               feedbridge sessions delete ID --yes

        Lists, shows, exports or deletes recordings, whether the bridge runs or not. csv writes one
        STREAM.csv a stream, jsonl one file with all streams in time order, gpx the track of the
        stream location. Exports appear whole or not at all.

        """,
        "outbox": """
        Usage: feedbridge outbox stats [--json]
               feedbridge outbox list [--state STATE] [--json]
               feedbridge outbox export
               feedbridge outbox retry ID|all
               feedbridge outbox drop --feed FEED

        The data points that Adafruit IO has not confirmed, whether the bridge runs or not. States are
        waiting, sending, doubt, held, untimed (made while the clock was wrong) and refused. export prints
        JSON lines; retry makes a refused point wait again; drop gives up what waits for a feed.

        """,
        "query": """
        Usage: feedbridge query --stream NAME --from TIME --to TIME [--format csv|jsonl]

        Prints the recorded samples of a stream between two times, inside sessions and outside.

          --from, --to    ISO 8601 with a zone (2026-05-01T12:00:00Z), now, or a time ago (-15 min)
          --format        csv (default) or jsonl

        """,
        "steps": """
        Usage: feedbridge steps --from TIME --to TIME [--json]
               feedbridge steps --from TIME --follow [--json]

        Tells steps, distance and active time of an interval of the past from the recordings: sessions,
        and the last seven days where the derivation of steps has always = true. --follow tells them
        again as they grow.

          --from, --to    ISO 8601 with a zone (2026-05-01T12:00:00Z), now, or a time ago (-15 min)
          --stream NAME   another pedometer's stream (default: steps)

        """,
        "import": """
        Usage: feedbridge import health FILE [--publish FEED] [--of QUANTITY] [--priority NAME,NAME]
                                             [--largest SIZE] [--json]

        Reads the export.zip of Apple Health, or the export.xml in it: steps, distances, floors and heart
        rates go into a session of their own, and each day is printed, all sources merged so that no
        time counts twice. Days are those of the machine's time zone; TZ=Europe/Madrid before the
        command sets another.

          --publish FEED   send the total of each day that the service still keeps, dated at its noon
          --of QUANTITY    what is sent: steps (default), distance, floors or heart_rate
          --priority       the sources that are believed first; else watches, phones, apps
          --largest SIZE   to how much the zip may unfold (default: "64 GB")
          --json           print the days as JSON, each source apart, too

        """,
        "replay": """
        Usage: feedbridge replay FILE --derive KIND[,KIND...] [OPTIONS]

        Computes from a recording, plain or gzip, as fast as possible. Prints a JSON line for each sample,
        and at the end {"summary":{...}}. Needs no configuration. Kinds:
        steps, floors, attitude, shake, orientation, activity, run, geofence, beacons, vibration, altitude,
        ambient_light, heart.

          --format F        csv, sensorlogger, gpx, nmea, gpsd, owntracks (default: the content says)
          --columns LIST    what each column is: time_ns, time_ms or time_s; ax ay az, or a for a magnitude;
                            gx gy gz; mx my mz; pressure; lat lon ele accuracy speed; - to skip
          --rate HZ         rows a second, where no column is a time
          --acc-unit U      g, m/s2 or raw          --gyro-unit U   deg/s or rad/s
          --mag-unit U      uT or gauss             --sign S        iphone or android
          --option K=V      a setting of a derivation, such as height=1.75; can be repeated
          --summary         print the summary alone

        """,
        "dashboard": """
        Usage: feedbridge dashboard create [--name NAME] [--dry-run] [--config FILE]

        Creates in the account, where they are missing: the control and the status feed (private), the
        feeds of the rules, and a dashboard with a toggle, the status, a chart for each numeric rule and
        a map for located ones. Can be repeated; deletes nothing.

          --name NAME     the dashboard's name (default: the bridge's name)
          --dry-run       say what would be created, and create nothing

        """,
    ]
}
