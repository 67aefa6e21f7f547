// Errors: what callers learn about them, and where in the script they come from.
(function (host) {
    'use strict'

    const ownFiles = 'quickconnect:'

    // `name@file:line:column`, one per line, without the runtime's own functions.
    host.stackOf = error => String(error.stack || '').split('\n').filter(line => {
        return line !== '' && !line.includes('@' + ownFiles) && !line.endsWith('@') && !line.includes('[native code]')
    })

    // Gives an error from the runtime the place of the script's call that caused it.
    host.placed = error => {
        const stack = host.stackOf(error)
        const place = /@(.*):(\d+):(\d+)$/.exec(stack[0] || '')
        error.stack = stack.join('\n')
        if (!place) return error
        error.sourceURL = place[1]
        error.line = Number(place[2])
        error.column = Number(place[3])
        return error
    }

    // Makes an Error from the {code, message, …} of an error reply to the call made at `site`.
    host.failure = (site, members) => {
        const error = host.placed(site)
        error.message = members.message
        return Object.assign(error, members, {name: members.code})
    }

    host.error = (code, message) => Object.assign(new Error(message), {name: code, code})

    // As much as somebody reads; longer texts are cut.
    const maxText = 2000
    const shortened = text => text.length > maxText ? text.slice(0, maxText) + '…' : text

    // An error that was thrown in the runtime itself, such as that of an accessor, gets the place of the script's call.
    function placedOutside(thrown) {
        try {
            if (thrown instanceof Error && String(thrown.sourceURL).startsWith(ownFiles)) host.placed(thrown)
        } catch {
            // A frozen error keeps its place.
        }
    }

    // What callers learn about anything thrown: {code?, message, field?, file?, line?, column?, stack?}.
    host.describe = thrown => {
        if (thrown === null || typeof thrown !== 'object') return {message: shortened(String(thrown))}
        placedOutside(thrown)
        const told = {}
        for (const name of ['cmd', 'code', 'field', 'line', 'column', 'source', 'macro']) {
            if (thrown[name] !== undefined) told[name] = thrown[name]
        }
        if (typeof told.code !== 'string') delete told.code
        if (typeof told.field !== 'string') delete told.field
        if (thrown instanceof Error) {
            const message = shortened(String(thrown.message))
            told.message = told.code || thrown.name === 'Error' ? message : shortened(String(thrown.name)) + ': ' + message
            // A failed call may know where it failed.
            const file = thrown.file || thrown.sourceURL
            if (file) told.file = file
            const stack = host.stackOf(thrown)
            if (stack.length) told.stack = shortened(stack.slice(0, 20).join('\n'))
        } else {
            told.message = shortened(thrown.message === undefined ? host.inspect(thrown) : String(thrown.message))
        }
        return told
    }

    let isTelling = false

    // An error that nobody handles. Returns whether the script goes on: it does if it has a `window.onerror`, or
    // something mapped to the command `error`.
    host.unhandled = thrown => {
        if (isTelling) return false
        isTelling = true
        try {
            const told = host.describe(thrown)
            const {onerror} = globalThis
            const hears = typeof onerror === 'function'
            // As in a browser, `true` means that the error needs no further report.
            if (hears && onerror.call(globalThis, told.message, told.file, told.line, told.column, thrown) === true) return true
            if (host.takesErrors()) {
                globalThis.handleRequest('error', Object.assign({code: 'scriptFailed'}, told))
            } else if (hears) {
                host.console.error(thrown)
            }
            return hears || host.takesErrors()
        } finally {
            isTelling = false
        }
    }
})
