import TestKit

extension PrivateBus {
    /// Starts a service, written with another D-Bus library, that returns what it gets; gives its name.
    ///
    /// Its object `/` has the interface `org.example.Echo`: `Echo(v) -> v`, and `Never()`, which is not answered.
    func echo() async throws -> String {
        let name = "org.example.Echo"
        try await run(
            """
            import dbus, dbus.service
            from dbus.mainloop.glib import DBusGMainLoop
            from gi.repository import GLib
            DBusGMainLoop(set_as_default=True)
            bus = dbus.SystemBus()
            class Echo(dbus.service.Object):
                @dbus.service.method("\(name)", in_signature="v", out_signature="v")
                def Echo(self, value):
                    return value
                @dbus.service.method("\(name)", async_callbacks=("done", "failed"))
                def Never(self, done, failed):
                    pass
            owned = dbus.service.BusName("\(name)", bus)
            Echo(bus, "/")
            print("ready")
            GLib.MainLoop().run()
            """
        )
        return name
    }
}
