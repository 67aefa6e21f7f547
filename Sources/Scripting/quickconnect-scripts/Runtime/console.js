// The console. It prints text unchanged, and other values as JavaScript would write them.
(function (host, native) {
    'use strict'

    const depthLimit = 5
    const itemLimit = 100

    function inspect(value, depth, seen) {
        switch (typeof value) {
        case 'string': return depth === 0 ? value : JSON.stringify(value)
        case 'bigint': return value + 'n'
        case 'function': return '[function ' + (value.name || '(anonymous)') + ']'
        case 'object': return value === null ? 'null' : object(value, depth, seen)
        default: return String(value)
        }
    }

    function object(value, depth, seen) {
        if (value instanceof Error) return errorText(value)
        if (value instanceof Date) return isNaN(value) ? 'Invalid Date' : value.toISOString()
        if (value instanceof RegExp) return String(value)
        if (seen.includes(value)) return '[circular]'
        if (depth > depthLimit) return Array.isArray(value) ? '[…]' : '{…}'
        const inner = seen.concat([value])
        const show = item => inspect(item, depth + 1, inner)
        if (value instanceof Promise) return 'Promise {}'
        if (value instanceof Map) return 'Map ' + list('{', [...value].map(([k, v]) => show(k) + ' → ' + show(v)), '}')
        if (value instanceof Set) return 'Set ' + list('{', [...value].map(show), '}')
        if (Array.isArray(value) || ArrayBuffer.isView(value)) return list('[', Array.from(value, show), ']')
        const type = value.constructor && value.constructor !== Object ? value.constructor.name + ' ' : ''
        const members = Object.keys(value).map(key => {
            return (/^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key)) + ': ' + show(value[key])
        })
        return type + list('{', members, '}')
    }

    function list(open, items, close) {
        const more = items.length - itemLimit
        if (more > 0) items = items.slice(0, itemLimit).concat(['… ' + more + ' more'])
        return open + items.join(', ') + close
    }

    function errorText(error) {
        const stack = host.stackOf(error)
        const place = error.sourceURL ? error.sourceURL + ':' + error.line + (error.column ? ':' + error.column : '') + ': ' : ''
        return place + error.name + ': ' + error.message + trace(stack)
    }

    // The engine's `name@place`, in a readable form.
    function trace(stack) {
        return stack.map(line => {
            const at = line.lastIndexOf('@')
            return '\n    at ' + (at > 0 ? line.slice(0, at) + ' (' + line.slice(at + 1) + ')' : line.slice(at + 1))
        }).join('')
    }

    host.inspect = value => {
        try {
            return inspect(value, 0, [])
        } catch (error) {
            return '[a value that cannot be shown: ' + error.message + ']'
        }
    }

    // %s, %d, %i, %f, %o, %O and %j in the first text insert the arguments after it.
    function format(values) {
        let rest = values
        let first = ''
        if (typeof values[0] === 'string' && values.length > 1) {
            rest = values.slice(1)
            first = values[0].replace(/%([sdifoOj%])/g, (all, kind) => {
                if (kind === '%') return '%'
                if (rest.length === 0) return all
                const value = rest.shift()
                if (kind === 'd' || kind === 'f') return String(Number(value))
                if (kind === 'i') return String(Math.trunc(Number(value)))
                if (kind === 'j') return JSON.stringify(value)
                return kind === 's' ? host.inspect(value) : inspect(value, 1, [])
            })
            rest = [first].concat(rest)
        }
        return rest.map(host.inspect).join(' ')
    }

    let indent = ''
    const counts = new Map()
    const starts = new Map()

    function print(level, values) {
        native.print(level, (indent + format(values)).replace(/\n/g, '\n' + indent))
    }

    function elapsed(label) {
        const start = starts.get(label)
        return start === undefined ? 'no such timer' : (Date.now() - start) + ' ms'
    }

    const console = {
        log: (...values) => print('info', values),
        info: (...values) => print('info', values),
        debug: (...values) => print('debug', values),
        warn: (...values) => print('warning', values),
        error: (...values) => print('error', values),
        dir: value => print('info', [value]),
        table: value => print('info', [value]),
        trace: (...values) => {
            native.print('error', 'Trace: ' + format(values) + trace(host.stackOf(new Error())))
        },
        assert: (condition, ...values) => {
            if (!condition) print('error', ['Assertion failed' + (values.length ? ':' : ''), ...values])
        },
        count: (label = 'default') => {
            counts.set(label, (counts.get(label) || 0) + 1)
            print('info', [label + ': ' + counts.get(label)])
        },
        countReset: (label = 'default') => { counts.delete(label) },
        group: (...values) => {
            if (values.length) print('info', values)
            indent += '  '
        },
        groupCollapsed: (...values) => console.group(...values),
        groupEnd: () => { indent = indent.slice(2) },
        time: (label = 'default') => { starts.set(label, Date.now()) },
        timeLog: (label = 'default', ...values) => print('info', [label + ': ' + elapsed(label), ...values]),
        timeEnd: (label = 'default') => {
            print('info', [label + ': ' + elapsed(label)])
            starts.delete(label)
        },
    }
    globalThis.console = console
    // The runtime's own, whatever scripts make of theirs.
    host.console = Object.freeze({...console})
})
