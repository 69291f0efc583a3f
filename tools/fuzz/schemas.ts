import fc from 'fast-check';
import type { JsonObject } from '../../engine/kernel/json.ts';
import { checkSchema } from '../../engine/extraction/schema/validation.ts';
import { anySchemas, smallDocuments } from '../../engine/test/support/anySchemas.ts';
import { misfits, tried } from '../../engine/test/support/schemaTrial.ts';
import { range, settings } from './target.ts';
import { cpuSince } from '../../engine/test/bench/cpu.ts';

const SHOWN = 2_000;
/** CPU time that an answer to a small document may take, ms: the machine may be busy. */
const SLOW_MS = 5_000;

interface Counted {
  refused: number;
  answered: number;
  /** Answers that say anything. */
  filled: number;
  slowestMs: number;
  readonly flawed: string[];
}

/** Every other schema is one that a document can keep to: it must. */
const flawsOf = (schema: JsonObject, input: number, counted: Counted): readonly string[] => {
  const documents = smallDocuments();
  const document = documents[Math.floor(input / 2) % documents.length];
  if (document === undefined) return [];
  const trial = tried(schema, document);
  if (trial.kind === 'refused') {
    counted.refused += 1;
    return trial.detail.endsWith('.') ? [] : [`refused without a sentence: ${trial.detail}`];
  }
  counted.answered += 1;
  if (Object.keys(trial.value).length > 0) counted.filled += 1;
  const isKept = input % 2 === 1 && checkSchema(schema).kind === 'ok';
  return [...trial.flaws, ...(isKept ? misfits(schema, document) : [])];
};

const attempted = (schema: JsonObject, input: number, counted: Counted): readonly string[] => {
  const spent = cpuSince([process.pid]);
  try {
    return flawsOf(schema, input, counted);
  } catch (error) {
    return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
  } finally {
    counted.slowestMs = Math.max(counted.slowestMs, spent());
  }
};

/** Generated schemas, each with a small document, in this process: every one has an answer or a sentence. */
export const fuzzSchemas = (): boolean => {
  const { seed } = settings;
  const { from, until } = range();
  const counted: Counted = { refused: 0, answered: 0, filled: 0, slowestMs: 0, flawed: [] };
  const arbitraries = [false, true].map((keepable) => anySchemas({ keepable }));
  console.log(`seed ${String(seed)}, inputs ${String(from)} to ${String(until - 1)}`);
  const began = performance.now();
  for (let input = from; input < until; input += 1) {
    if (performance.now() - began > settings.minutesMax * 60_000) break;
    const arbitrary = arbitraries[input % 2] ?? anySchemas({ keepable: true });
    const [schema = {}] = fc.sample(arbitrary, { seed: (seed * 1_000_003 + input) | 0, numRuns: 1 });
    const flaws = attempted(schema, input, counted);
    if (flaws.length > 0) {
      counted.flawed.push(String(input));
      console.log(`input ${String(input)}: ${flaws.join('; ')}\n  ${JSON.stringify(schema).slice(0, SHOWN)}`);
    }
    if (input % 1_000 === 999) console.log(`${String(input + 1)} tried`);
  }
  const { refused, answered, filled, slowestMs, flawed } = counted;
  const told = [
    `${String(answered)} answered, ${String(filled)} of them with values`,
    `${String(refused)} refused with a sentence`,
    `slowest ${slowestMs.toFixed(0)} ms`,
    `${String(flawed.length)} flawed ${flawed.join(', ')}`,
  ];
  console.log(told.join('; '));
  return flawed.length === 0 && slowestMs < SLOW_MS;
};
