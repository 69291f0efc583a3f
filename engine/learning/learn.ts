import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LearningResult, LearningTask } from '../ports/training.ts';
import { trainLocal } from './train.ts';
import { unpacked } from '../ports/packing.ts';

/** How often progress is told, ms. */
const TELL_EVERY_MS = 250;

/** Learns inside the child, telling its progress now and then. */
export async function learn(
  { examples: packed, schema, options }: LearningTask,
  tell: (progress: unknown) => void,
): Promise<LearningResult> {
  const examples = packed.map(({ document, expected }) => ({
    document: unpacked(document.packed),
    expected,
  }));
  const steps = stepsOf(examples, schema, options);
  if (typeof steps === 'string') return { kind: 'failed', detail: steps };
  let toldAt = 0;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return { kind: 'learned', ...step.value };
    if (performance.now() - toldAt < TELL_EVERY_MS) continue;
    toldAt = performance.now();
    tell(step.value);
    await nextTurn();
  }
}

/** The first step says whether the examples can be learned from at all. */
function stepsOf(...given: Parameters<typeof trainLocal>): ReturnType<typeof trainLocal> | string {
  try {
    const probe = trainLocal(...given);
    probe.next();
    return trainLocal(...given);
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}
