import { randomBytes } from 'node:crypto';
import { startScriptedProvider } from '../../engine/test/support/scriptedProvider.ts';
import { answers } from '../../engine/test/support/scriptedProvider/steps.ts';
import { draftOf } from './requests/draft.ts';
import { judgeOf, type Exchange, type Verdict } from './requests/judge.ts';
import { nearValid } from './requests/mutations.ts';
import { WIRE_CODES } from '../../src/problemTable.ts';
import { operationsOf, type OpenApi, type Operation } from './requests/operations.ts';
import { sendWire, stopSending } from './requests/send.ts';
import { hostile, written, type Wire } from './requests/wire.ts';
import { KEY_KINDS, makeWorld, type KeyKind, type World } from './requests/world.ts';
import { randomOf, range, settings } from './settings.ts';
import { delayText, holding, sendAll, startFuzzTarget, suspectsOf, type FuzzTarget } from './target.ts';

const CALLERS = 4;
const VALID_SHARE = 0.35;
const HOSTILE_SHARE = 0.3;
/** How often what admins may have taken is made good. */
const TEND_EVERY = 200;
const BODY_SHOWN = 500;

interface Run {
  readonly target: FuzzTarget;
  readonly world: World;
  readonly openapi: OpenApi;
  readonly operations: readonly Operation[];
  readonly judge: (exchange: Exchange) => Verdict;
  readonly words: Map<string, number>;
  readonly flawed: string[];
}

/** Every operation by every kind of key, in turn. */
const turnOf = ({ operations }: Run, input: number): { operation: Operation; key: KeyKind } => {
  const operation = operations[input % operations.length];
  const key = KEY_KINDS[Math.floor(input / operations.length) % KEY_KINDS.length];
  if (operation === undefined || key === undefined) throw new Error('there is nothing to send');
  return { operation, key };
};

const wireOf = (run: Run, input: number): { operation: Operation; key: KeyKind; wire: Wire } => {
  const { world, openapi } = run;
  const random = randomOf(input);
  const { operation, key } = turnOf(run, input);
  const share = random.next();
  const draft = draftOf(operation, key, { random, world, components: openapi.components.schemas });
  if (share > VALID_SHARE) nearValid(draft, random);
  const wire = written(draft);
  if (share > 1 - HOSTILE_SHARE) hostile(wire, random);
  return { operation, key, wire };
};

const withKey = ({ world }: Run, wire: Wire, key: KeyKind): Wire => {
  const value = world.keys[key];
  return value === undefined ? wire : { ...wire, headers: { ...wire.headers, 'x-api-key': value } };
};

/** A key that an admin's request revoked is replaced, and the request sent again. */
const heardOf = async (run: Run, wire: Wire, key: KeyKind): Promise<Exchange['heard']> => {
  const { url } = run.target.service;
  const heard = await sendWire(url, withKey(run, wire, key));
  const isOut = heard.kind === 'answer' && heard.status === 401;
  if (!isOut || key === 'none' || key === 'wrong' || key === 'revoked') return heard;
  await run.world.renew(key);
  return sendWire(url, withKey(run, wire, key));
};

const shown = ({ wire, key, heard }: Exchange): string => {
  const body = wire.body?.toString('latin1') ?? '';
  const answer = heard.kind === 'answer' ? `${String(heard.status)} ${heard.text}` : heard.kind;
  return [
    `  ${wire.method} ${wire.path.slice(0, BODY_SHOWN)} with a key of kind ${key} ` +
      `(${wire.changes.join(', ') || 'valid'})`,
    `  ${JSON.stringify(wire.headers).slice(0, BODY_SHOWN)} ${body.slice(0, BODY_SHOWN)} ` +
      `(${String(body.length)} bytes)`,
    `  → ${answer.slice(0, BODY_SHOWN)}`,
  ].join('\n');
};

const sendOne = async (run: Run, input: number): Promise<void> => {
  if (input % TEND_EVERY === TEND_EVERY - 1) await run.world.tend();
  const { operation, key, wire } = wireOf(run, input);
  const exchange: Exchange = { operation, key, wire, heard: await heardOf(run, wire, key) };
  const { word, flaws } = run.judge(exchange);
  run.words.set(word, (run.words.get(word) ?? 0) + 1);
  if (flaws.length === 0 && settings.only === undefined) return;
  run.flawed.push(`input ${String(input)}, ${operation.id}: ${flaws.join('; ')}\n${shown(exchange)}`);
};

/** Every balance is the sum of what moved it, as the service itself checks. */
const balanced = async ({ admin }: FuzzTarget): Promise<readonly string[]> => {
  const report = await admin('GET', '/v1/admin/reconciliation');
  const drifted = report['drifted'] as readonly unknown[];
  return drifted.length === 0 ? [] : [`balances drifted: ${JSON.stringify(report).slice(0, 2_000)}`];
};

const FLAWS_SHOWN = 60;

interface Took {
  readonly sent: number;
  readonly seconds: number;
}

const tell = (run: Run, flaws: readonly string[], { sent, seconds }: Took): void => {
  console.table(Object.fromEntries([...run.words].sort(([a], [b]) => (a < b ? -1 : 1))));
  for (const line of [...run.flawed.slice(0, FLAWS_SHOWN), ...flaws]) console.log(line);
  console.log(
    `${String(sent)} requests in ${seconds.toFixed(0)} s, seed ${String(settings.seed)}: ` +
      `${String(run.operations.length)} operations by ${String(KEY_KINDS.length)} kinds of key; ` +
      `${String(run.flawed.length)} answers flawed, ${String(flaws.length)} other flaws`,
  );
};

const started = async (target: FuzzTarget, modelBase: string): Promise<Run> => {
  const openapi = (await target.admin('GET', '/openapi.json')) as unknown as OpenApi;
  const world = await makeWorld(target, modelBase);
  const judge = judgeOf(openapi as unknown as Readonly<Record<string, unknown>>, new Set(WIRE_CODES), world);
  return { target, world, openapi, operations: operationsOf(openapi), judge, words: new Map(), flawed: [] };
};

/** Requests of all kinds to the running service; gives whether all was well. */
export const fuzzRequests = async (): Promise<boolean> => {
  console.log(
    `${String(settings.inputs)} requests, seed ${String(settings.seed)} (FUZZ_SEED repeats ` +
      'it, FUZZ_ONLY=<input> shows one)',
  );
  const provider = await startScriptedProvider();
  provider.script('*', answers({ name: 'pear' }));
  const target = await startFuzzTarget({
    LLM_ALLOW_PRIVATE_NETWORK: 'true',
    FIELD_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    LOCAL_DEADLINE_FAST_SECONDS: String(settings.deadlineSeconds),
  });
  const { service } = target;
  const run = await started(target, provider.url);
  const send = (input: number) => sendOne(run, input);
  service.measureDelay();
  const began = performance.now();
  const sent = await sendAll({ ...range(), callers: settings.callers ?? CALLERS }, send);
  const seconds = (performance.now() - began) / 1000;
  const { worstMs, inputs } = suspectsOf(service, sent);
  console.log(delayText(service, worstMs));
  const held = await holding(service, inputs, send);
  const drift = await balanced(target);
  stopSending();
  const flaws = [...held, ...drift, ...(await target.end())];
  await provider.stop();
  tell(run, flaws, { sent: sent.length, seconds });
  return flaws.length === 0 && run.flawed.length === 0;
};
