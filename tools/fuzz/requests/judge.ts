import { contractOf } from '../../../test/http/support/contract.ts';
import type { Operation } from './operations.ts';
import type { Heard } from './send.ts';
import type { Wire } from './wire.ts';
import { MARK, type KeyKind, type World } from './world.ts';

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
