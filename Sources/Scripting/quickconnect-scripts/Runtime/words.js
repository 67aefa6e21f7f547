// The words that all clients of a device have: on, call, handle, value, set, add, post.
(function (host, native) {
    'use strict'

    // The functions that hear an event, and its options: name → {all, options}.
    const listeners = new Map()
    // The values that are read again over a new connection.
    const looks = new Set()

    const mistake = text => host.placed(new TypeError(text))

    function needsFunction(word, run) {
        if (typeof run !== 'function') throw mistake(word + ' needs a function, not ' + host.inspect(run))
    }

    // All of them answer with a promise, also for what is wrong.
    const promised = (word, run, most = 2) => (...values) => host.mayBeIgnored(
        values.length > most ? Promise.reject(host.surplus(word, values, most)) : run(new Error(), ...values))

    // One function's mistake keeps the event from no other.
    host.listened = (name, value) => {
        for (const {listener} of (listeners.get(name) || {all: []}).all) {
            try {
                listener(value, name)
            } catch (error) {
                host.after(0, () => { throw error })
            }
        }
    }

    async function listen(site, name, listener, options) {
        const entry = listeners.get(name) || {all: [], options: undefined}
        const before = entry.options
        const own = {listener}
        const remove = () => {
            entry.all = entry.all.filter(each => each !== own)
            if (entry.all.length === 0 && listeners.get(name) === entry) listeners.delete(name)
        }
        listeners.set(name, entry)
        entry.all = [...entry.all, own]
        if (options) entry.options = options
        try {
            const told = await host.callQuietly('subscribe', host.subscriptionOf(name), site)
            host.warned(told)
        } catch (error) {
            entry.options = before
            remove()
            throw error
        }
        return async () => {
            const isHeard = listeners.get(name) === entry
            remove()
            if (isHeard && !host.isSubscribed(name)) await host.callQuietly('unsubscribe', [name], site)
        }
    }

    async function watch(site, name, listener) {
        let last
        const changed = value => {
            const text = JSON.stringify(value)
            if (!looks.has(look) || text === last) return
            last = text
            listener(value, name)
        }
        const look = {name, changed}
        looks.add(look)
        let off = () => looks.delete(look)
        const end = () => {
            looks.delete(look)
            return off()
        }
        try {
            off = await listen(site, name, changed, {value: true})
            const value = await host.callQuietly(name, [], site)
            // A promise of its own, so that what the function throws is an error of the script.
            Promise.resolve(value).then(changed)
        } catch (error) {
            await end()
            throw error
        }
        return end
    }

    async function read(site, name) {
        const off = await listen(site, name, () => {}, {value: true})
        try {
            return await host.callQuietly(name, [], site)
        } finally {
            host.mayBeIgnored(off())
        }
    }

    async function handle(site, name, answer) {
        needsFunction('handle', answer)
        name = String(name)
        if (host.isOwnHandler(name)) throw host.ownHandlerError(name)
        // It declares no callback, so it answers with its return value.
        const handler = (...[data, , call]) => answer(data, call)
        const before = host.handlers.get(name)
        host.handlers.set(name, handler)
        if (host.isFinishing()) return
        try {
            const told = await host.callQuietly('registerHandler', [name], site)
            host.warned(told, 'the handler ' + name + ': ')
        } catch (error) {
            if (host.handlers.get(name) === handler) before ? host.handlers.set(name, before) : host.handlers.delete(name)
            throw error
        }
    }

    const words = {
        on: promised('on', async (site, event, listener, options) => {
            needsFunction('on', listener)
            return listen(site, String(event), listener, options)
        }, 3),
        call(command, ...parameters) {
            command = String(command)
            const promise = host.callQuietly(command, parameters, new Error())
            if (command === 'subscribe' || command === 'unsubscribe') {
                promise.then(() => host.subscribed(command, parameters.flat()), () => {})
            }
            return promise
        },
        handle: promised('handle', handle),
        value: promised('value', async (site, name, ...listeners) => {
            if (listeners.length === 0) return read(site, String(name))
            needsFunction('value', listeners[0])
            return watch(site, String(name), listeners[0])
        }),
        set: promised('set', async (site, name, value) => {
            if (JSON.stringify([value]) === '[null]') throw mistake(name + ' cannot be set to ' + host.inspect(value))
            return host.callQuietly(String(name), [value], site)
        }),
        add: promised('add', async (site, name, number = 1) => host.callQuietly(String(name), [null, {add: number}], site)),
        post: promised('post', async (site, event, data = null) => host.callQuietly('post', [event, data], site)),
    }

    host.listeners = listeners

    // The lines that read values again over a new connection.
    host.looks = () => [...looks].map(({name, changed}) => {
        return host.lineOf(name, [], changed, error => host.console.warn(name + ': ' + error.message))
    })

    host.words = Object.keys(words)
    globalThis.quickconnect = {...words, removeHandler: name => globalThis.WebViewJavascriptBridge.removeHandler(name)}
    for (const name of host.words) {
        Object.defineProperty(globalThis, name, {value: words[name], writable: true, configurable: true, enumerable: false})
    }
})
