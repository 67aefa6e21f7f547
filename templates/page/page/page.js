const [text, count, press] = ['text', 'count', 'press'].map(id => document.getElementById(id))

// The count, now and at each change, whoever counts; and the event NAMESays, whose data is a text.
quickconnect.value('NAME', number => { count.textContent = number })
quickconnect.on('NAMESays', data => { text.textContent = data })

press.onclick = async () => {
    try {
        await quickconnect.add('NAME')
        await quickconnect.call('playSound', 0)
    } catch (error) {
        text.textContent = error.message
    }
}
