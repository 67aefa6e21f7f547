// What Swift calls, and what the script uses.
(function (host, native) {
    'use strict'

    // Messages of the daemon that the script has not seen yet.
    let messages = []
    let next = 0
    // Lines to send when the turn is over.
    let lines = ''
    // When this many characters wait in the middle of a turn, they are handed over.
    const manyLines = 1 << 16
    // One turn may handle messages for this long, so that it stays short however many there are.
    const turnTime = 5
    // At most this many messages are handled before the clock is read again.
    const maxStep = 64

    // Sends a line after those before it.
    host.send = line => {
        lines += line + '\n'
        if (lines.length > manyLines) native.flush(host.takeLines())
    }

    host.takeLines = () => {
        const taken = lines
        lines = ''
        return taken
    }

    // Takes messages of the daemon, a JSON array or nothing, and handles as many as one turn may.
    host.deliver = text => {
        if (text !== '') messages = unseen().concat(JSON.parse(text))
        next = text === '' ? next : 0
        const end = Date.now() + turnTime
        let step = 1
        do {
            // A call that waits may find the connection lost, which takes messages away (forgetCalls).
            for (let left = step; left > 0 && next < messages.length; left--) host.dispatch(messages[next++])
            step = Math.min(2 * step, maxStep)
        } while (next < messages.length && Date.now() < end)
    }

    const unseen = () => next < messages.length ? messages.slice(next) : []

    // Nobody waits for calls that came over a lost connection.
    host.forgetCalls = () => {
        messages = unseen().filter(message => message.callbackId === undefined)
        next = 0
    }

    host.dispatch = message => {
        if (message.callbackId !== undefined) {
            host.called(message)
        } else if (message.responseId !== undefined) {
            host.answered(message)
        } else if (message.handlerName !== undefined) {
            host.heard(message.handlerName, message.data)
            host.listened(message.handlerName, message.data)
            host.happened(message.handlerName, message.data)
        } else {
            host.console.error('the daemon: ' + (message.error ? message.error.message : JSON.stringify(message)))
        }
    }

    // The end of each turn, after its promises have been handled.
    host.turnEnded = () => {
        host.callBack()
        host.subscribe()
    }

    // What a turn leaves behind: a digit that says what there is, and the lines to send. Runs none of the script's
    // code.
    host.collect = () => {
        host.tellBegun()
        const state = (next < messages.length ? 1 : 0) + (host.lacking.size > 0 ? 2 : 0) + (host.isWaiting() ? 4 : 0)
            + (host.hasCalls() ? 8 : 0) + (host.isUnsettled() ? 16 : 0) + (host.handlers.size > 0 ? 32 : 0)
        return String.fromCharCode(0x30 + state) + host.takeLines()
    }

    function renewal(command, parameters, isWanted) {
        return host.lineOf(command, parameters, () => {}, notRenewed(command, parameters, isWanted))
    }

    // The daemon may still know a handler's name from the lost connection, or keep too much for the scripts' user at the
    // moment: it is asked again in a second. What it refuses for another reason is told.
    const notRenewed = (command, parameters, isWanted) => error => {
        if (!isWanted() || host.isFinishing()) return
        if (error.code !== 'busy' && error.code !== 'overloaded') {
            host.console.error(command + ' ' + parameters[0] + ': ' + error.message)
            return
        }
        host.after(1000, () => {
            if (isWanted()) host.ask(command, parameters, notRenewed(command, parameters, isWanted))
        })
    }

    // The lines that register again, over a new connection, what the script has registered and subscribed to.
    host.registrations = () => {
        if (host.isFinishing()) return ''
        const names = [...host.handlers.keys()].map(name => renewal('registerHandler', [name], () => host.handlers.has(name)))
        const events = [...host.events].map(name => renewal('subscribe', [name], () => host.events.has(name)))
        const own = [...host.subscriptions].map(([name, parameters]) => {
            return renewal('subscribe', parameters, () => host.subscriptions.get(name) === parameters)
        })
        // After them, so that its options replace none.
        const heard = [...host.listeners].filter(([name, {options}]) => {
            return options || !host.events.has(name) && !host.subscriptions.has(name)
        }).map(([name]) => renewal('subscribe', host.subscriptionOf(name), () => host.listeners.has(name)))
        return [...names, ...events, ...own, ...heard, ...host.questions(), ...host.looks()].join('')
    }

    // The parameters of the subscription to an event: options that the script gave stay in force.
    host.subscriptionOf = name => {
        const {options} = host.listeners.get(name) || {}
        return options ? [name, options] : host.subscriptions.get(name) || [name]
    }

    host.isSubscribed = name => host.events.has(name) || host.subscriptions.has(name) || host.listeners.has(name)

    host.isRegistered = () => {
        return host.handlers.size > 0 || host.events.size > 0 || host.subscriptions.size > 0 || host.listeners.size > 0
            || host.hasQuestions()
    }

    // What keeps the script alive.
    host.isWaiting = () => host.hasCalls() || host.hasTimers() || host.isRegistered()

    // The daemon has accepted a subscription or a handler, perhaps with a warning, which `quickconnect scripts` shows, too.
    host.warned = (told, whose = '') => { if (told && told.warning) native.warn(whose + told.warning) }

    // Subscriptions that the script made itself with a call of `subscribe`: event → the parameters of that call.
    host.subscriptions = new Map()
    host.subscribed = (command, parameters) => {
        const names = parameters.filter(parameter => typeof parameter === 'string')
        const options = parameters.filter(parameter => typeof parameter !== 'string')
        if (command === 'subscribe') {
            for (const name of names) host.subscriptions.set(name, [name, ...options])
        } else if (names.length === 0) {
            host.subscriptions.clear()
            host.listeners.clear()
            host.forgetEvents()
        } else {
            for (const name of names) {
                host.subscriptions.delete(name)
                host.listeners.delete(name)
            }
            host.forgetEvents(names)
        }
    }

    globalThis.load = name => native.load(String(name))
    globalThis.script = Object.freeze({name: host.script.name, arguments: Object.freeze([...host.script.arguments])})
})
