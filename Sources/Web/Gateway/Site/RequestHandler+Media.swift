internal import NIOCore
internal import NIOHTTP1

/// Files of the media folder, which are never kept whole.
extension RequestHandler {
    /// The body goes to the daemon as it comes. `100 Continue` is sent once the daemon has accepted the file's name.
    func beginUpload(_ request: WebRequest, _ context: ChannelHandlerContext) {
        guard let upload = site.beginUpload(request, callConnection) else {
            let response = Response.overloaded("\(slot.peer.words) has too much under way")
            return refuse(response, to: request.head, request.host, context)
        }
        state = .uploading(request, upload)
        gate.wants = .body(left: request.head.bodyCount)
        gate.isPaused = true
        clock.begin(.piece, context.channel)
        var isAwaited = request.head.asksToContinue
        upload.proceed = { [weak self, weak upload] in
            guard let self, let upload, let context = self.context else { return }
            if isAwaited, upload.wantsMore {
                isAwaited = false
                self.sendContinue(context)
            }
            self.gate.isPaused = !upload.wantsMore
        }
        upload.answer.assumeIsolated().whenComplete { [weak self] result in
            guard let self, case .success(let response) = result else { return }
            self.answerUpload(upload, response)
        }
        site.hidesUpload(request).assumeIsolated().whenComplete { result in
            if (try? result.get()) == true { return upload.refuse(WebSite.hidden) }
            upload.begin()
            upload.proceed()
        }
    }

    func add(_ part: ByteBuffer, to upload: MediaUpload, _ context: ChannelHandlerContext) {
        // Each piece has its own deadline, and so have those that the daemon takes.
        if upload.add(part) { clock.begin(.piece, context.channel) }
        gate.isPaused = !upload.wantsMore
    }

    func end(_ upload: MediaUpload, _ context: ChannelHandlerContext) {
        gate.wants = .nothing
        clock.begin(.work, context.channel)
        upload.end()
    }

    private func answerUpload(_ upload: MediaUpload, _ response: Response) {
        guard let context, case .uploading(let request, let current) = state, current === upload else { return }
        guard upload.hasAll else { return refuse(response, to: request.head, request.host, context) }
        state = .answering
        let isIn = site.isStillIn(request.sender)
        write(isIn ? response : WebSite.unauthorized, to: request.head, host: request.host, context, closes: false)
    }

    /// Sends a file of the media folder, each piece when the kernel has taken the one before.
    func send(_ stream: Response.BodyStream, isLast: Bool) {
        stream.next().assumeIsolated().whenComplete { [weak self] result in
            guard let self, let context = self.context else { return stream.end() }
            guard case .success(let piece) = result else {
                // The head has promised more.
                stream.end()
                return context.close(promise: nil)
            }
            guard let piece else {
                stream.end()
                return self.finishAnswer(context, kept: 0, isLast: isLast)
            }
            self.clock.begin(.answer, context.channel)
            let sent = context.writeAndFlush(self.wrapOutboundOut(.body(.byteBuffer(piece))))
            sent.assumeIsolated().whenComplete { [weak self] result in
                guard let self, case .success = result else { return stream.end() }
                self.send(stream, isLast: isLast)
            }
        }
    }
}
