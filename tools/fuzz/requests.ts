import { randomBytes } from 'node:crypto';
import { contractOf } from '../../test/http/support/contract.ts';
import {
  MARK,
  operationsOf,
  KEY_KINDS,
  makeWorld,
  type Operation,
  type KeyKind,
  type World,
  type OpenApi,
} from './world.ts';
import { sendWire, stopSending, hostile, written, type Heard, type Wire } from './wire.ts';
import { startScriptedProvider } from '../../engine/test/support/scriptedProvider.ts';
import { answers } from '../../engine/test/support/scriptedProvider/steps.ts';
import { draftOf, nearValid } from './drafts.ts';
import { WIRE_CODES } from '../../src/problemTable.ts';
import {
  randomOf,
  range,
  settings,
  delayText,
  holding,
  sendAll,
  startFuzzTarget,
  suspectsOf,
  type FuzzTarget,
} from './target.ts';

/** One request, and what was heard of it. */
export interface Exchange {
  readonly operation: Operation;
  readonly key: KeyKind;
  readonly wire: Wire;
  readonly heard: Heard;
}

export interface Verdict {
  /** What it is counted under. */
  readonly word: string;
  /** Sentences; none: all was well. */
  readonly flaws: readonly string[];
}

type Answer = Extract<Heard, { readonly kind: 'answer' }>;

const parsed = (text: string): Readonly<Record<string, unknown>> => {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
};

/** Changes after which another operation, or none, may be meant. */
const isElsewhere = ({ changes }: Wire): boolean =>
  changes.some((change) => ['another path', 'another method', 'path'].includes(change));

/** Node's parser answers these itself, before there is a request. */
const mayBeUnparsed = ({ changes }: Wire): boolean =>
  changes.some((change) => ['header noise', 'another path', 'another method', 'query'].includes(change));

const isUnparsed = (wire: Wire, status: number, text: string): boolean =>
  text === '' && [400, 413, 431].includes(status) && mayBeUnparsed(wire);

const OWN_KEY = /api_key/;
const PROVIDERS_FAULT = new Set(['model_provider_error', 'provider_timeout']);
const FOR_NOW = new Set(['busy', 'not_ready', 'field_encryption_not_configured']);

const isHealth = ({ id, path }: Exchange['operation']): boolean =>
  id.startsWith('get') && path.startsWith('/health');

const isAllowedFailure = ({ operation, wire }: Exchange, { status, text }: Answer): boolean => {
  const code = String(parsed(text)['code']);
  if (status === 502) return PROVIDERS_FAULT.has(code) && OWN_KEY.test(wire.body?.toString() ?? '');
  if (status !== 503) return false;
  if (isHealth(operation)) return true;
  return FOR_NOW.has(code) && (operation.codes['503'] ?? []).includes(code);
};

const ofFailures = (exchange: Exchange, answer: Answer): readonly string[] =>
  answer.status < 500 || isAllowedFailure(exchange, answer) ? [] : ['the service failed'];

const ofProblems =
  (codes: ReadonlySet<string>) =>
  ({ wire }: Exchange, { status, contentType, text }: Answer): readonly string[] => {
    if (status < 400 || wire.method === 'HEAD' || isUnparsed(wire, status, text)) return [];
    const body = parsed(text);
    if (!contentType.startsWith('application/problem+json')) return ['not a problem document'];
    if (!codes.has(String(body['code']))) return [`an unknown code: ${String(body['code'])}`];
    return body['status'] === status ? [] : ['another status in the body than on the answer'];
  };

const ofAccess = ({ operation, key, wire }: Exchange, { status }: Answer): readonly string[] => {
  const isIn = status < 400;
  if (operation.isPublic || !isIn || isElsewhere(wire)) return [];
  if (key === 'none' || key === 'wrong' || key === 'revoked') return [`let in with a key that is ${key}`];
  const isAdmins = (operation.codes['403'] ?? []).includes('admin_required');
  return isAdmins && key === 'tenant' ? ['a tenant was let in where an admin is asked for'] : [];
};

const OTHERS_MEMBERS = ['document_id', 'job_id', 'config_id', 'batch_id', 'key_id'] as const;

const ofTenants =
  ({ other }: World) =>
  ({ key, wire }: Exchange, { text }: Answer): readonly string[] => {
    if (key === 'admin' || key === 'service') return [];
    if (text.includes(MARK)) return ['something of another tenant is in the answer'];
    const asked = `${wire.path} ${wire.body?.toString() ?? ''}`;
    return OTHERS_MEMBERS.filter((name) => text.includes(other[name]) && !asked.includes(other[name])).map(
      (name) => `the ${name} of another tenant is in the answer`,
    );
  };

const ofContract =
  (check: ReturnType<typeof contractOf>) =>
  ({ wire }: Exchange, { status, contentType, text }: Answer): readonly string[] => {
    if (isElsewhere(wire) || text === '') return [];
    const path = wire.path.split('?', 1)[0] ?? '';
    try {
      check({ method: wire.method.toLowerCase(), path, status, contentType, body: parsed(text) });
      return [];
    } catch (error) {
      return [`not as documented: ${error instanceof Error ? error.message.slice(0, 900) : ''}`];
    }
  };

const MAY_CLOSE = new Set(['header noise', 'chunked', 'another method', 'another path', 'cut connection']);

const wordOf = ({ wire, heard }: Exchange): string => {
  if (heard.kind !== 'answer') return heard.kind;
  if (heard.status < 400) return String(heard.status);
  const code = parsed(heard.text)['code'];
  return (
    `${String(heard.status)} ` +
    (typeof code === 'string' ? code : wire.method === 'HEAD' ? 'HEAD' : 'by the HTTP parser')
  );
};

/** Holds exchanges against what every answer has to be. */
export const judgeOf = (
  openapi: Readonly<Record<string, unknown>>,
  codes: ReadonlySet<string>,
  world: World,
) => {
  const rules = [ofFailures, ofProblems(codes), ofAccess, ofTenants(world), ofContract(contractOf(openapi))];
  return (exchange: Exchange): Verdict => {
    const { heard, wire } = exchange;
    const word = wordOf(exchange);
    if (heard.kind === 'answer') return { word, flaws: rules.flatMap((rule) => rule(exchange, heard)) };
    const isOdd = heard.kind === 'closed' && !wire.changes.some((change) => MAY_CLOSE.has(change));
    return { word, flaws: isOdd ? [`closed without an answer: ${heard.why}`] : [] };
  };
};

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
