// The book's front controller in JavaScript: commands, and the functions that are mapped to them.
(function (host, native) {
    'use strict'

    const phases = {validation: new Map(), business: new Map(), view: new Map(), error: new Map()}
    // What a function returns to end a stack: the book's nil, and the words of its later versions.
    const ends = [null, 'stop', 'ExIt_StAcK', 'wait', 'wAiT']
    // The names under which the daemon replies: never events.
    const replies = new Set(['error', 'default', 'showLoc', 'showPickResults'])
    // Names that came as replies, were called or are handled here, and whether the script has called them. Of these only
    // values have events.
    const commands = new Map()
    const events = new Set()
    // Commands of which the daemon is asked whether they are values, and whether the script stays alive for that.
    const asked = new Map()
    const unlooked = new Set()
    // The event that is being handled.
    let happening

    function map(phase, command, run) {
        if (typeof run !== 'function') {
            throw new TypeError('what ' + command + ' is mapped to is not a function but ' + host.inspect(run))
        }
        const map = phases[phase]
        if (!map.has(command)) map.set(command, [])
        map.get(command).push(run)
        if (phase === 'view') unlooked.add(command)
        if (phase === 'validation' || phase === 'business') host.isCommand(command)
    }

    // The functions of default, then those of the command.
    function functions(phase, command) {
        const all = [...(phases[phase].get('default') || [])]
        return command === 'default' ? all : all.concat(phases[phase].get(command) || [])
    }

    const isMapped = command => Object.values(phases).some(map => map.has(command) || map.has('default'))

    const steps = command => ['validation', 'business', 'view'].flatMap(phase => {
        return functions(phase, command).map(run => ({phase, run}))
    })

    // Runs a stack until it ends or waits for a promise of a BCF or ValCF; in that case it returns a promise.
    function goOn(stack) {
        while (stack.steps.length > 0) {
            const {phase, run} = stack.steps.shift()
            const {parameters, data} = stack
            const result = phase === 'view' ? run(data, parameters) : run(parameters, data)
            if (phase !== 'view' && result && typeof result.then === 'function') {
                return result.then(value => accepts(stack, phase, value) ? goOn(stack) : undefined)
            }
            if (!accepts(stack, phase, result)) return undefined
        }
        return undefined
    }

    function accepts(stack, phase, result) {
        switch (phase) {
        case 'validation':
            if (result !== false && !ends.includes(result)) return true
            host.failed(stack.command, 'validation failed', stack.parameters)
            return false
        case 'business':
            if (ends.includes(result)) return false
            stack.data.push(result)
            return true
        default:
            return result === null || !ends.includes(result)
        }
    }

    // Runs the error functions of a command: each gets the message and its context. Returns whether there are any.
    host.failed = (command, message, parameters) => {
        const all = functions('error', command)
        for (const run of all) {
            if (run(message, parameters) === 'stop') break
        }
        return all.length > 0
    }

    host.takesErrors = () => phases.error.has('error') || phases.view.has('error')

    globalThis.handleRequest = function handleRequest(command, parameters) {
        if (command === undefined || command === null) return undefined
        if (command !== happening) host.isCommand(command)
        if (command === 'error') host.failed('error', parameters && parameters.message, parameters)
        try {
            return goOn({command, parameters, data: [], steps: steps(command)})
        } catch (error) {
            if (command === 'error' || !phases.error.has(command)) throw error
            host.failed(command, error.message, parameters)
            return undefined
        }
    }

    globalThis.handleJSONRequest = function handleJSONRequest(command, parametersString) {
        return globalThis.handleRequest(command, parametersString ? JSON.parse(parametersString) : null)
    }

    globalThis.handleError = function handleError(command, parameters) { host.failed(command, parameters) }

    const own = {handleRequest: globalThis.handleRequest, handleJSONRequest: globalThis.handleJSONRequest}
    const isReplaced = () => {
        return globalThis.handleRequest !== own.handleRequest || globalThis.handleJSONRequest !== own.handleJSONRequest
    }

    // A reply of the daemon. It costs nothing if no function is mapped to it.
    host.replied = (command, value) => {
        host.isCommand(command)
        if (command === 'error' && value && phases.error.has(value.cmd)) host.failed(value.cmd, value.message, value)
        if (isReplaced() || isMapped(command)) globalThis.handleJSONRequest(command, JSON.stringify(value))
    }

    // An event. Its value is passed unchanged.
    host.happened = (name, value) => {
        if (!isReplaced() && !isMapped(name)) return
        happening = name
        try {
            globalThis.handleRequest(name, value)
        } finally {
            happening = undefined
        }
    }

    // Notes that a name is a command, so it is no event unless it is a value.
    host.isCommand = (command, isCalled = false) => {
        if (commands.get(command) || !isCalled && commands.has(command)) return
        const isNew = !commands.has(command)
        commands.set(command, isCalled)
        if (asked.has(command)) asked.set(command, isCalled)
        else if (isNew && events.delete(command)) askWhetherValue(command, true)
    }

    // A VCF of a value gets its events, whatever else is done with the name.
    function askWhetherValue(name, isSubscribed = false) {
        asked.set(name, commands.get(name))
        host.ask('subscribe', [name, {value: true}], refused(name, isSubscribed), accepted(name))
    }

    const accepted = name => () => { if (asked.delete(name)) events.add(name) }
    const refused = (name, isSubscribed) => error => {
        asked.delete(name)
        if (error.code !== 'notFound') host.console.warn(name + ': ' + error.message)
        if (isSubscribed && !host.isSubscribed(name)) host.ask('unsubscribe', [name], () => {})
    }

    host.hasQuestions = () => [...asked.values()].includes(true)

    host.forgetEvents = names => {
        for (const name of names || [...events, ...asked.keys()]) {
            events.delete(name)
            asked.delete(name)
        }
    }

    // The lines that ask again over a new connection.
    host.questions = () => [...asked.keys()].map(name => {
        return host.lineOf('subscribe', [name, {value: true}], accepted(name), refused(name, false))
    })

    // Subscribes to the names that VCFs were mapped to since the last time, unless they are known to be something else.
    host.subscribe = () => {
        if (unlooked.size === 0 || host.isFinishing()) return
        for (const name of unlooked) {
            unlooked.delete(name)
            if (replies.has(name) || events.has(name) || asked.has(name)) continue
            if (commands.has(name)) {
                askWhetherValue(name)
                continue
            }
            events.add(name)
            host.ask('subscribe', host.subscriptionOf(name), error => {
                events.delete(name)
                host.console.warn(name + ': ' + error.message)
            }, told => host.warned(told))
        }
    }

    // Whether the end of the turn has something to do.
    host.isUnsettled = () => unlooked.size > 0 && !host.isFinishing() || Array.isArray(globalThis.WVJBCallbacks)

    host.events = events

    const names = {validation: ['ValCF', 'ValCO'], business: ['BCF', 'BCO', 'DCF'], view: ['VCF', 'VCO'], error: ['ECF', 'ECO']}
    const qc = {STACK_CONTINUE: true, STACK_EXIT: 'ExIt_StAcK', WAIT_FOR_DATA: 'wait'}
    for (const [phase, kinds] of Object.entries(names)) {
        for (const kind of kinds) {
            globalThis['mapCommandTo' + kind] = (command, run) => map(phase, String(command), run)
            qc['mapCommandTo' + kind] = globalThis['mapCommandTo' + kind]
        }
    }
    for (const name of ['makeCall', 'makeCallSync', 'handleRequest', 'handleJSONRequest', 'handleError']) {
        qc[name] = (...values) => globalThis[name](...values)
    }
    globalThis.qc = qc
})
