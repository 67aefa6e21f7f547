// Counts each NAMEPressed, plays a sound, and answers the command NAME.
import { connect } from './quickconnect.cjs';

const device = await connect({ wait: true });

await device.on('NAMEPressed', async () => {
  try {
    console.log(`count: ${await device.add('NAMECount')}`);
    await device.call('playSound', 0);
  } catch (error) {
    console.error(error.message); // without a sound card it still counts
  }
});

await device.handle('NAME', async (data, call) => {
  const whom = call.parameters[0] ?? 'you';
  return `Hello ${whom}, the count is ${await device.value('NAMECount')}.`;
});
