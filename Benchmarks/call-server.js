'use strict';

// The Node.js peer: the same lines, the same parse, a stack of command objects for each command, the same replies.
// usage: node call-server.js SOCKET

const net = require('node:net');

const prefix = 'call?';
const subscribers = new Map();

// The command objects. A validation gives what is wrong or null, a business object a result, a view the reply's value.

class NoParametersValCO {
  check(parameters) { return parameters.length === 0 ? null : 'no parameters'; }
}

class PostValCO {
  check(parameters) {
    if (parameters.length < 1 || parameters.length > 2) return 'a name and data';
    const name = parameters[0];
    return typeof name === 'string' && Buffer.byteLength(name) <= 128 ? null : 'a name of at most 128 bytes';
  }
}

class PostBCO {
  run(parameters) {
    const list = subscribers.get(parameters[0]);
    if (list !== undefined) for (const send of list) send(parameters[0], parameters[1]);
    return null;
  }
}

class NothingBCO {
  run() { return null; }
}

class LastResultVCO {
  show(parameters, results) { return results[results.length - 1]; }
}

const commands = new Map([
  ['ping', { validation: new NoParametersValCO(), business: new NothingBCO(), view: new LastResultVCO() }],
  ['post', { validation: new PostValCO(), business: new PostBCO(), view: new LastResultVCO() }],
]);

class CallError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

function run(name, parameters) {
  const command = commands.get(name);
  if (command === undefined) throw new CallError('unknownCommand', `no command '${name}'`);
  const wrong = command.validation.check(parameters);
  if (wrong !== null) throw new CallError('invalid', `expected ${wrong}`);
  const results = [command.business.run(parameters)];
  return command.view.show(parameters, results);
}

// An absent message and null are no parameter, an array holds them, anything else is the one.
function parametersOf(value) {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

function parseMessage(text) {
  if (text === '') return [];
  try {
    return parametersOf(JSON.parse(text));
  } catch {
    return [text];
  }
}

// Most values hold no escape, and looking for one costs less than decoding.
function decode(text) {
  return text.includes('%') ? decodeURIComponent(text) : text;
}

// call?key=value&key=value, in any order.
function parseCall(line) {
  const call = { cmd: '', msg: '', id: undefined };
  let start = prefix.length;
  while (start < line.length) {
    let next = line.indexOf('&', start);
    if (next < 0) next = line.length;
    const equals = line.indexOf('=', start);
    if (equals < 0 || equals >= next) throw new CallError('badRequest', 'a pair without =');
    const value = decode(line.slice(equals + 1, next));
    switch (decode(line.slice(start, equals))) {
      case 'cmd': call.cmd = value; break;
      case 'msg': call.msg = value; break;
      case 'id': call.id = value; break;
      default: throw new CallError('badRequest', 'an unknown key');
    }
    start = next + 1;
  }
  return call;
}

function urlReply(command, value, id) {
  const reply = `handleJSONRequest?cmd=${encodeURIComponent(command)}&msg=${encodeURIComponent(JSON.stringify(value))}`;
  return id === undefined ? `${reply}\n` : `${reply}&id=${encodeURIComponent(id)}\n`;
}

function errorValue(error, cmd) {
  const code = error instanceof CallError ? error.code : 'badRequest';
  return { cmd, code, message: error.message };
}

function answerURL(line) {
  let call = { cmd: '', id: undefined };
  try {
    if (!line.startsWith(prefix)) throw new CallError('badRequest', 'no call');
    call = parseCall(line);
    return urlReply(call.cmd, run(call.cmd, parseMessage(call.msg)), call.id);
  } catch (error) {
    return urlReply('error', errorValue(error, call.cmd), call.id);
  }
}

function answerBridge(line) {
  let message = {};
  try {
    message = JSON.parse(line);
    const value = run(message.handlerName, parametersOf(message.data));
    return `${JSON.stringify({ responseId: message.callbackId, responseData: value })}\n`;
  } catch (error) {
    return `${JSON.stringify({ responseId: message.callbackId, error: errorValue(error, message.handlerName) })}\n`;
  }
}

function answer(line) {
  if (line === '') return '';
  return line[0] === '{' ? answerBridge(line) : answerURL(line);
}

function serve(socket) {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk) => {
    const text = rest === '' ? chunk : rest + chunk;
    let replies = '';
    let start = 0;
    for (let end; (end = text.indexOf('\n', start)) >= 0; start = end + 1) replies += answer(text.slice(start, end));
    rest = text.slice(start);
    if (replies !== '' && !socket.write(replies)) {
      socket.pause();
      socket.once('drain', () => socket.resume());
    }
  });
  socket.on('error', () => socket.destroy());
}

net.createServer(serve).listen(process.argv[2]);
