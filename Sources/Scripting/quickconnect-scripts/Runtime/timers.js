// setTimeout, setInterval, queueMicrotask.
(function (host, native) {
    'use strict'

    const timers = new Map()
    let count = 0

    function start(action, delay, repeats, values) {
        const run = typeof action === 'function' ? action : () => (0, eval)(String(action))
        const id = ++count
        timers.set(id, {run, values, repeats})
        native.startTimer(id, Number(delay) || 0, repeats)
        return id
    }

    function stop(id) {
        if (timers.delete(Number(id))) native.stopTimer(Number(id))
    }

    host.fire = id => {
        const timer = timers.get(id)
        if (!timer) return
        if (!timer.repeats) timers.delete(id)
        timer.run.apply(globalThis, timer.values)
    }

    host.after = (milliseconds, action) => { start(action, milliseconds, false, []) }

    host.hasTimers = () => timers.size > 0

    globalThis.setTimeout = (action, delay, ...values) => start(action, delay, false, values)
    globalThis.setInterval = (action, delay, ...values) => start(action, delay, true, values)
    globalThis.clearTimeout = stop
    globalThis.clearInterval = stop
    globalThis.queueMicrotask = action => {
        if (typeof action !== 'function') throw new TypeError('queueMicrotask takes a function')
        Promise.resolve().then(() => action())
    }
})
