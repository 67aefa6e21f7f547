'use strict';

// The Node.js peer of a script's command: a server that answers the same lines, and runs what a command does in a
// process of its own, as quickconnectd does.
// usage: node script-server.js SOCKET fork|pipe
//   fork: child_process.fork, a message for each call.
//   pipe: the child's standard input and output, many lines in one write: the quickest way that Node has.

const { fork, spawn } = require('node:child_process');
const net = require('node:net');

// Calls `take` for each whole line of a stream, and `done` after each chunk.
function lines(stream, take, done = () => {}) {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk) => {
    const all = (rest + chunk).split('\n');
    rest = all.pop();
    for (const line of all) take(line);
    done();
  });
}

const handlers = { twice: (data) => data[0] * 2 };

function answer(message) {
  return { responseId: message.callbackId, responseData: handlers[message.handlerName](message.data) };
}

function work(kind) {
  if (kind === 'fork') return process.on('message', (message) => process.send(answer(message)));
  let out = '';
  lines(process.stdin, (line) => { out += JSON.stringify(answer(JSON.parse(line))) + '\n'; }, () => {
    process.stdout.write(out);
    out = '';
  });
}

// What the parent gives to the worker: send(message), and done() after each chunk.
function startWorker(kind, take) {
  if (kind === 'fork') {
    const child = fork(__filename, ['--work', kind]);
    child.on('message', take);
    return { send: (message) => child.send(message), done() {} };
  }
  const child = spawn(process.execPath, [__filename, '--work', kind], { stdio: ['pipe', 'pipe', 'inherit'] });
  let out = '';
  lines(child.stdout, (line) => take(JSON.parse(line)));
  return {
    send(message) { out += JSON.stringify(message) + '\n'; },
    done() {
      child.stdin.write(out);
      out = '';
    },
  };
}

function parameters(text) {
  const value = JSON.parse(text);
  return Array.isArray(value) ? value : [value];
}

function serve(path, kind) {
  const waiting = new Map();
  let count = 0;
  const worker = startWorker(kind, ({ responseId, responseData }) => {
    const { socket, command, id } = waiting.get(responseId);
    waiting.delete(responseId);
    const message = encodeURIComponent(JSON.stringify(responseData));
    socket.out += `handleJSONRequest?cmd=${command}&msg=${message}&id=${encodeURIComponent(id)}\n`;
    if (socket.isScheduled) return;
    socket.isScheduled = true;
    setImmediate(() => {
      socket.isScheduled = false;
      socket.write(socket.out);
      socket.out = '';
    });
  });
  net.createServer((socket) => {
    socket.out = '';
    lines(socket, (line) => {
      const call = {};
      for (const pair of line.slice('call?'.length).split('&')) {
        const equals = pair.indexOf('=');
        call[pair.slice(0, equals)] = decodeURIComponent(pair.slice(equals + 1));
      }
      const callbackId = 'q' + ++count;
      waiting.set(callbackId, { socket, command: call.cmd, id: call.id });
      worker.send({ handlerName: call.cmd, data: parameters(call.msg), callbackId });
    }, () => worker.done());
    socket.on('error', () => socket.destroy());
  }).listen(path);
}

if (process.argv[2] === '--work') work(process.argv[3]);
else serve(process.argv[2], process.argv[3]);
