// Holds conversations through the Node client: for each connection to the socket LISTEN it makes a client, says through
// its API what the lines ask for, and answers as the daemon would. Usage: driver.js LISTEN (the daemon: $QUICKCONNECT_SOCKET)
'use strict';
const net = require('node:net');
const readline = require('node:readline');
const { connect, QuickConnectError } = require('../../clients/javascript/quickconnect.js');

const encoded = encodeURIComponent;

function parsed(text) {
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return text;
  }
}

async function drive(socket) {
  const early = readline.createInterface({ input: socket, crlfDelay: Infinity });
  const [lines, calls, answers, offs, cancels] = [[], [], new Map(), new Map(), []];
  let take = (line) => lines.push(line);
  const ended = new Promise((resolve) => early.on('line', (line) => line && take(line)).on('close', resolve));
  socket.on('error', () => {});
  const client = await connect();
  const write = (line) => socket.write(line + '\n');

  const tell = (form, name, data) => {
    if (form === 'bridge') write(JSON.stringify({ handlerName: name, data }));
    else write(`handleJSONRequest?cmd=${encoded(name)}&msg=${encoded(JSON.stringify(data))}`);
  };
  const say = (form, command, outcome, id) => {
    if (form === 'bridge') return write(JSON.stringify({ ...(id !== undefined && { responseId: id }), ...outcome }));
    const end = id === undefined ? '' : `&id=${encoded(id)}`;
    write(`handleJSONRequest?cmd=${encoded(command)}&msg=${encoded(JSON.stringify(Object.values(outcome)[0]))}${end}`);
  };
  const handle = async (data, call) => {
    write(JSON.stringify(call.message));
    const message = await new Promise((resolve) => answers.set(call.callbackId, resolve));
    if (message.error) throw new QuickConnectError(message.error.code, message.error.message, message.error);
    Object.assign(call, { end: message.end, replyCommand: message.handlerName });
    return message.responseData;
  };
  const perform = async (form, command, parameters, signal) => {
    if (command === 'registerHandler') return client.handle(parameters[0], handle);
    if (command === 'removeHandler') return client.removeHandler(parameters[0]);
    if (command === 'subscribe') {
      for (const name of parameters) offs.set(name, await client.on(name, (data) => tell(form, name, data)));
    } else if (command === 'unsubscribe') {
      for (const name of parameters) await offs.get(name)();
    } else if (command === 'cancel') {
      for (const [id, controller] of cancels) if (id === parameters[0]) controller.abort();
    } else {
      return client.callWith({ signal }, command, ...parameters);
    }
  };
  const begin = (form, command, data, id) => {
    const parameters = Array.isArray(data) ? data : data == null ? [] : [data];
    const controller = new AbortController();
    cancels.push([id, controller]);
    const done = perform(form, command, parameters, controller.signal).then(
      (value) => id !== undefined && say(form, command, { responseData: value ?? null }, id),
      (error) => {
        if (error.name === 'AbortError') error = { details: { cmd: command, code: 'cancelled', message: 'cancelled' } };
        say(form, 'error', { error: error.details }, id);
      },
    );
    calls.push(done);
  };
  take = (line) => {
    if (line[0] !== '{') {
      const pairs = line.slice(line.indexOf('?') + 1).split('&').map((pair) => [pair.slice(0, pair.indexOf('=')), pair]);
      const { cmd, msg, id } = Object.fromEntries(
        pairs.map(([key, pair]) => [key, decodeURIComponent(pair.slice(key.length + 1))]),
      );
      return begin('url', cmd, parsed(msg), id);
    }
    const message = JSON.parse(line);
    if ('responseId' in message) return answers.get(message.responseId)?.(message);
    begin('bridge', message.handlerName, message.data, message.callbackId);
  };
  lines.forEach(take);
  await ended;
  await Promise.all(calls);
  client.close();
  socket.end();
}

net.createServer({ allowHalfOpen: true }, drive).listen(process.argv[2]);
