#!/usr/bin/env node
// Plays a sound when somebody posts «doorbell», and answers the command «rings»:  node Examples/node/door-bell.js
const { connect } = require('../../clients/javascript/quickconnect.js');

connect().then(async (device) => {
  let rings = 0;
  await device.handle('rings', () => rings);
  for await (const { data } of await device.events('doorbell')) {
    rings += 1;
    console.log(`somebody is at the ${data?.door ?? 'front'} door`);
    // Without a sound card it still counts.
    await device.call('playSound', 0).catch((error) => console.error(error.message));
  }
});
