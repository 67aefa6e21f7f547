function execute(...values) {
  const none = undefined
  return none.length
}
