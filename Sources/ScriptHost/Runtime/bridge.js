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
        })
    }

    function removeHandler(name) {
        if (handlers.delete(String(name))) host.ask('removeHandler', [String(name)], () => {})
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

    function answer(id, members) {
        native.answer(id, '{"responseId":' + JSON.stringify(id) + members + '}')
    }

    function failed(id, name, thrown) {
        const told = host.describe(thrown)
        native.note(name, told.message, JSON.stringify(told))
        answer(id, ',"error":' + JSON.stringify(told))
    }

    // A call of the daemon to a handler: it answers what it returns, what a promise that it returns becomes, or what
    // it gives to the callback. One that takes no callback, and returns nothing, has answered null.
    host.called = message => {
        const {handlerName: name, callbackId: id, data} = message
        const handler = handlers.get(name)
        native.began(id, name)
        if (!handler) return failed(id, name, host.error('unavailable', 'the script has taken back its handler ' + name))
        let isOver = false
        const call = new HandlerCall(message)
        const respond = value => {
            if (isOver) return
            isOver = true
            if (value instanceof Error) return failed(id, name, value)
            let text
            try {
                text = JSON.stringify(value)
            } catch (error) {
                return failed(id, name, error)
            }
            answer(id, ',"responseData":' + (text === undefined ? 'null' : text) + call.members)
        }
        const fail = thrown => {
            if (isOver) return
            isOver = true
            failed(id, name, thrown)
        }
        let result
        try {
            result = handler(data, respond, call)
        } catch (error) {
            return fail(error)
        }
        if (result && typeof result.then === 'function') result.then(respond, fail)
        else if (result !== undefined) respond(result)
        else if (handler.length < 2) respond(null)
    }

    // What a handler is told of a call, besides its data: the third argument.
    class HandlerCall {
        constructor(message) {
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

        get members() {
            return (this.replyCommand ? ',"handlerName":' + JSON.stringify(String(this.replyCommand)) : '')
                + (this.ends ? ',"end":true' : '')
        }
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
        _handleMessageFromObjC: text => host.deliver(text),
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
