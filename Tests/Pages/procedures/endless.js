// Computes until somebody ends it.
function execute(callback) {
  for (;;) {}
}
