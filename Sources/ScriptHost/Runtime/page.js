// What makes a script of a page feel at home: window, and the address whose change is a call.
(function (host, native) {
    'use strict'

    globalThis.window = globalThis
    globalThis.self = globalThis

    // Nobody looks at a script: what it says is logged, and what it asks is declined.
    globalThis.alert = (text = '') => {
        text = String(text)
        globalThis.console.info(text)
        host.askInOrder('post', ['alert', text], error => globalThis.console.warn('alert: ' + error.message))
    }
    globalThis.confirm = () => false
    globalThis.prompt = () => null

    // com.js of the book: calls wait in `messages` while `storeMessage` says that one is on its way.
    globalThis.messages = []
    globalThis.storeMessage = false
    globalThis.canSend = true

    // The book does not encode what it joins, so that `&` and `%` may stand in a message.
    function navigate(address) {
        const text = /^call\?([^]*)$/.exec(String(address))
        if (!text) return globalThis.console.warn('there is no page to go to: ' + address)
        call(text[1])
        Promise.resolve().then(sendStored)
    }

    function call(query) {
        const pairs = query.split('&').map(pair => [pair.split('=', 1)[0], pair.slice(pair.indexOf('=') + 1)])
        const isPlain = pairs.every(([key], index) => {
            return ['cmd', 'msg', 'id'].includes(key) && pairs.findIndex(pair => pair[0] === key) === index
        })
        const whole = /^cmd=([^&]*)(?:&msg=([^]*))?$/.exec(query)
        const values = isPlain ? Object.fromEntries(pairs) : whole ? {cmd: whole[1], msg: whole[2]} : {}
        if (!values.cmd) return globalThis.console.warn('call?' + query + ' names no command')
        // What the book's makeCall joins where it was given no message.
        if (values.msg === 'undefined') values.msg = undefined
        // Not the script's own makeCall, which may be what brought us here.
        host.makeCall(decode(values.cmd), values.msg === undefined ? undefined : decode(values.msg))
    }

    function decode(text) {
        try {
            return decodeURIComponent(text)
        } catch {
            return text
        }
    }

    function sendStored() {
        globalThis.storeMessage = false
        if (!Array.isArray(globalThis.messages)) return
        for (const query of globalThis.messages.splice(0)) call(query)
    }

    const location = {
        get href() { return 'quickconnect:' + globalThis.script.name },
        set href(address) { navigate(address) },
        assign: navigate,
        replace: navigate,
        toString() { return this.href },
    }
    // Configurable, so that a script may have a `const location` of its own.
    Object.defineProperty(globalThis, 'location', {
        get: () => location, set: navigate, enumerable: true, configurable: true,
    })
})
