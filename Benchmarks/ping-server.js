'use strict';

// The Node.js peer of the comparison: the same parse and the same reply line as quickconnectd.
// usage: node ping-server.js SOCKET

const net = require('node:net');

const prefix = 'call?';

// A command takes the call and returns its message, already escaped for the reply line.
const commands = new Map([
  ['ping', () => 'null'],
]);

// Most values hold no escape, and looking for one costs less than decoding.
function decode(text) {
  return text.includes('%') ? decodeURIComponent(text) : text;
}

// Most ids are plain digits, and looking at them costs less than encoding.
function encode(text) {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 48 || code > 57) return encodeURIComponent(text);
  }
  return text;
}

function set(call, key, value) {
  switch (key) {
    case 'cmd': call.cmd = value; break;
    case 'id': call.id = value; break;
    default: (call.parameters ??= new Map()).set(key, value);
  }
}

// Reads key=value&key=value from start up to end.
function parse(text, start, end) {
  const call = { cmd: '', id: '', parameters: undefined };
  while (start < end) {
    let next = text.indexOf('&', start);
    if (next < 0 || next > end) next = end;
    const equals = text.indexOf('=', start);
    if (equals >= 0 && equals < next) {
      set(call, decode(text.slice(start, equals)), decode(text.slice(equals + 1, next)));
    }
    start = next + 1;
  }
  return call;
}

function reply(call) {
  const command = commands.get(call.cmd);
  if (command === undefined) return '';
  return `handleJSONRequest?cmd=${call.cmd}&msg=${command(call)}&id=${encode(call.id)}\n`;
}

// A line that is no call, or calls no known command, is left unanswered.
function answer(text, start, end) {
  if (!text.startsWith(prefix, start)) return '';
  try {
    return reply(parse(text, start + prefix.length, end));
  } catch (error) {
    if (error instanceof URIError) return '';
    throw error;
  }
}

function serve(socket) {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk) => {
    const text = rest === '' ? chunk : rest + chunk;
    let replies = '';
    let start = 0;
    for (let end; (end = text.indexOf('\n', start)) >= 0; start = end + 1) {
      replies += answer(text, start, end);
    }
    rest = text.slice(start);
    // Replies are escaped, hence ASCII, which costs less to write as latin1.
    if (replies !== '' && !socket.write(replies, 'latin1')) {
      socket.pause();
      socket.once('drain', () => socket.resume());
    }
  });
  socket.on('error', () => socket.destroy());
}

net.createServer(serve).listen(process.argv[2]);
