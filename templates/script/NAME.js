// Counts each NAMEPressed, plays a sound, and answers the command NAME. The device's service runs it in /etc/quickconnect/scripts.

quickconnect.on('NAMEPressed', async () => {
    try {
        console.log(`count: ${await quickconnect.add('NAMECount')}`)
        await quickconnect.call('playSound', 0)
    } catch (error) {
        console.error(error.message)    // what nobody catches ends the script; without a sound card it still counts
    }
})

quickconnect.handle('NAME', async (data, call) => {
    const whom = call.parameters[0] ?? 'you'
    return `Hello ${whom}, the count is ${await quickconnect.value('NAMECount')}.`
})
