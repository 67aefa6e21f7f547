// What Swift calls, and what the script finds.
(function (host, native) {
    'use strict'

    // Messages of the daemon that the script has not seen yet, and the answers that are still to be sent.
    let messages = []
    let next = 0
    let answers = ''
    // So long may one turn go on with messages, so that a turn stays short however many there are.
    const turnTime = 5

    // Takes messages of the daemon, a JSON array or nothing, and deals with as many as one turn may. Returns the answers
    // that there are, a line each. Where messages are left, or one failed, it wants to be called again, with nothing.
    host.deliver = text => {
        if (text !== '') {
            messages = next < messages.length ? messages.slice(next).concat(JSON.parse(text)) : JSON.parse(text)
            next = 0
        }
        const end = Date.now() + turnTime
        while (next < messages.length) {
            const answer = host.dispatch(messages[next++])
            if (answer !== undefined) answers += answer + '\n'
            if (Date.now() >= end) break
        }
        return host.takeAnswers()
    }

    host.hasMessages = () => next < messages.length || answers !== ''

    host.takeAnswers = () => {
        const taken = answers
        answers = ''
        return taken
    }

    host.dispatch = message => {
        if (message.callbackId !== undefined) return host.called(message)
        if (message.responseId !== undefined) return void host.answered(message)
        if (message.handlerName === undefined) {
            return void globalThis.console.error('the daemon: ' + (message.error ? message.error.message : JSON.stringify(message)))
        }
        host.heard(message.handlerName, message.data)
        host.happened(message.handlerName, message.data)
        return undefined
    }

    // The end of each turn, when its promises have been dealt with.
    host.turnEnded = () => {
        host.callBack()
        host.subscribe()
    }

    // Lines that tell a daemon, after a new connection, what the script has registered and subscribed to.
    host.registrations = () => {
        const lines = [...host.handlers.keys()].map(name => host.lineOf('registerHandler', [name]))
        if (host.events.size) lines.push(...[...host.events].map(name => host.lineOf('subscribe', [name])))
        return lines.concat(host.subscriptions.map(parameters => host.lineOf('subscribe', parameters)))
    }

    host.isRegistered = () => host.handlers.size > 0 || host.events.size > 0 || host.subscriptions.length > 0

    // What keeps the script alive.
    host.isWaiting = () => host.hasCalls() || host.hasTimers() || host.isRegistered()

    // Subscriptions that the script made itself, by a call of `subscribe`.
    host.subscriptions = []
    host.subscribed = (command, parameters) => {
        if (command === 'subscribe') {
            host.subscriptions.push(parameters)
        } else if (parameters.length === 0) {
            host.subscriptions = []
            host.events.clear()
        } else {
            host.subscriptions = host.subscriptions
                .map(names => names.filter(name => !parameters.includes(name)))
                .filter(names => names.some(name => typeof name === 'string'))
            for (const name of parameters) host.events.delete(name)
        }
    }

    globalThis.load = name => native.load(String(name))
    globalThis.script = Object.freeze({name: host.script.name, arguments: Object.freeze([...host.script.arguments])})
})
