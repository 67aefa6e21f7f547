#!/usr/bin/env -S quickconnect run
// A talking clock: says the time at each full quarter of an hour, with words that you have recorded:
//
//     quickconnect call rec words/seven.wav        say «seven»
//     quickconnect call rec words/seven.wav stop
//
// It needs words/it-is.wav, and for each number that it says a file: words/0.wav, words/15.wav, …
// «quickconnect run Examples/talking-clock.js now» says the time once, and ends.

// The files that are being waited for: each with what is to be done when it has been heard.
const playing = new Map()

mapCommandToVCF('playState', (data, {file, state}) => {
    const done = playing.get(file)
    if (!done || !['ended', 'stopped', 'failed'].includes(state)) return
    playing.delete(file)
    done()
})

async function say(word) {
    const file = 'words/' + word + '.wav'
    const heard = new Promise(resolve => playing.set(file, resolve))
    await makeCall('play', [file, 'start'])
    await heard
}

async function sayTime(time) {
    for (const word of ['it-is', time.getHours(), time.getMinutes()]) await say(word)
}

function sayNextQuarter() {
    const quarter = 15 * 60 * 1000
    const next = new Date(Math.ceil((Date.now() + 1) / quarter) * quarter)
    // A quarter that it cannot say, without a sound card or a word's file, is not the last one.
    const problem = error => console.error(error.message)
    setTimeout(() => sayTime(next).catch(problem).then(sayNextQuarter), next - Date.now())
}

if (script.arguments[0] === 'now') {
    sayTime(new Date()).then(() => makeCall('unsubscribe', ['playState']))
} else {
    sayNextQuarter()
}
