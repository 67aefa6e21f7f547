// Gives a script what a page has: window, and the address whose change is a call.
(function (host, native) {
    'use strict'

    globalThis.window = globalThis
    globalThis.self = globalThis

    // Nobody sees a script: its messages are logged, and its questions are declined.
    globalThis.alert = (text = '') => {
        text = String(text)
        host.console.info(text)
        host.askInOrder('post', ['alert', text], error => host.console.warn('alert: ' + error.message))
    }
    globalThis.confirm = () => false
    globalThis.prompt = () => null

    // com.js of the book: calls wait in `messages` while `storeMessage` says that a call is being sent.
    globalThis.messages = []
    globalThis.storeMessage = false
    globalThis.canSend = true

    // The book does not encode the parts of the address, so a message may contain `&` and `%`.
    function navigate(address) {
        const text = /^call\?([^]*)$/.exec(String(address))
        if (!text) return host.console.warn('there is no page to go to: ' + address)
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
        if (!values.cmd) return host.console.warn('call?' + query + ' names no command')
        // The book's makeCall adds this if it got no message.
        if (values.msg === 'undefined') values.msg = undefined
        // Not the script's own makeCall, which may have changed the address.
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
    // Configurable, so that a script can declare its own `const location`.
    Object.defineProperty(globalThis, 'location', {
        get: () => location, set: navigate, enumerable: true, configurable: true,
    })
})
