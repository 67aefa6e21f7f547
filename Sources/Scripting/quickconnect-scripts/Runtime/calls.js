// makeCall and makeCallSync: calls to the daemon, and how their replies are handled.
(function (host, native) {
    'use strict'

    // The calls that have no reply yet: id → call. The conversation, in Swift, decides how many may be under way, which wait
    // and in which order, and what happens to them without a reply. An id is a letter, which says how to send the call, and
    // a number: c in order, r before those that wait, s after them but not counted.
    const calls = new Map()
    // How many of these calls the runtime made.
    let ownCount = 0
    let allOwnCount = 0
    // The promises of calls, which may be ignored.
    const promises = new WeakSet()
    let count = 0
    // The errors of `registerHandler`: error → the handler.
    const refusals = new WeakMap()
    // The handlers that the daemon has refused, and nothing in the script has heard of it.
    host.lacking = new Set()

    // The commands whose parameters matter when they are answered.
    const kept = new Set(['subscribe', 'unsubscribe', 'registerHandler'])

    class Call {
        constructor(id, command, data, resolve, reject, site) {
            this.id = id
            this.command = command
            this.data = kept.has(command) ? data : undefined
            this.resolve = resolve
            this.reject = reject
            // Where the script made it; null if the runtime did. The runtime's calls do not keep the script alive.
            this.site = site
            // Whether only its promise sees the reply.
            this.isQuiet = false
        }
    }

    // The parameters of a call, as JSON: none, an array's items, or the one value. A text is the text of `msg`, as in the
    // book: JSON, or else a plain text.
    function parametersOf(message) {
        if (message === undefined || message === '') return undefined
        if (message === null) return 'null'
        if (typeof message !== 'string') return Array.isArray(message) ? json(message) : '[' + json(message) + ']'
        let value
        try {
            value = JSON.parse(message)
        } catch {
            return '[' + JSON.stringify(message) + ']'
        }
        if (value === null) return undefined
        // Unchanged, so that numbers beyond a double stay exact; JSON has line breaks only between its tokens.
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

    // Throws for a call that would take what is the runtime's own.
    host.guard = () => {}

    // A call of the script. Its promise may be ignored: the console shows an error that nobody handles.
    function start(command, data, site, isQuiet = false) {
        const promise = new Promise((resolve, reject) => {
            const call = new Call('c' + ++count, command, data, resolve, reject, site)
            call.isQuiet = isQuiet
            if (host.trace) host.trace(call, data)
            remember(call)
            host.send(line(command, data, call.id))
        })
        promises.add(promise)
        return promise
    }

    function remember(call) {
        calls.set(call.id, call)
        if (!call.site) ownCount++
    }

    function take(id) {
        const call = calls.get(id)
        if (!call) return undefined
        calls.delete(id)
        if (!call.site) ownCount--
        return call
    }

    function ownLine(letter, command, parameters, resolve, reject) {
        allOwnCount++
        const data = JSON.stringify(parameters)
        const call = new Call(letter + ++count, command, data, resolve, reject, null)
        remember(call)
        return line(command, data, call.id)
    }

    // A call of the runtime, sent before the script's waiting calls; its errors go to `failed`.
    host.ask = (command, parameters, failed, done = () => {}) => {
        host.send(ownLine('r', command, parameters, done, failed))
    }

    // A call of the runtime that belongs to the script's burst.
    host.askInOrder = (command, parameters, failed) => host.send(ownLine('c', command, parameters, () => {}, failed))

    // A line that is sent over a new connection.
    host.lineOf = (command, parameters, done = () => {}, failed = () => {}) => {
        return ownLine('r', command, parameters, done, failed) + '\n'
    }

    // The reply of a call: settles its promise and shows it to the front controller. `lost` means that the connection is
    // gone: nobody knows whether the call was done.
    host.answered = message => {
        const call = take(message.responseId)
        // The runtime registers its own things again over the next connection.
        if (!call || message.lost && !call.site) return
        if (message.error) {
            const error = Object.assign({cmd: call.command}, message.error)
            if (message.lost) error.message = 'the connection to the daemon was lost while ' + call.command + ' was under way'
            const failure = call.site ? host.failure(call.site, error) : error
            if (call.command === 'registerHandler') refusals.set(failure, parsed(call.data)[0])
            call.reject(failure)
            if (call.site && !call.isQuiet) host.replied('error', error)
        } else {
            if (call.command === 'registerHandler') host.lacking.delete(parsed(call.data)[0])
            call.resolve(message.responseData)
            if (call.site && !call.isQuiet) succeeded(call.command, call.data, message)
        }
    }

    // A success without a value goes to the promise only.
    function succeeded(command, data, message) {
        if (command === 'subscribe' || command === 'unsubscribe') host.subscribed(command, parsed(data))
        host.isCommand(command, true)
        if (message.responseData === null && message.handlerName === undefined) return
        host.replied(message.handlerName || command, message.responseData)
    }

    // The parameters that a call's data represents.
    function parsed(data) {
        const value = data === undefined ? null : JSON.parse(data)
        return value === null ? [] : Array.isArray(value) ? value : [value]
    }

    // The connection is lost. Calls under way get that as their answer; calls not yet sent go out over the next connection.
    host.lost = () => {
        host.forgetCalls()
        host.forgetBegun()
    }

    host.hasCalls = () => calls.size > ownCount

    // How many calls the script has made.
    host.callCount = () => count - allOwnCount

    // A promise that was rejected and that nobody handles. Returns whether it is a call's, so that it may be ignored.
    host.mayIgnore = (promise, reason) => {
        if (!promises.has(promise) || !reason || reason.cmd === undefined) return false
        if (refusals.has(reason)) host.lacking.add(refusals.get(reason))
        if (!host.takesErrors()) host.console.error((reason.cmd ? reason.cmd + ': ' : '') + reason.message)
        return true
    }

    // What the script may ignore: the console shows an error that nobody handles.
    host.mayBeIgnored = promise => {
        promises.add(promise)
        return promise
    }

    // A call of the script whose reply only its promise sees. `parameters`: an array.
    host.callQuietly = (command, parameters, site) => {
        try {
            const data = parameters.length > 0 ? json(parameters) : undefined
            host.guard(command, data)
            return start(command, data, site, true)
        } catch (error) {
            return Promise.reject(error)
        }
    }

    globalThis.makeCall = host.makeCall = function makeCall(command, message) {
        host.isCommand(command, true)
        const site = new Error()
        let data
        try {
            data = parametersOf(message)
            host.guard(String(command), data)
        } catch (error) {
            return Promise.reject(error)
        }
        return start(String(command), data, site)
    }

    host.callHandler = (command, data, site) => {
        host.isCommand(command, true)
        const text = json(data)
        host.guard(command, text)
        return start(command, text, site)
    }

    // The reply of a call that the script waits for; throws an error reply.
    function replyAtOnce(command, data, told = error => error) {
        host.guard(command, data)
        const site = new Error()
        const id = 's' + ++count
        const traced = {command, resolve() {}, reject() {}}
        if (host.trace) host.trace(traced, data)
        const reply = JSON.parse(native.callSync(id, command, host.takeLines() + line(command, data, id) + '\n'))
        if (reply.error) {
            const error = told(Object.assign({cmd: command}, reply.error))
            host.replied('error', error)
            traced.reject(error)
            throw host.failure(site, error)
        }
        traced.resolve(reply.responseData)
        return reply
    }

    globalThis.makeCallSync = function makeCallSync(command, message) {
        host.isCommand(command, true)
        command = String(command)
        const data = parametersOf(message)
        const reply = replyAtOnce(command, data)
        succeeded(command, data, reply)
        return reply.responseData
    }

    // Whoever reads or sets a value misses its declaration, and no command.
    function missing(error) {
        if (error.code !== 'unknownCommand') return error
        const near = (error.nearest || []).map(name => "'" + name + "'").join(' or ')
        const message = "there is no value '" + error.cmd + "'" + (near && ', did you mean ' + near + '?')
        return Object.assign(error, {
            message: message + (near ? ' Else' : ':') + ' declare it in a mapping (docs/values.md), then «quickconnect call reload»',
        })
    }

    // Values of the device. Their replies do not go to the front controller: whoever wants each new value maps a VCF to its
    // name, which is also the name of its event.
    globalThis.getValue = function getValue(name) {
        return replyAtOnce(String(name), undefined, missing).responseData
    }

    // What would be dropped; without `for` a door stays open.
    host.surplus = (word, values, most) => host.placed(new TypeError(word === 'set'
        ? 'a value with options is a call: quickconnect.call(' + host.inspect(values).slice(1, -1) + ')'
        : word + ' takes ' + most + ' arguments'))

    // Returns the new value.
    globalThis.setValue = function setValue(name, value) {
        if (arguments.length > 2) throw host.surplus('set', [...arguments])
        // JSON has no form for undefined and infinite numbers, and null would read the value.
        if (value === undefined || value === null || typeof value === 'number' && !isFinite(value)) {
            throw host.placed(new TypeError(name + ' cannot be set to ' + String(value)))
        }
        return replyAtOnce(String(name), json([value]), missing).responseData
    }
})
