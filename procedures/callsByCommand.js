// How often each command was called: execute(start, end, callback), the most frequent first.
// It counts entries of the kind «call» whose data is {command}; docs/procedures.md shows how they come about.
function execute(start, end, callback) {
  const counts = new Map()
  for (const { data } of Context.context().query({ kind: 'call', from: start, to: end })) {
    const command = data?.command
    if (typeof command === 'string') counts.set(command, (counts.get(command) ?? 0) + 1)
  }
  callback([...counts].map(([command, calls]) => ({ command, calls }))
    .sort((a, b) => b.calls - a.calls || (a.command < b.command ? -1 : 1)))
}
