// WebViewJavascriptBridge, as pages know it: handlers that the daemon calls, and calls to the daemon.
(function (host, native) {
    'use strict'

    const handlers = new Map()
    // Calls that the script has not answered yet; the daemon waits for them.
    let begun = []
    // How many calls the script has answered.
    let answerCount = 0
    // Calls of an earlier connection are no longer answered.
    let connection = 0
    // Whether the script should answer its open calls and then end.
    let isFinishing = false

    // The names that the runtime itself answers to; no script may take one.
    host.isOwnHandler = () => false

    host.ownHandlerError = name => {
        return new TypeError("'" + name + "' is a handler of the runtime itself: choose another name")
    }

    function registerHandler(name, handler) {
        if (typeof handler !== 'function') throw new TypeError('the handler of ' + name + ' is not a function')
        name = String(name)
        if (host.isOwnHandler(name)) throw host.ownHandlerError(name)
        host.register(name, handler)
    }

    host.register = (name, handler) => {
        const isNew = !handlers.has(name)
        handlers.set(name, handler)
        if (!isNew || isFinishing) return
        host.ask('registerHandler', [name], error => {
            handlers.delete(name)
            host.lacking.add(name)
            host.console.error('the handler ' + name + ' is not registered: ' + error.message)
        }, answer => {
            host.warned(answer, 'the handler ' + name + ': ')
        })
    }

    function removeHandler(name) {
        name = String(name)
        if (host.isOwnHandler(name)) throw host.ownHandlerError(name)
        host.remove(name)
    }

    host.remove = name => {
        if (handlers.delete(name) && !isFinishing) host.ask('removeHandler', [name], () => {})
    }

    function callHandler(name, data, responseCallback) {
        if (arguments.length === 2 && typeof data === 'function') {
            responseCallback = data
            data = null
        }
        const promise = host.callHandler(String(name), data, new Error())
        // The original has no errors: here an error is the second argument.
        if (responseCallback) promise.then(value => responseCallback(value), error => responseCallback(null, error))
        return promise
    }

    // The runtime's data about a call; the script does not need it.
    const id = Symbol('id')
    const name = Symbol('name')
    const origin = Symbol('connection')
    const isAnswered = Symbol('isAnswered')
    const isLate = Symbol('isLate')

    // The third argument of a handler: what it learns about a call, besides its data.
    class HandlerCall {
        constructor(message) {
            this[id] = message.callbackId
            this[name] = message.handlerName
            this[origin] = connection
            this[isAnswered] = false
            // Whether the call's turn is over, so that the host knows about the call.
            this[isLate] = false
            this.command = message.command
            // The data as a list, in whatever form the caller gave it.
            this.parameters = message.data === undefined || message.data === null ? [] : [message.data].flat()
            this.phase = message.phase
            this.results = message.results
            // The caller that the handler acts for: {uid, user}, or {gateway, user}.
            this.caller = message.caller
            this.error = message.error
            // The command under which the answer is sent.
            this.replyCommand = undefined
            // The name in the report if it is late; by default the handler's name.
            this.label = undefined
            this.ends = false
            // Returns what to throw if the answer is not JSON, or too large.
            this.unsayable = undefined
        }

        // Nothing of the stack runs after this handler.
        end() { this.ends = true }
    }

    function succeed(call, value) {
        if (call[isAnswered]) return
        if (value instanceof Error) return fail(call, value)
        let text
        try {
            text = JSON.stringify(value)
            if (call.unsayable) check(text)
        } catch (error) {
            return fail(call, call.unsayable ? call.unsayable(error) : error)
        }
        let members = ',"responseData":' + (text === undefined ? 'null' : text)
        if (call.replyCommand) members += ',"handlerName":' + JSON.stringify(String(call.replyCommand))
        if (call.ends || call.end === true) members += ',"end":true'
        answer(call, members)
    }

    // A text of this length or less is never nested too deeply.
    const shortText = 512

    function check(text) {
        const problem = text !== undefined && text.length > shortText ? native.answerProblem(text) : ''
        if (problem) throw host.error('tooLarge', 'its answer cannot be sent: ' + problem)
    }

    function fail(call, thrown) {
        if (call[isAnswered]) return
        const told = host.describe(thrown)
        const text = JSON.stringify(told)
        // A refusal is not the script's fault.
        if (!(thrown && thrown.isRefusal)) native.note(told.macro || call[name], told.message, text)
        answer(call, ',"error":' + text)
    }

    function answer(call, members) {
        call[isAnswered] = true
        if (call[origin] !== connection) return
        // A call that was answered too late already has an answer.
        if (call[isLate] && !native.ended(call[id])) return
        answerCount++
        host.send('{"responseId":' + JSON.stringify(call[id]) + members + '}')
        if (call[isLate]) native.flush(host.takeLines())
    }

    // A handler that takes a callback answers through it: its return value, such as the number of a timer or the empty
    // promise that every async function returns, is not an answer. Every other handler answers with its return value.
    function heed(call, result, hasCallback) {
        if (result && typeof result.then === 'function') {
            const kept = value => { if (!hasCallback || value !== undefined) succeed(call, value) }
            result.then(kept, error => fail(call, error))
        } else if (!hasCallback) {
            succeed(call, result)
        }
    }

    // The daemon calls a handler.
    host.called = message => {
        const call = new HandlerCall(message)
        const handler = handlers.get(message.handlerName) || known.get(message.handlerName)
        try {
            if (!handler) throw host.error('unavailable', 'the script has taken back its handler ' + message.handlerName)
            heed(call, handler(message.data, value => succeed(call, value), call), handler.length > 1)
        } catch (error) {
            fail(call, error)
        }
        if (!call[isAnswered]) begun.push(call)
    }

    // An event is a call without a callback.
    host.heard = (name, data) => {
        const handler = handlers.get(name) || known.get(name)
        if (handler) handler(data, () => {})
    }

    // Reports to the host which calls this turn has left unanswered.
    host.tellBegun = () => {
        if (begun.length === 0) return
        for (const call of begun) {
            if (call[isAnswered]) continue
            call[isLate] = true
            native.began(call[id], call.label || call[name])
        }
        begun = []
    }

    host.forgetBegun = () => {
        connection++
        begun = []
        if (isFinishing) native.released()
    }

    host.answerCount = () => answerCount

    // Removes what the script registered, so that another process can register it. This one answers its calls and ends.
    host.finish = isConnected => {
        if (isFinishing) return
        isFinishing = true
        const names = [...handlers.keys()]
        if (!isConnected) return native.released()
        for (const name of names) host.ask('removeHandler', [name], () => {})
        // Answers come in the order of the calls: after the answer to this one, no more calls come.
        host.ask('unsubscribe', [], () => native.released(), () => native.released())
    }

    host.isFinishing = () => isFinishing

    host.handlers = handlers

    // Messages never wait for a timeout here, so there is nothing to disable.
    const disable = () => {}
    // Names that the native side calls in every page; the original has two spellings.
    const known = new Map([
        ['_disableJavascriptAlertBoxSafetyTimeout', disable],
        ['_disableJavscriptAlertBoxSafetyTimeout', disable],
    ])

    const bridge = {
        registerHandler,
        removeHandler,
        callHandler,
        disableJavscriptAlertBoxSafetyTimeout: disable,
        disableJavascriptAlertBoxSafetyTimeout: disable,
        // Messages are sent at once: none waits to be fetched.
        _fetchQueue: () => '[]',
        _handleMessageFromObjC: text => host.dispatch(JSON.parse(text)),
    }
    Object.defineProperty(globalThis, 'WebViewJavascriptBridge', {value: bridge, writable: true, configurable: true})
    globalThis.WKWebViewJavascriptBridge = bridge
    globalThis.setupWebViewJavascriptBridge = callback => callback(globalThis.WebViewJavascriptBridge)

    // Callbacks of a page that did not check whether the bridge exists.
    host.callBack = () => {
        const callbacks = globalThis.WVJBCallbacks
        if (!Array.isArray(callbacks)) return
        delete globalThis.WVJBCallbacks
        for (const callback of callbacks) callback(globalThis.WebViewJavascriptBridge)
    }
})
