import QuickConnectClient

do {
    _ = try SocketPaths.connect(["/no/daemon"])
} catch {
    print("no daemon answers")
}
