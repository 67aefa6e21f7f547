// makeCall and makeCallSync: calls to the daemon, and what becomes of their replies.
(function (host, native) {
    'use strict'

    // The calls under way: id → {command, data, resolve, reject, site, isSent, isOwn}.
    const calls = new Map()
    // The promises of calls, which may be ignored.
    const promises = new WeakSet()
    let count = 0
    let ownCount = 0

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
        return '{"handlerName":' + JSON.stringify(String(command)) + (data === undefined ? '' : ',"data":' + data)
            + ',"callbackId":"' + id + '"}'
    }

    // Sends a call. Its promise may be ignored: an error that nobody takes is told on the console.
    function start(command, data, site) {
        const promise = new Promise((resolve, reject) => {
            if (calls.size - ownCount >= host.limits.calls) {
                const sentence = host.limits.calls + ' calls of this script are under way; wait for a reply'
                reject(host.failure(site, {cmd: command, code: 'overloaded', message: sentence}))
                return
            }
            const id = 'c' + ++count
            const call = {command, data, resolve, reject, site, isSent: false, isOwn: false}
            calls.set(id, call)
            try {
                call.isSent = native.send(line(command, data, id), true, true)
            } catch (error) {
                calls.delete(id)
                reject(host.failure(site, {cmd: command, code: error.code, message: error.message}))
            }
        })
        promises.add(promise)
        return promise
    }

    // A call of the runtime's: it does not count, keeps nothing alive, and its errors go to `failed`.
    // isNeeded: whether the script is pointless without a daemon that hears it.
    host.ask = (command, parameters, failed, isNeeded) => {
        const id = 'r' + ++count
        ownCount++
        const call = {command, resolve() {}, reject: failed, site: null, isSent: false, isOwn: true}
        calls.set(id, call)
        call.isSent = native.send(line(command, JSON.stringify(parameters), id), false, isNeeded)
    }

    host.lineOf = (command, parameters) => {
        const id = 'r' + ++count
        ownCount++
        calls.set(id, {command, resolve() {}, reject() {}, site: null, isSent: true, isOwn: true})
        return line(command, JSON.stringify(parameters), id)
    }

    function take(id) {
        const call = calls.get(id)
        if (!call) return undefined
        calls.delete(id)
        if (call.isOwn) ownCount--
        return call
    }

    // The reply of a call: its promise is settled, and the front controller sees it.
    host.answered = message => {
        const call = take(message.responseId)
        if (!call) return
        if (message.error) {
            call.reject(call.isOwn ? message.error : host.failure(call.site, message.error))
            if (!call.isOwn) host.replied('error', message.error)
            return
        }
        call.resolve(message.responseData)
        if (!call.isOwn) succeeded(call.command, call.data, message)
    }

    function succeeded(command, data, message) {
        if (command === 'subscribe' || command === 'unsubscribe') host.subscribed(command, parsed(data))
        host.replied(message.handlerName || command, message.responseData)
    }

    // The parameters that a call's data stands for.
    function parsed(data) {
        const value = data === undefined ? null : JSON.parse(data)
        return value === null ? [] : Array.isArray(value) ? value : [value]
    }

    // The connection is lost. What was sent gets an error, for nobody knows whether it was done; the rest waits.
    host.lost = () => {
        for (const [id, call] of [...calls]) {
            if (!call.isSent) continue
            take(id)
            if (call.isOwn) continue
            const sentence = 'the connection to the daemon was lost while ' + call.command + ' was under way'
            const error = {cmd: call.command, code: 'unavailable', message: sentence}
            call.reject(host.failure(call.site, error))
            host.replied('error', error)
        }
    }

    // The queue has been sent.
    host.sent = () => { for (const call of calls.values()) call.isSent = true }

    host.hasCalls = () => calls.size > ownCount

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

    globalThis.makeCallSync = function makeCallSync(command, message) {
        host.isCommand(command)
        const site = new Error()
        const id = 's' + ++count
        // What is answered already need not wait with the script.
        const answers = host.takeAnswers()
        if (answers !== '') native.send(answers.slice(0, -1), false, false)
        const data = parametersOf(message)
        const reply = JSON.parse(native.callSync(id, String(command), line(command, data, id)))
        if (reply.error) {
            const error = host.failure(site, Object.assign({cmd: String(command)}, reply.error))
            host.replied('error', reply.error)
            throw error
        }
        succeeded(String(command), data, reply)
        return reply.responseData
    }
})
