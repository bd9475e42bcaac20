import { humanSize } from '../../runtime/base/files.js';
import { machineOf } from '../../runtime/machine/machine.js';
import { thisMachine } from '../../runtime/machine/reader.js';
import { measuredBandwidth, recommendedFor } from '../../runtime/machine/suggestions.js';
import type { Output } from '../output.js';
import type { Outcome } from '../verb.js';

/** Which models suit this machine. */
export async function recommend(out: Output): Promise<Outcome> {
  const machine = machineOf(thisMachine);
  const found = recommendedFor(machine, measuredBandwidth());
  return {
    result: {
      processor: machine.processor,
      cores: machine.cores,
      memory_bytes: machine.memoryBytes,
      accelerators: machine.accelerators.map(({ memoryBytes, isUsable, ...one }) => ({
        ...one,
        memory_bytes: memoryBytes,
        usable: isUsable,
      })),
      models: found.map(({ expected, isBest, ...model }) => ({ ...model, tokens_per_s: expected, best: isBest })),
    },
    show: () => {
      const devices = machine.accelerators.filter(({ isUsable }) => isUsable).map(({ name }) => name);
      out.line(
        `For ${machine.processor}, ${machine.cores} cores, ${humanSize(machine.memoryBytes)}${devices.length > 0 ? `, ${devices.join(', ')}` : ''}:\n`,
      );
      out.table(
        ['FOR', 'MODEL', 'SIZE', 'EXPECTED', ''],
        found.map(({ task, name, bytes, expected, isBest }) => [
          task,
          name,
          humanSize(bytes),
          expected === null ? '' : `${expected < 10 ? expected.toFixed(1) : expected.toFixed(0)} tokens/s`,
          isBest ? 'best here' : '',
        ]),
      );
      out.line('\n"quern pull MODEL" fetches one. Speeds are what the memory of this machine lets the processor reach.');
    },
  };
}
