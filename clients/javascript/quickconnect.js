// SPDX-License-Identifier: Apache-2.0
'use strict';
/**
 * A client of QuickConnect for Linux, for Node 18 and newer: calls, events and handlers over the daemon's Unix socket.
 *
 *     const { connect } = require('./quickconnect.js');       // or: import { connect } from './quickconnect.js'
 *     const device = await connect();
 *     await device.call('playSound', 0);
 *
 * One file that needs nothing else. It restores a lost connection, with its handlers and subscriptions. Calls under way
 * then fail with ConnectionLost, because nobody knows whether they ran: no call is sent twice. Other calls wait for the
 * new connection.
 */
const fs = require('node:fs');
const net = require('node:net');
const { StringDecoder } = require('node:string_decoder');
const { inspect } = require('node:util');

const callsUnderWay = 1024; // At most this many on one connection; the others wait here, in order.
const eventsWaiting = 10000; // For a slow loop. Beyond that, the oldest are dropped, and event "dropped" reports it.
const [firstDelay, longestDelay] = [100, 5000]; // Milliseconds between attempts to connect again.

/**
 * An error reply. A handler can throw one to answer with its code. `code` is one of the protocol's; it is 'timeout' also
 * if this side stopped waiting. `details` is the whole error object, with `fields`, `nearest` and so on.
 */
class QuickConnectError extends Error {
  constructor(code, message, details) {
    super(message);
    this.name = 'QuickConnectError';
    this.code = code;
    this.details = { ...details, code, message };
  }
}

/** No daemon answers, or the connection ended before the reply. The code is 'connectionLost'. */
class ConnectionLost extends QuickConnectError {
  constructor(message = 'connection lost') {
    super('connectionLost', message);
    this.name = 'ConnectionLost';
  }
}

class Client {
  #paths;
  #patience;
  #socket = null;
  #closed = false;
  #delay = firstDelay;
  #number = 0;
  #waiting = new Map(); // id → {line, resolve, reject, then}, in order
  #underWay = new Map();
  #handlers = new Map(); // What was registered with the daemon, to be registered again.
  #subscriptions = new Map();
  #listeners = new Map();
  #streams = new Set();
  #looks = new Set(); // Each reads a value that is listened to.
  #serving = new Map(); // The AbortController of each call to one of our handlers that ends with its caller.
  #timer;

  /**
   * socket: the daemon's; by default $QUICKCONNECT_SOCKET, or the system's or the user's, whichever accepts first.
   * wait: what the first connection does if no daemon answers: false fails at once, true waits for one, and a number waits
   * for so many milliseconds. Anything else is a TypeError.
   */
  constructor(options = {}) {
    const { socket, wait = false, ...others } = Object(options);
    if (typeof options !== 'object' || Object.keys(others).length) {
      throw new TypeError(`connect takes {socket: '/run/…', wait: true or milliseconds}, not ${inspect(options)}`);
    }
    this.#patience = wait === true ? Infinity : Number(wait);
    const { QUICKCONNECT_SOCKET, XDG_RUNTIME_DIR } = process.env;
    const named = socket || QUICKCONNECT_SOCKET;
    const runtime = XDG_RUNTIME_DIR || `/run/user/${process.getuid()}`;
    this.#paths = named ? [named] : ['/run/quickconnect/quickconnect.sock', `${runtime}/quickconnect.sock`];
  }

