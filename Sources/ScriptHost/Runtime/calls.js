// makeCall and makeCallSync: calls to the daemon, and what becomes of their replies.
(function (host, native) {
    'use strict'

    // The calls that have no reply yet: id → call.
    const calls = new Map()
    // Those of them that are not under way yet, in order; those before `first` are.
    let waiting = []
    let first = 0
    // How many of the script's own are under way, and how many of those are answered by lines that it has not seen yet.
    let underWay = 0
    let early = 0
    // How many of the calls are the runtime's.
    let ownCount = 0
    let allOwnCount = 0
    // The bytes of all calls that have no reply yet.
    let bytes = 0
    let isConnected = false
    // The promises of calls, which may be ignored.
    const promises = new WeakSet()
    let count = 0

    // A burst may be as long as that: each call counts its line, and what the engine needs to remember it.
    const longestBurst = 32 << 20
    const bytesOfCall = 512

    class Call {
        constructor(id, command, data, resolve, reject, site) {
            this.id = id
            this.command = command
            // Only these change what a new connection is told.
            this.data = command === 'subscribe' || command === 'unsubscribe' ? data : undefined
            this.line = line(command, data, id)
            this.bytes = this.line.length + bytesOfCall
            this.resolve = resolve
            this.reject = reject
            // Where the script made it; null: the runtime did. Then it keeps nothing alive.
            this.site = site
            // Whether it is among those that may be under way at once.
            this.counts = false
            // Whether it is on its way, rather than waiting for a connection.
            this.isSent = false
        }
    }

    // The parameters of a call, as JSON: none, an array's items, or the one value. A text is the text of `msg`, as in
    // the book: JSON, or else itself.
    function parametersOf(message) {
        if (message === undefined || message === null || message === '') return undefined
        if (typeof message !== 'string') return Array.isArray(message) ? json(message) : '[' + json(message) + ']'
        let value
        try {
            value = JSON.parse(message)
        } catch {
            return '[' + JSON.stringify(message) + ']'
        }
        if (value === null) return undefined
        // As it is, so that numbers beyond a double stay exact; JSON has line breaks only between its tokens.
        const text = message.replace(/[\r\n]/g, ' ')
        return Array.isArray(value) ? text : '[' + text + ']'
    }

    function json(value) {
        const text = JSON.stringify(value)
        if (text === undefined && value !== undefined) throw new TypeError('a message must be a JSON value')
        return text
    }

    function line(command, data, id) {
        return '{"handlerName":' + JSON.stringify(command) + (data === undefined ? '' : ',"data":' + data)
            + ',"callbackId":"' + id + '"}'
    }

    // A call of the script's. Its promise may be ignored: an error that nobody takes is told on the console.
    function start(command, data, site) {
        const promise = new Promise((resolve, reject) => {
            enter(new Call('c' + ++count, command, data, resolve, reject, site))
        })
        promises.add(promise)
        return promise
    }

    // Sends a call, or lets it wait until fewer are under way: calls begin in their order.
    function enter(call) {
        remember(call)
        if (bytes > longestBurst) {
            refuse(call, {code: 'overloaded', message: 'the calls of this script that wait for a reply have more than '
                + (longestBurst >> 20) + ' MiB; wait for a reply'})
        } else if (first === waiting.length && underWay < host.limits.calls) {
            begin(call)
        } else {
            waiting.push(call)
        }
    }

    function begin(call) {
        underWay++
        call.counts = true
        send(call)
    }

    // The call is answered as if the daemon had refused it.
    function refuse(call, error) {
        const {code, message} = error
        bytes -= call.bytes
        call.bytes = 0
        call.line = undefined
        host.refuse({responseId: call.id, error: {cmd: call.command, code, message}})
    }

    function send(call) {
        const {line} = call
        call.line = undefined
        call.isSent = isConnected
        try {
            host.send(line)
        } catch (error) {
            refuse(call, error)
        }
    }

    function sendWaiting() {
        while (first < waiting.length && underWay < host.limits.calls) {
            const call = waiting[first]
            waiting[first++] = undefined
            begin(call)
        }
        if (first === waiting.length) {
            waiting = []
            first = 0
        } else if (first > 1024 && first > waiting.length / 2) {
            waiting = waiting.slice(first)
            first = 0
        }
    }

    function remember(call) {
        calls.set(call.id, call)
        bytes += call.bytes
        if (!call.site) ownCount++
    }

    function take(id) {
        const call = calls.get(id)
        if (!call) return undefined
        calls.delete(id)
        bytes -= call.bytes
        if (!call.site) ownCount--
        if (call.counts) {
            if (early > 0) early--
            else underWay--
        }
        return call
    }

    const makeOwn = (command, parameters, resolve, reject) => {
        allOwnCount++
        return new Call('r' + ++count, command, JSON.stringify(parameters), resolve, reject, null)
    }

    // A call of the runtime's: it does not count, and its errors go to `failed`.
    host.ask = (command, parameters, failed, done = () => {}) => {
        const call = makeOwn(command, parameters, done, failed)
        remember(call)
        send(call)
    }

    // A call of the runtime's that is one of the script's burst.
    host.askInOrder = (command, parameters, failed) => enter(makeOwn(command, parameters, () => {}, failed))

    host.lineOf = (command, parameters) => {
        const call = makeOwn(command, parameters, () => {}, () => {})
        remember(call)
        const {line} = call
        call.line = undefined
        call.isSent = true
        return line
    }

    // The reply of a call: its promise is settled, and the front controller sees it.
    host.answered = message => {
        const call = take(message.responseId)
        if (!call) return
        if (first < waiting.length) sendWaiting()
        if (message.error) {
            call.reject(call.site ? host.failure(call.site, message.error) : message.error)
            if (call.site) host.replied('error', message.error)
        } else {
            call.resolve(message.responseData)
            if (call.site) succeeded(call.command, call.data, message)
        }
    }

    // A success with nothing to say is the promise's alone.
    function succeeded(command, data, message) {
        if (command === 'subscribe' || command === 'unsubscribe') host.subscribed(command, parsed(data))
        host.isCommand(command)
        if (message.responseData === null && message.handlerName === undefined) return
        host.replied(message.handlerName || command, message.responseData)
    }

    // The parameters that a call's data stands for.
    function parsed(data) {
        const value = data === undefined ? null : JSON.parse(data)
        return value === null ? [] : Array.isArray(value) ? value : [value]
    }

    // There is a connection, and what waited for it has been sent.
    host.connected = () => {
        isConnected = true
        for (const call of calls.values()) call.isSent = call.line === undefined
    }

    // The connection is lost. What was sent gets an error, for nobody knows whether it was done; the rest waits.
    host.lost = () => {
        isConnected = false
        early = 0
        host.forgetCalls()
        host.forgetBegun()
        const lost = [...calls.values()].filter(call => call.isSent)
        for (const {id} of lost) take(id)
        underWay = [...calls.values()].filter(call => call.counts).length
        sendWaiting()
        for (const call of lost) {
            if (!call.site) continue
            const sentence = 'the connection to the daemon was lost while ' + call.command + ' was under way'
            const error = {cmd: call.command, code: 'unavailable', message: sentence}
            call.reject(host.failure(call.site, error))
            host.replied('error', error)
        }
    }

    host.hasCalls = () => calls.size > ownCount

    // How many the script has made.
    host.callCount = () => count - allOwnCount

    // A promise that was rejected with nobody to handle it. Says whether it is a call's, which may be ignored.
    host.mayIgnore = (promise, reason) => {
        if (!promises.has(promise)) return false
        if (!host.takesErrors()) globalThis.console.error((reason.cmd ? reason.cmd + ': ' : '') + reason.message)
        return true
    }

    globalThis.makeCall = host.makeCall = function makeCall(command, message) {
        host.isCommand(command)
        const site = new Error()
        let data
        try {
            data = parametersOf(message)
        } catch (error) {
            return Promise.reject(error)
        }
        return start(String(command), data, site)
    }

    host.callHandler = (command, data, site) => {
        host.isCommand(command)
        return start(command, json(data), site)
    }

    // Lets the calls before it go first, as far as replies make room for them.
    function sendAllWaiting(command) {
        sendWaiting()
        while (first < waiting.length) {
            const replies = native.awaitReplies(command, host.takeLines())
            if (replies < 0) return
            const seen = Math.min(replies, underWay)
            underWay -= seen
            early += seen
            sendWaiting()
        }
    }

    // The reply of a call that is waited for; an error is thrown.
    function replyAtOnce(command, data) {
        const site = new Error()
        const id = 's' + ++count
        sendAllWaiting(command)
        const reply = JSON.parse(native.callSync(id, command, host.takeLines(), line(command, data, id)))
        if (reply.error) {
            const told = Object.assign({cmd: command}, reply.error)
            host.replied('error', told)
            throw host.failure(site, told)
        }
        return reply
    }

    globalThis.makeCallSync = function makeCallSync(command, message) {
        host.isCommand(command)
        command = String(command)
        const data = parametersOf(message)
        const reply = replyAtOnce(command, data)
        succeeded(command, data, reply)
        return reply.responseData
    }

    // Values of the device. No reply of theirs goes to the front controller: whoever wants to see each new value maps a VCF
    // to its name, which is an event's.
    globalThis.getValue = function getValue(name) {
        host.isCommand(name)
        return replyAtOnce(String(name), []).responseData
    }

    // Returns what the value became.
    globalThis.setValue = function setValue(name, value) {
        host.isCommand(name)
        if (value === undefined || value === null) throw new TypeError('setValue needs a value that is not ' + value)
        return replyAtOnce(String(name), [value]).responseData
    }
})
