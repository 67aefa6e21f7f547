// What a program does with the Node client, line by line as scenarios.py says it. Usage: scenarios.js SCENARIO [wait|SECONDS]
'use strict';
const { connect, QuickConnectError } = require('../../clients/javascript/quickconnect.js');

const UNICODE = 'é e\u0301 😀 \u2028 "\\\n\u0000 ' + 'ü'.repeat(1000);
const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));
const say = (name, value = null) => console.log(name, JSON.stringify(value));
const attempt = async (name, promise, ...keys) => {
  try {
    say(name, await promise);
  } catch (error) {
    if (!(error instanceof QuickConnectError)) throw error;
    say(name, [error.code, ...keys.map((key) => error.details[key] ?? null)]);
  }
};

const scenarios = {
  async calls(device) {
    say('ping', await device.call('ping'));
    await attempt('unknown', device.call('helo'), 'cmd', 'nearest');
    await device.call('hello', 1, 2).catch(({ code, details }) => {
      say('invalid', [code, details.fields.map(({ field }) => field)]);
    });
    await attempt('too large', device.call('logMessage', 'x'.repeat(5 << 20)));
    await attempt('after', device.call('ping'));
    device.close();
    await attempt('closed', device.call('ping'), 'message');
  },

  async handlers(device) {
    const other = await connect();
    const failing = () => {
      throw new RangeError('out of paper');
    };
    await device.handle('echo', (data) => data);
    await device.handle('slow', async (data, call) => {
      await sleep(0.01);
      return [data, call.command, call.phase, call.results];
    });
    await device.handle('failing', failing);
    await device.handle('refusing', () => {
      throw new QuickConnectError('notFound', 'no such page', { field: '/0' });
    });
    await device.handle('unwritable', () => 1n);
    say('unicode', (await other.call('echo', UNICODE)) === UNICODE);
    say('none', await other.call('echo'));
    say('one', await other.call('echo', { a: [1] }));
    say('list', await other.call('echo', [1, 2]));
    say('two', await other.call('echo', 1, null));
    say('slow', await other.call('slow', 7));
    await attempt('failing', other.call('failing'), 'message', 'handler');
    await attempt('refusing', other.call('refusing'), 'message', 'field');
    await attempt('busy', other.handle('echo', failing));
    say('own', await device.call('echo', 'own'));
    await device.removeHandler('echo');
    await attempt('removed', other.call('echo'));
    await other.handle('echo', () => 'other');
    say('other', await device.call('echo'));
    await other.call('unwritable').catch(({ code }) => say('unwritable', code));
    other.close();
  },

  async hidden(device) {
    await device.handle('ping', () => 'mine');
    await device.handle('rings', () => 7);
    say('ping', await device.call('ping'));
  },

  async parameters(device) {
    say('swift', await device.call('brighten', 0.5));
    await device.handle('all', (data, call) => call.parameters);
    const other = await connect();
    for (const values of [[], [0.5], [{ a: [1] }], [[1, 2]], [1, null]]) say('all', await other.call('all', ...values));
    other.close();
  },

  async words(device) {
    const wrong = async (name, word, ...values) => {
      say(name, await device[word](...values).then((value) => ['done', value], (error) => [error.code ?? error.name]));
    };
    const [seen, heard] = [[], []];
    say('present', await device.value('innerProgress'));
    const off = await device.value('innerProgress', (value) => seen.push(value));
    await device.on('doorbell', (data, name) => heard.push([name, data]));
    const became = [];
    for (const value of [99, 10, 4]) became.push(await device.set('innerProgress', value));
    say('set', became);
    await device.post('doorbell', { door: 'front' });
    await device.post('doorbell');
    await device.call('ping');
    say('seen', seen);
    say('heard', heard);
    await off();
    say('added', [await device.add('innerProgress'), await device.add('innerProgress', -0.5)]);
    say('ended', seen.length);
    await wrong('nothing', 'value', 'inerProgress');
    await wrong('command', 'value', 'stop');
    await wrong('listened', 'value', 'stop', () => {});
    await wrong('no value', 'set', 'inerProgress', 1);
    await wrong('unfit', 'set', 'innerProgress', 'x');
    await wrong('no number', 'add', 'innerProgress', 'x');
    await wrong('own', 'post', 'playState');
    await wrong('no function', 'value', 'innerProgress', 7);
    await wrong('on', 'on', 'doorbell', 7);
    await wrong('handle', 'handle', 'rings', 7);
    await wrong('null', 'set', 'innerProgress', null);
    for (const word of ['set', 'add']) await wrong('surplus', word, 'innerProgress', 1, { for: '3s' });
  },

  async values(device) {
    await device.value('innerProgress', (value) => say('value', value));
    await new Promise(() => {});
  },

  async events(device) {
    const heard = [];
    const off = await device.on(['news', 'weather'], (data, name) => heard.push([name, data]));
    const stream = await device.events('news');
    for (const number of [1, 2, 3]) await device.call('post', 'news', number);
    const read = [];
    for await (const { data } of stream) {
      read.push(data);
      if (read.length === 3) break;
    }
    say('stream', read);
    await device.call('post', 'weather', { sun: '☀' });
    say('heard', heard);
    await off();
    await device.call('post', 'news', 5);
    await device.call('post', 'weather', 5);
    say('after', heard.length);
    await attempt('denied', device.call('post', 'playState', 1));
    await attempt('options', device.events('news', { rate: 1 }));

    const last = await device.events('last');
    await device.call('post', 'last', 1);
    const ending = (async () => {
      const all = [];
      for await (const { data } of last) all.push(data);
      return all;
    })();
    device.close();
    say('ended', await ending);
  },

  async burst(device) {
    const replies = await Promise.all(Array.from({ length: 10_000 }, () => device.call('hello')));
    say('replies', replies.filter(({ program }) => program === 'quickconnectd').length);
    let [underWay, most] = [0, 0];
    let fill;
    const full = new Promise((resolve) => { fill = resolve; });
    const other = await connect();
    await other.handle('slow', async (data) => {
      most = Math.max(most, ++underWay);
      if (most === 1024) fill();
      await full;
      underWay--;
      return data;
    });
    const numbers = await Promise.all(Array.from({ length: 3000 }, (_, number) => device.call('slow', number)));
    say('slow', numbers.every((number, index) => number === index));
    say('most', most);
    other.close();
  },

  async frozen(device) {
    say('ready');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    process.stdin.destroy();
    await attempt('frozen', device.callWith({ timeout: 300 }, 'ping'));
    const many = Array.from({ length: 3000 }, () => device.callWith({ timeout: 300 }, 'ping'));
    const results = await Promise.allSettled(many);
    say('many', results.filter(({ reason }) => reason?.code === 'timeout').length);
    say('thaw');
    await attempt('thawed', device.call('ping'));
  },

  async ends(device) {
    const [shown, gone] = [[], []];
    const next = async (queue) => {
      while (!queue.length) await sleep(0.01);
      return queue.shift();
    };
    const dialog = (data, call) => {
      if (data === 'answer') return 'chosen';
      shown.push(data);
      return new Promise((resolve) => {
        call.signal.addEventListener('abort', () => resolve(gone.push([data, call.signal.aborted])));
      });
    };
    await device.handle('dialog', dialog, { endsWithCaller: true });
    const other = await connect();
    const controller = new AbortController();
    const cancelled = other.callWith({ signal: controller.signal }, 'dialog', 'cancelled').catch(() => {});
    await next(shown);
    controller.abort();
    await cancelled;
    say('ended', await next(gone));
    say('answered', await other.call('dialog', 'answer'));
    const left = other.call('dialog', 'left');
    left.catch(() => {}); // Looked at below.
    await next(shown);
    other.close();
    say('ended', await next(gone));
    await attempt('left', left);
    say('place', await device.call('dialog', 'answer'));
  },

  async cancelled(device) {
    let started;
    const under = new Promise((resolve) => (started = resolve));
    await device.handle('never', () => {
      started();
      return new Promise(() => {});
    });
    const controller = new AbortController();
    const call = device.callWith({ signal: controller.signal }, 'never').catch(({ name }) => name);
    await under;
    controller.abort();
    say('cancelled', (await call) === 'AbortError');
    const many = Array.from({ length: 2000 }, () => device.callWith({ timeout: 500 }, 'never'));
    const results = await Promise.allSettled(many);
    say('timeouts', results.filter(({ reason }) => reason?.code === 'timeout').length);
    // There is a place for it only if the daemon has cancelled those before.
    await attempt('place', device.callWith({ timeout: 10000 }, 'ping'));
  },

  async reconnect(device) {
    let rings = 0;
    await device.handle('never', () => new Promise(() => {}));
    await device.handle('rings', () => ++rings);
    await device.on('news', (data) => say('news', data));
    const underWay = attempt('lost', device.call('never'), 'message');
    await device.call('ping');
    say('ready');
    await underWay;
    await attempt('meanwhile', device.callWith({ timeout: 50 }, 'ping'));
    await attempt('later', device.call('ping'));
    say('rings', await device.call('rings'));
    await sleep(1000);
  },

  async renewed(device) {
    await device.handle('first', () => void device.removeHandler('first'));
    await device.handle('second', () => 'second');
    say('ready');
    await sleep(1000);
  },
};

const [scenario, limit = '0'] = process.argv.slice(2);
connect({ wait: limit === 'wait' || Number(limit) * 1000 }).then(
  async (device) => {
    await scenarios[scenario](device);
    device.close();
  },
  (error) => say('failed', [error.code, error.message]),
);
