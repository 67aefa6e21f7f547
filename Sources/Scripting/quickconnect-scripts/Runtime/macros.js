// Macros: one function each. All share this context.
(function (host, native) {
    'use strict'

    // Macros may have these names; they find them in `quickconnect`.
    for (const name of host.words) delete globalThis[name]

    const {getValue, setValue} = globalThis
    const {apply} = Reflect
    // The names that scripts use already; no macro may take one of them.
    const taken = new Set([globalThis, Object.prototype].flatMap(Object.getOwnPropertyNames))
    const macros = new Map()
    // The accessors of values: getInnerProgress, setInnerProgress, …
    let accessors = new Set()
    // Whether the accessors are known, so that the daemon may send calls.
    let isReady = false

    class Macro {
        constructor(name) {
            this.name = name
            // Why the newest text of the file is not the one in use.
            this.mistake = undefined
        }

        take(path, text, run) {
            this.path = path
            this.text = text
            this.run = run
            this.mistake = undefined
        }

        get isThere() { return this.run !== undefined }
    }

    // What a caller and the event learn about a macro that failed.
    class Failure {
        constructor(told, isRefusal = false) {
            this.told = told
            this.isRefusal = isRefusal
        }
    }

    // A call that is refused: no macro has failed.
    const refusal = (code, message, members) => new Failure({code, message, ...members}, true)

    // MARK: Errors

    const describe = host.describe
    host.describe = thrown => located(thrown)

    // Describes what was thrown, with its place in the text of a macro; `text` is the text that ran.
    function located(thrown, name = '', text = '') {
        if (thrown instanceof Failure) return thrown.told
        const told = describe(thrown)
        // The error of a failed call already has the place.
        if (!(thrown instanceof Error) || thrown.file !== undefined) return told
        for (const name of ['file', 'line', 'column', 'source']) delete told[name]
        return Object.assign(told, native.place(thrown, told.stack || '', name, text))
    }

    function post(told) {
        const {macro, message, file, line, column, source, stack} = told
        const event = {title: 'Javascript Evaluation Error', macro, message, file, line, column, source, stack}
        host.ask('post', ['macroError', event], error => host.console.warn('macroError: ' + error.message))
    }

    // What a macro threw, in the form for its caller and the event.
    function failure(macro, text, thrown) {
        const told = located(thrown, macro.name, text)
        // An error of a call that the macro made is not the macro's answer to its own caller.
        if (told.cmd) {
            told.message = told.cmd + ': ' + (told.code ? told.code + ': ' : '') + told.message
            delete told.cmd
            delete told.code
            delete told.field
        }
        told.macro = macro.name
        if (told.file === undefined) told.file = macro.path
        post(told)
        return new Failure(told)
    }

    // The return value of a macro is not JSON.
    function unsayable(name, thrown) {
        const macro = macros.get(name)
        return macro ? failure(macro, macro.text, thrown) : thrown
    }

    // A macro that keeps its caller waiting too long; it goes on.
    host.late = (handler, message) => {
        const name = handler.startsWith('macro:') ? handler.slice('macro:'.length) : handler
        const macro = macros.get(name)
        post({macro: name, message, file: macro && macro.path})
    }

    // An error in a timer or in an event's function. The other macros go on, so nothing ends.
    const unhandled = host.unhandled
    host.unhandled = thrown => {
        try {
            if (unhandled(thrown)) return true
        } catch (error) {
            // What a macro has put there to hear of errors.
            host.console.error(error)
        }
        const told = host.describe(thrown)
        const macro = macros.get(told.macro)
        if (macro) {
            failure(macro, macro.text, thrown)
        } else {
            post(told)
        }
        host.console.error(thrown)
        return true
    }

    // MARK: Running

    function find(name) {
        const macro = macros.get(name)
        if (macro && macro.isThere) return macro
        if (macro) throw new Failure(Object.assign({code: 'scriptFailed', macro: name, file: macro.file}, macro.mistake))
        const question = native.nearest(name, [...macros.keys()])
        throw refusal('notFound', "there is no macro '" + name + "'" + (question || '; «quickconnect macro list» shows them'), {
            field: '/1',
        })
    }

    let lastRun

    function run(macro, values) {
        const {text} = macro
        if (macro !== lastRun) native.runs((lastRun = macro).name)
        let result
        try {
            result = apply(macro.run, undefined, values)
            if (!result || typeof result.then !== 'function') return result
        } catch (error) {
            throw failure(macro, text, error)
        }
        return result.then(value => value, error => { throw failure(macro, text, error) })
    }

    // Runs a macro and records the calls that it makes, without those of other macros that run meanwhile.
    function trace(macro, values) {
        const calls = []
        const tracer = (call, data) => {
            const start = native.milliseconds()
            const told = {command: call.command, arguments: data === undefined || data === 'null' ? [] : [JSON.parse(data)].flat()}
            const {resolve, reject} = call
            const end = () => { told.milliseconds = Math.round((native.milliseconds() - start) * 1000) / 1000 }
            calls.push(told)
            call.resolve = value => {
                told.result = value
                end()
                resolve(value)
            }
            call.reject = error => {
                told.error = {code: error.code, message: error.message}
                end()
                reject(error)
            }
        }
        host.trace = tracer
        const finish = () => { if (host.trace === tracer) host.trace = undefined }
        const tell = value => ({value: value === undefined ? null : value, calls})
        let result
        try {
            result = run(macro, values)
        } catch (error) {
            finish()
            throw error
        }
        if (!result || typeof result.then !== 'function') {
            finish()
            return tell(result)
        }
        return result.then(value => {
            finish()
            return tell(value)
        }, error => {
            finish()
            throw error
        })
    }

    // Runs something that is not part of the trace.
    function untraced(action) {
        const {trace} = host
        if (!trace) return action()
        host.trace = undefined
        try {
            return action()
        } finally {
            if (!host.trace) host.trace = trace
        }
    }

    // MARK: The command

    const invalid = (name, {message, ...place}) => refusal('invalid', message, {field: '/2', macro: name, ...place})

    function nameProblem(name) {
        const problem = native.nameProblem(name)
        if (problem) return problem
        if (taken.has(name) || accessors.has(name)) return "'" + name + "' is the name of something that all macros find"
        return undefined
    }

    const verbs = {
        run: (name, values) => run(find(name), values),
        trace: (name, values) => trace(find(name), values),
        // The file, which was checked before it came here.
        check(name) {
            const macro = macros.get(name)
            if (!macro) find(name)
            if (macro.mistake) throw invalid(name, macro.mistake)
            return null
        },
    }

    // The host, which runs no JavaScript, handles the verbs of files and has texts checked. These give it what only
    // JavaScript knows.
    const preparations = {
        check: () => ({isNamed: true}),
        save(name) {
            const problem = nameProblem(name)
            if (problem) throw refusal('invalid', problem, {field: '/1'})
            return {isNamed: true}
        },
        list: () => mistakes([...macros.values()]),
        show: name => mistakes([macros.get(name)].filter(Boolean)),
    }

    const mistakes = all => Object.fromEntries(all.filter(macro => macro.mistake).map(macro => [macro.name, macro.mistake]))

    const isText = value => typeof value === 'string' && value !== ''

    function command(data, call) {
        const [verb, name, ...values] = Array.isArray(data) ? data : data === null ? [] : [data]
        call.label = 'macro:' + name
        if (verb !== 'list' && !isText(name)) {
            throw refusal('invalid', verb + ' needs the name of a macro', {field: '/1'})
        }
        const isNew = verb === 'check' && values[0] !== undefined && values[0] !== null
        if (isNew || !Object.hasOwn(verbs, verb)) {
            return Object.hasOwn(preparations, verb) ? preparations[verb](name, values) : null
        }
        call.end()
        call.unsayable = error => unsayable(name, error)
        return verb === 'trace' ? verbs.trace(name, values) : untraced(() => verbs[verb](name, values))
    }

    // A mapping may guard a macro, so the handler's own name must not be a second way to run it.
    function mapped(macro, data, call) {
        if (call.command === 'macro:' + macro.name) {
            throw refusal('denied', call.command + ' is not a command: «macro run ' + macro.name + '» runs it, or a command '
                + 'of another name that is mapped to script:' + call.command)
        }
        call.unsayable = error => unsayable(macro.name, error)
        return untraced(() => run(find(macro.name), Array.isArray(data) ? data : data === null ? [] : [data]))
    }

    // MARK: What comes and goes

    // The handlers answer with their return value, so they declare no callback.
    function register(macro) {
        host.register('macro:' + macro.name, (...[data, , call]) => mapped(macro, data, call))
    }

    // A file has a new text. If the new text has a mistake, the one before stays in use.
    host.putMacro = (name, path, text, bytes) => {
        const macro = macros.get(name) || new Macro(name)
        const wasThere = macro.isThere
        macros.set(name, macro)
        try {
            const problem = nameProblem(name)
            if (problem) throw {message: problem}
            macro.take(path, text, native.define(name, path, text, bytes))
        } catch (mistake) {
            return tell(macro, path, mistake)
        }
        if (!wasThere && isReady) register(macro)
    }

    // A file has a new text with a mistake.
    host.refuseMacro = (name, path, mistake) => {
        const macro = macros.get(name) || new Macro(name)
        macros.set(name, macro)
        const problem = nameProblem(name)
        tell(macro, path, problem ? {message: problem} : mistake)
    }

    function tell(macro, path, mistake) {
        macro.mistake = mistake
        macro.file = path
        const told = Object.assign({macro: macro.name, file: path}, mistake)
        const place = [path, told.line, told.column].filter(part => part !== undefined).join(':')
        host.console.error(place + ': ' + told.message + (macro.isThere ? '; the text before it stays' : ''))
        post(told)
    }

    host.removeMacro = name => {
        const macro = macros.get(name)
        macros.delete(name)
        if (!macro || !macro.isThere) return
        native.remove(name)
        host.remove('macro:' + name)
    }

    // The device's values have changed: creates their accessors again.
    function learn(commands) {
        const values = Object.keys(commands).filter(name => commands[name] && commands[name].value)
        for (const name of accessors) native.remove(name)
        accessors = new Set()
        for (const [name, suffix] of JSON.parse(native.accessors(JSON.stringify(values)))) {
            if (suffix === null || taken.has('get' + suffix) || taken.has('set' + suffix) || macros.has('get' + suffix)
                || macros.has('set' + suffix)) {
                host.console.warn('the value ' + name + ' has no accessor: use getValue and setValue')
                continue
            }
            give('get' + suffix, () => getValue(name))
            give('set' + suffix, (value, options) => setValue(name, value, ...Object(options) === options ? [options] : []))
        }
    }

    function give(name, accessor) {
        accessors.add(name)
        Object.defineProperty(accessor, 'name', {value: name})
        native.insert(name, accessor)
    }

    function ready() {
        if (isReady) return
        isReady = true
        for (const macro of macros.values()) if (macro.isThere) register(macro)
        // Registered last: whoever finds this command finds all macros.
        host.register('macros', (...[data, , call]) => command(data, call))
    }

    const learned = commands => {
        learn(commands)
        ready()
    }
    const notLearned = error => {
        host.console.warn('macros have no accessors of values: commands: ' + error.message)
        ready()
    }

    const heard = host.heard
    host.heard = (name, data) => {
        if (name === 'commands') host.ask('commands', [], notLearned, learned)
        heard(name, data)
    }

    const registrations = host.registrations
    host.registrations = () => {
        if (host.isFinishing()) return ''
        return host.lineOf('subscribe', ['commands']) + host.lineOf('commands', [], learned, notLearned) + registrations()
    }

    Object.freeze(globalThis.WebViewJavascriptBridge)
    Object.freeze(globalThis.quickconnect)

    // Who has one of these names hears the calls of all macros.
    const ownHandlers = new Set(['macros', 'macroFiles', 'scriptHost'])
    host.isOwnHandler = name => ownHandlers.has(name) || name.startsWith('macro:')
    host.guard = (command, data) => {
        if (command !== 'registerHandler' && command !== 'removeHandler' || data === undefined) return
        for (const name of [JSON.parse(data)].flat()) {
            if (typeof name === 'string' && host.isOwnHandler(name)) throw host.ownHandlerError(name)
        }
    }

    // Macros wait for calls, whether or not something else keeps the process alive.
    host.isWaiting = () => true
    host.isRegistered = () => true

    host.ask('subscribe', ['commands'], error => host.console.warn('commands: ' + error.message))
    host.ask('commands', [], notLearned, learned)
})
