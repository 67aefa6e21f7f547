// What the language gives, and all macros share with the runtime: no macro replaces it for the others. New names may be added
// to it, but for Object.prototype, where they would be members of everything.
(function () {
    'use strict'

    const {ownKeys, getOwnPropertyDescriptor, getPrototypeOf, defineProperty} = Reflect
    const seen = new Set()
    // A program gives its own objects and errors these, by assignment, which a locked one would prevent.
    const open = new Set(['constructor', 'toString', 'valueOf', 'toLocaleString'])
    const bases = new Set([Object.prototype, Function.prototype])

    const isOpen = (object, key) => open.has(key) && (bases.has(object) || object instanceof Error || object === Error.prototype)

    function lock(object) {
        if (object === null || typeof object !== 'object' && typeof object !== 'function' || seen.has(object)) return
        seen.add(object)
        for (const key of ownKeys(object)) {
            const {value, get, set, configurable} = getOwnPropertyDescriptor(object, key)
            if (configurable && (get || set)) {
                defineProperty(object, key, {configurable: false})
            } else if (configurable && typeof value === 'function' && !isOpen(object, key)) {
                defineProperty(object, key, {writable: false, configurable: false})
            }
            lock(value)
            lock(get)
            lock(set)
        }
        lock(getPrototypeOf(object))
    }

    const names = [
        'Object', 'Function', 'Array', 'Number', 'Boolean', 'String', 'Symbol', 'BigInt', 'Promise', 'RegExp', 'Error',
        'AggregateError', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError', 'Date', 'Map',
        'Set', 'WeakMap', 'WeakSet', 'WeakRef', 'FinalizationRegistry', 'Proxy', 'Reflect', 'JSON', 'Math', 'Iterator',
        'ArrayBuffer', 'DataView', 'Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array',
        'Uint32Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array', 'parseInt', 'parseFloat', 'isNaN',
        'isFinite', 'encodeURI', 'encodeURIComponent', 'decodeURI', 'decodeURIComponent', 'eval',
    ].filter(name => name in globalThis)
    for (const name of names) {
        lock(globalThis[name])
        const {configurable} = getOwnPropertyDescriptor(globalThis, name)
        if (configurable) defineProperty(globalThis, name, {writable: false, configurable: false})
    }
    // What the language uses without a name.
    const unnamed = [
        [].values(), new Map().entries(), new Set().values(), ''[Symbol.iterator](), 'a'.matchAll(/a/g), function* () {},
        async () => {}, async function* () {},
    ]
    for (const one of unnamed) lock(getPrototypeOf(one))
    Object.preventExtensions(Object.prototype)
})
