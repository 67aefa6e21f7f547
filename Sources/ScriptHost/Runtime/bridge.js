// WebViewJavascriptBridge, as a page knows it: handlers that the daemon calls, and calls to the daemon.
(function (host, native) {
    'use strict'

    const handlers = new Map()

    function registerHandler(name, handler) {
        if (typeof handler !== 'function') throw new TypeError('the handler of ' + name + ' is no function')
        name = String(name)
        const isNew = !handlers.has(name)
        handlers.set(name, handler)
        if (!isNew) return
        host.ask('registerHandler', [name], error => {
            handlers.delete(name)
            globalThis.console.error('the handler ' + name + ' is not registered: ' + error.message)
        }, true)
    }

    function removeHandler(name) {
        if (handlers.delete(String(name))) host.ask('removeHandler', [String(name)], () => {}, false)
    }

    function callHandler(name, data, responseCallback) {
        if (arguments.length === 2 && typeof data === 'function') {
            responseCallback = data
            data = null
        }
        const promise = host.callHandler(String(name), data, new Error())
        // The original has no errors: here they are a second argument.
        if (responseCallback) promise.then(value => responseCallback(value), error => responseCallback(null, error))
        return promise
    }

    // What the runtime knows of a call; the script has no use for it.
    const id = Symbol('id')
    const name = Symbol('name')
    const line = Symbol('line')
    const isLate = Symbol('isLate')

    // What a handler is told of a call, besides its data: the third argument.
    class HandlerCall {
        constructor(message) {
            this[id] = message.callbackId
            this[name] = message.handlerName
            // The line of the answer, once there is one.
            this[line] = undefined
            // Whether the handler has returned without one.
            this[isLate] = false
            this.command = message.command
            this.phase = message.phase
            this.results = message.results
            this.error = message.error
            // Under which command a reply of the view phase goes.
            this.replyCommand = undefined
            this.ends = false
        }

        // Nothing of the stack runs behind this handler.
        end() { this.ends = true }
    }

    function succeed(call, value) {
        if (call[line] !== undefined) return
        if (value instanceof Error) return fail(call, value)
        let text
        try {
            text = JSON.stringify(value)
        } catch (error) {
            return fail(call, error)
        }
        let members = ',"responseData":' + (text === undefined ? 'null' : text)
        if (call.replyCommand) members += ',"handlerName":' + JSON.stringify(String(call.replyCommand))
        if (call.ends) members += ',"end":true'
        answer(call, members)
    }

    function fail(call, thrown) {
        if (call[line] !== undefined) return
        const told = host.describe(thrown)
        const text = JSON.stringify(told)
        native.note(call[name], told.message, text)
        answer(call, ',"error":' + text)
    }

    function answer(call, members) {
        call[line] = '{"responseId":' + JSON.stringify(call[id]) + members + '}'
        if (call[isLate]) native.answer(call[id], call[line])
    }

    // A call of the daemon to a handler: it answers what it returns, what a promise that it returns becomes, or what
    // it gives to the callback. One that takes no callback, and returns nothing, has answered null.
    // Returns the line of the answer, where there is one already.
    host.called = message => {
        const call = new HandlerCall(message)
        const handler = handlers.get(message.handlerName)
        try {
            if (!handler) throw host.error('unavailable', 'the script has taken back its handler ' + message.handlerName)
            const result = handler(message.data, value => succeed(call, value), call)
            if (result && typeof result.then === 'function') {
                result.then(value => succeed(call, value), error => fail(call, error))
            } else if (result !== undefined) {
                succeed(call, result)
            } else if (handler.length < 2) {
                succeed(call, null)
            }
        } catch (error) {
            fail(call, error)
        }
        if (call[line] === undefined) {
            call[isLate] = true
            native.began(call[id], call[name])
        }
        return call[line]
    }

    // An event is a call without callback.
    host.heard = (name, data) => {
        const handler = handlers.get(name)
        if (handler) handler(data, () => {})
    }

    host.handlers = handlers

    const bridge = {
        registerHandler,
        removeHandler,
        callHandler,
        // Messages never wait for a timeout here, so there is nothing to disable.
        disableJavscriptAlertBoxSafetyTimeout() {},
        // Messages go out at once: none waits to be fetched.
        _fetchQueue: () => '[]',
        _handleMessageFromObjC: text => {
            const answer = host.dispatch(JSON.parse(text))
            if (answer !== undefined) native.send(answer, false, false)
        },
    }
    Object.defineProperty(globalThis, 'WebViewJavascriptBridge', {value: bridge, writable: true, configurable: true})
    globalThis.WKWebViewJavascriptBridge = bridge
    globalThis.setupWebViewJavascriptBridge = callback => callback(globalThis.WebViewJavascriptBridge)

    // Callbacks of a page that did not look whether the bridge is there.
    host.callBack = () => {
        const callbacks = globalThis.WVJBCallbacks
        if (!Array.isArray(callbacks)) return
        delete globalThis.WVJBCallbacks
        for (const callback of callbacks) callback(globalThis.WebViewJavascriptBridge)
    }
})