  /** Rejects with ConnectionLost if no daemon answers, with `wait` only after that time. */
  async connect() {
    const end = Date.now() + this.#patience;
    for (let isTold = false; ; isTold = true) {
      try {
        return await this.#open();
      } catch (error) {
        const left = end - Date.now();
        if (left <= 0 || this.#closed) throw new ConnectionLost(error.message + this.#advice(error));
        if (!isTold) console.warn(`${error.message}; waiting for one`);
        await new Promise((resolve) => setTimeout(resolve, Math.min(this.#nextDelay(), left)));
      }
    }
  }

  async #open() {
    const failures = [];
    for (const path of this.#paths) {
      try {
        this.#begin(await opened(path));
        return this;
      } catch (error) {
        const isOther = error.code === 'ECONNREFUSED' && fs.statSync(path, { throwIfNoEntry: false })?.isSocket() === false;
        failures.push(`${path}: ${isOther ? 'it is no socket' : error.code}`);
      }
    }
    throw new ConnectionLost(`no daemon answers: ${failures.join('; ')}`);
  }

  #advice(error) {
    if (error.message.includes('it is no socket')) return '';
    if (error.message.includes('EACCES')) return '; «quickconnect call ping» says who may connect';
    return this.#paths.length === 1
      ? `. Is the daemon of this socket running? To try one: «quickconnectd --simulate --socket ${this.#paths[0]}»`
      : '. Is the daemon running? To try it: «quickconnectd --simulate»; one with a socket of its own needs connect({ socket })';
  }

  get connected() {
    return this.#socket !== null;
  }

  /** Closes the connection. Calls without a reply fail, and iterations over events end. */
  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#lost(this.#socket, 'the client was closed');
    for (const stream of this.#streams) stream.end();
  }

  /** Calls a command. Resolves to the reply's value, or rejects with QuickConnectError. */
  call(command, ...parameters) {
    return this.#request(command, parameters);
  }

  /**
   * The same, but cancels the call, in the daemon too, after `timeout` milliseconds or through an AbortSignal. A daemon that
   * stood still may have done it nevertheless.
   */
  async callWith(options, command, ...parameters) {
    const { timeout, signal, ...others } = Object(options);
    const isObject = Object.prototype.toString.call(options) === '[object Object]'; // No signal without its name, and no list.
    const isTime = timeout === undefined || (timeout >= 0 && timeout < 2 ** 31);
    if (!isObject || Object.keys(others).length || !isTime) {
      throw new TypeError(`callWith takes {timeout: milliseconds, signal: AbortSignal}, not ${inspect(options)}`);
    }
    return this.#request(command, parameters, { timeout, signal });
  }

  /**
   * Answers the calls to a handler with what `answer(data, call)` returns, async or not, or with what it throws. `call` has
   * parameters (data as a list, whoever calls), command, phase, results (of the earlier command objects), caller, and error in the error phase; set `call.end = true` to
   * end the stack, `call.replyCommand` to reply under another name. Rejects with 'busy' if another client has the name; if
   * no call can come, a warning of the console says what mends it.
   *
   * With `endsWithCaller`, for what a user sees, such as a dialog: `call.signal`, an AbortSignal, aborts when nobody waits
   * for the answer any more.
   */
  async handle(name, answer, options = {}) {
    needsFunction('handle', answer);
    const { endsWithCaller = false, ...others } = Object(options);
    if (Object.keys(others).length) throw new TypeError(`handle takes {endsWithCaller: true}, not ${inspect(options)}`);
    const parameters = endsWithCaller ? [name, { cancel: true }] : [name];
    await this.#request('registerHandler', parameters, {
      then: (told) => (this.#handlers.set(name, { answer, parameters, endsWithCaller }), warn(told)),
    });
  }

  async removeHandler(name) {
    await this.#request('removeHandler', [name], { then: () => this.#handlers.delete(name) });
  }

  /** Calls `listener(data, name)` for each event of a name or list of names. Resolves to an async function that stops it. */
  async on(names, listener, options) {
    needsFunction('on', listener);
    names = [names].flat();
    const own = (data, name) => listener(data, name); // The same function may listen twice.
    for (const name of names) this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), own]);
    const off = async () => {
      for (const name of names) this.#listeners.set(name, this.#listeners.get(name).filter((each) => each !== own));
      const gone = names.filter((name) => !this.#listeners.get(name).length && this.#subscriptions.delete(name));
      if (gone.length && this.#socket) await this.#request('unsubscribe', gone);
    };
    try {
      const then = (told) => (names.forEach((name) => this.#subscriptions.set(name, options)), warn(told));
      await this.#request('subscribe', [...names, ...(options ? [options] : [])], { then });
    } catch (error) {
      await off();
      throw error;
    }
    return off;
  }

  /**
   * Calls `listener(value, name)` with the present value, at each change, and after a lost connection if it has changed.
   * Resolves to an async function that stops it. Without a listener, resolves to the present value. Rejects with 'notFound'
   * if there is no value of that name.
   */
  async value(name, listener) {
    takesTwo('value', arguments);
    const isOnce = arguments.length < 2;
    if (!isOnce) needsFunction('value', listener);
    let last;
    const changed = (value) => {
      const text = JSON.stringify(value);
      if (text === last) return;
      last = text;
      listener(value, name);
    };
    const off = await this.on(name, isOnce ? () => {} : changed, { value: true });
    if (isOnce) return this.call(name).finally(() => void off().catch(() => {}));
    const look = async () => {
      const value = await this.call(name);
      if (this.#looks.has(look)) this.#guard(changed, value, name);
    };
    const end = () => (this.#looks.delete(look), off());
    this.#looks.add(look);
    await look().catch((error) => end().catch(() => {}).then(() => Promise.reject(error)));
    return end;
  }

  /** Sets a value. Resolves to what it became, for example after clamping. */
  async set(name, value) {
    takesTwo('set', arguments);
    if (JSON.stringify([value]) === '[null]') throw new TypeError(`${name} cannot be set to ${value}`);
    return this.call(name, value);
  }

  /** Adds to a value that is a number, in one step: no count is lost. Resolves to what it became. */
  async add(name, number = 1) {
    takesTwo('add', arguments);
    return this.call(name, null, { add: number });
  }

  /** Sends an event to those who listen to it. */
  async post(event, data = null) {
    takesTwo('post', arguments);
    return this.call('post', event, data);
  }

  /** The events of a name or list of names: `for await (const { name, data } of await device.events('playState'))`. */
  async events(names, options) {
    const [waiting, dropped] = [[], new Map()];
    let [wake, ended, off] = [() => {}, false, null];
    const stream = { end: () => ((ended = true), wake()) };
    this.#streams.add(stream);
    const put = (data, name) => {
      if (waiting.push({ name, data }) > eventsWaiting) {
        const oldest = waiting.shift().name;
        dropped.set(oldest, (dropped.get(oldest) ?? 0) + 1);
      }
      wake();
    };
    const finish = async () => {
      stream.end();
      if (!this.#streams.delete(stream)) return { done: true };
      await off?.();
      return { done: true };
    };
    off = await this.on(names, put, options).catch((error) => finish().then(() => Promise.reject(error)));
    const next = async () => {
      while (!waiting.length && !ended) await new Promise((resolve) => (wake = resolve));
      for (const [event, count] of dropped) {
        dropped.delete(event);
        return { value: { name: 'dropped', data: { event, count } } };
      }
      return waiting.length ? { value: waiting.shift() } : { done: true };
    };
    return { next, return: finish, [Symbol.asyncIterator]() { return this; } };
  }

  #request(command, parameters, { timeout, signal, then, first } = {}) {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new ConnectionLost('the client is closed');
      if (signal?.aborted) throw signal.reason;
      const id = String(++this.#number);
      const end = (settle) => (value) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', aborted);
        settle(value);
      };
      const call = { line: callLine(command, parameters, id), resolve: end(resolve), reject: end(reject), then };
      const giveUp = (reason) => {
        call.then = undefined;
        call.reject(reason);
        // If it is under way, it keeps its place until the daemon has answered it.
        if (!this.#waiting.delete(id) && this.#underWay.has(id)) this.#write(callLine('cancel', [id]));
      };
      const aborted = () => giveUp(signal.reason);
      const late = () => giveUp(new QuickConnectError('timeout', `${command} was not answered within ${timeout} ms`));
      const timer = timeout === undefined ? undefined : setTimeout(late, timeout);
      signal?.addEventListener('abort', aborted);
      if (first) {
        this.#underWay.set(id, call);
        this.#write(call.line);
      } else {
        this.#waiting.set(id, call);
        this.#pump();
      }
    });
  }

  #pump() {
    for (const [id, call] of this.#waiting) {
      if (!this.#socket || this.#underWay.size >= callsUnderWay) return;
      this.#waiting.delete(id);
      this.#underWay.set(id, call);
      this.#write(call.line);
    }
  }

  #write(line) {
    this.#socket?.write(line);
  }

  #begin(socket) {
    if (this.#closed) return socket.destroy();
    this.#socket = socket;
    const decoder = new StringDecoder('utf8');
    let parts = [];
    socket.on('data', (bytes) => {
      const lines = decoder.write(bytes).split('\n');
      for (const line of lines.slice(0, -1)) {
        const whole = parts.length ? parts.join('') + line : line;
        parts = [];
        if (whole) this.#receive(whole, socket);
      }
      if (lines.at(-1)) parts.push(lines.at(-1));
    });
    socket.on('error', () => {}); // «close» follows.
    socket.on('close', () => this.#lost(socket));
    for (const { parameters } of this.#handlers.values()) this.#restore('registerHandler', parameters, this.#handlers);
    for (const [name, options] of this.#subscriptions) {
      this.#restore('subscribe', options ? [name, options] : [name], this.#subscriptions);
    }
    const failed = (error) => error.code === 'connectionLost' || console.error(`a value: ${error.message}`);
    for (const look of this.#looks) look().catch(failed);
    this.#pump();
  }

  #restore(command, parameters, wanted) {
    if (!wanted.has(parameters[0]) || !this.#socket) return;
    this.#request(command, parameters, { first: true }).then(warn, (error) => {
      // The daemon may still know the handler's name from the lost connection, or keep too much for this user at the moment.
      if (error.code === 'busy' || error.code === 'overloaded') setTimeout(() => this.#restore(command, parameters, wanted), 1000);
      else if (error.code !== 'connectionLost') console.error(`${command} ${parameters[0]}: ${error.message}`);
    });
  }

  #receive(line, socket) {
    this.#delay = firstDelay;
    if (line[0] !== '{') return console.error(`the daemon said: ${line}`);
    let message;
    try {
      message = JSON.parse(line);
    } catch (error) {
      return socket.destroy(error); // No daemon.
    }
    if ('responseId' in message) this.#answer(message);
    else if ('callbackId' in message) this.#serve(message, socket);
    else if (message.handlerName === 'cancel') message.data.forEach((id) => this.#serving.get(id)?.abort());
    else if ('handlerName' in message) this.#tell(message.handlerName, message.data);
    else console.error('the daemon said:', message.error);
  }

  #answer({ responseId, responseData, error }) {
    const call = this.#underWay.get(responseId);
    this.#underWay.delete(responseId);
    this.#pump();
    if (!call) return;
    if (error) return call.reject(new QuickConnectError(error.code, error.message, error));
    call.then?.(responseData); // Before the next line, which may depend on it.
    call.resolve(responseData);
  }

  #tell(name, data) {
    for (const listener of this.#listeners.get(name) ?? []) this.#guard(listener, data, name);
  }

  #guard(listener, data, name) {
    try {
      listener(data, name);
    } catch (error) {
      console.error(`a function that was told of the event ${name} failed:`, error); // Must not stop the other listeners.
    }
  }

  async #serve(message, socket) {
    const [name, responseId] = [message.handlerName, message.callbackId];
    const abort = new AbortController();
    const { data } = message;
    const parameters = Array.isArray(data) ? data : data == null ? [] : [data];
    const call = { ...message, parameters, message, signal: abort.signal };
    let answer;
    try {
      const handler = this.#handlers.get(name);
      if (!handler) throw new QuickConnectError('unavailable', `no handler '${name}' here`);
      if (handler.endsWithCaller) this.#serving.set(responseId, abort);
      const responseData = (await handler.answer(message.data, call)) ?? null;
      const { end, replyCommand } = call;
      answer = lineOf({ responseId, responseData, ...(replyCommand && { handlerName: replyCommand }), ...(end && { end }) });
    } catch (error) {
      if (!(error instanceof QuickConnectError)) console.error(`the handler ${name} failed:`, error);
      const details = error instanceof QuickConnectError ? error.details : { message: String(error?.message || error) };
      answer = lineOf({ responseId, error: details });
    }
    if (this.#serving.get(responseId) === abort) this.#serving.delete(responseId);
    if (socket === this.#socket && !abort.signal.aborted) this.#write(answer);
  }

  #lost(socket, reason) {
    if (socket !== this.#socket) return;
    socket?.unref().destroySoon(); // What was written is still sent.
    this.#socket = null;
    for (const abort of this.#serving.values()) abort.abort();
    this.#serving.clear();
    const lost = [...this.#underWay.values(), ...(this.#closed ? this.#waiting.values() : [])];
    this.#underWay.clear();
    if (this.#closed) this.#waiting.clear();
    else this.#reconnect();
    for (const call of lost) call.reject(new ConnectionLost(reason));
  }

  #reconnect() {
    this.#timer = setTimeout(() => this.#open().catch(() => this.#reconnect()), this.#nextDelay());
  }

  #nextDelay() {
    const delay = this.#delay;
    this.#delay = Math.min(delay * 1.1, longestDelay); // Until a daemon sends something.
    return delay;
  }
}

/** Connects a client; takes the options of Client. */
const connect = async (options) => new Client(options).connect();

/** What the daemon adds to its answer for the log, such as that no call comes to a handler. */
function warn(answer) {
  if (answer?.warning) console.warn(answer.warning);
}

/** What is behind them would be dropped; without `for` a door stays open. */
function takesTwo(word, values) {
  if (values.length < 3) return;
  const whole = { breakLength: Infinity, depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity };
  const call = inspect([...values], whole).slice(2, -2);
  throw new TypeError(word === 'set' ? `a value with options is a call: device.call(${call})` : `${word} takes 2 arguments`);
}

function needsFunction(word, run) {
  if (typeof run !== 'function') throw new TypeError(`${word} needs a function, not ${run}`);
}

function opened(path) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(path);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}

function callLine(handlerName, parameters, callbackId) {
  // One parameter that is not a list is sent without a list: the call is the same, and a handler gets it as it was given.
  const alone = parameters.length === 1 && !Array.isArray(parameters[0]) && parameters[0] != null;
  const data = alone ? parameters[0] : parameters.length ? parameters : undefined;
  return lineOf({ handlerName, data, callbackId });
}

function lineOf(message) {
  return JSON.stringify(message) + '\n';
}

module.exports = { Client, ConnectionLost, QuickConnectError, connect };
