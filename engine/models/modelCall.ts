import { createHash } from 'node:crypto';
import type { Agent } from 'undici';
import { withoutEnd } from '../kernel/text.ts';
import type { ProviderName, ModelAccess, ModelFailure } from '../ports/modelProvider.ts';
import { attemptUntil, type Attempt, type Breaker } from './attempts.ts';
import { agentFor, httpOver, failureOf, type Http } from './exchange.ts';
import { checkCallersBase, type BasePolicy } from './guard.ts';

/** Where providers with an address of their own are reached. */
const PUBLIC_BASES: Partial<Record<ProviderName, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  mistral: 'https://api.mistral.ai/v1',
  groq: 'https://api.groq.com/openai/v1',
  openrouter: 'https://openrouter.ai/api/v1',
  together_ai: 'https://api.together.xyz/v1',
  deepseek: 'https://api.deepseek.com/v1',
  xai: 'https://api.x.ai/v1',
};

/** What a base has behind its host when it was given without a path. */
const pathOf = (provider: ProviderName): string => {
  if (provider === 'azure') return '/openai/v1';
  if (provider === 'azure_di') return '';
  const base = PUBLIC_BASES[provider];
  return base === undefined ? '/v1' : new URL(base).pathname;
};

/**
 * The base that requests go to, without a slash at its end: the given one before the provider's public one.
 * A base that is only a host gets the provider's usual path; of Azure's, what names a deployment is cut off,
 * for the deployment is the model's name. undefined: none is given, and the provider has none of its own.
 */
const baseOf = ({ ref: { provider }, apiBase }: ModelAccess): URL | undefined => {
  const given = apiBase ?? PUBLIC_BASES[provider];
  if (given === undefined || !URL.canParse(given)) return undefined;
  const url = new URL(given);
  const path = withoutEnd(url.pathname, /\//);
  const ofAzure = provider === 'azure' && /^\/openai(?:\/|$)/u.test(path);
  url.pathname = path === '' || ofAzure ? pathOf(provider) : path;
  return url;
};

export interface CallParts {
  readonly policy: BasePolicy;
  /** Of the platform's own bases; the same each time. */
  readonly agent: () => Promise<Agent>;
  readonly breakerOf: (name: string) => Breaker;
  readonly bytesMax: number;
  readonly nowMs: () => number;
  readonly random: () => number;
}

interface CallLimits {
  readonly access: ModelAccess;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** What one attempt works with. */
export interface OpenCall {
  readonly base: URL;
  readonly http: Http;
  readonly signal: AbortSignal;
  readonly deadlineAt: number;
}

type Called<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'failed'; readonly failure: ModelFailure };

type Once<T> = (call: OpenCall) => Promise<Attempt<T>>;

interface Clocked {
  /** Fires when the caller gives up, and at the deadline. */
  readonly signal: AbortSignal;
  readonly givenUp: () => boolean;
  readonly deadlineAt: number;
}

const failed = (failure: ModelFailure): Called<never> => ({ kind: 'failed', failure });

/**
 * Makes the attempts of one request within its deadline. A caller's base is checked first, and all attempts
 * go to the addresses that were found then.
 */
export async function callProvider<T>(
  parts: CallParts,
  limits: CallLimits,
  once: Once<T>,
): Promise<Called<T>> {
  const { deadlineMs, signal: byCaller } = limits;
  const expiry = new AbortController();
  const timer = setTimeout(() => expiry.abort(), deadlineMs);
  const signal = byCaller === undefined ? expiry.signal : AbortSignal.any([byCaller, expiry.signal]);
  const givenUp = (): boolean => byCaller?.aborted === true;
  try {
    const clocked = { signal, givenUp, deadlineAt: parts.nowMs() + deadlineMs };
    return await withConnections({ parts, access: limits.access, clocked }, once);
  } finally {
    clearTimeout(timer);
  }
}

interface Call {
  readonly parts: CallParts;
  readonly access: ModelAccess;
  readonly clocked: Clocked;
}

/** A caller's base gets connections of its own, to the addresses that were checked. */
async function withConnections<T>(call: Call, once: Once<T>): Promise<Called<T>> {
  const { parts, access, clocked } = call;
  const base = baseOf(access);
  if (base === undefined)
    return failed({
      kind: 'unsafe_api_base',
      detail: `Give the API base of ${access.ref.provider} as a URL.`,
    });
  if (access.owner === 'platform' || access.apiBase === undefined)
    return attempts(call, { base, agent: await parts.agent() }, once);
  const checked = await unlessAborted(checkCallersBase(access.apiBase, parts.policy), clocked.signal);
  if (checked === undefined) return interrupted(call);
  if (checked.kind !== 'ok') return failed(checked);
  const agent = await agentFor(checked.addresses);
  try {
    return await attempts(call, { base, agent }, once);
  } finally {
    await agent.destroy();
  }
}

interface Reached {
  readonly base: URL;
  readonly agent: Agent;
}

async function attempts<T>(call: Call, { base, agent }: Reached, once: Once<T>): Promise<Called<T>> {
  const { parts, access, clocked } = call;
  const { bytesMax, nowMs, random } = parts;
  const { signal, deadlineAt } = clocked;
  const http = httpOver({ dispatcher: agent, origin: base.origin, bytesMax, signal, nowMs });
  const breaker = parts.breakerOf(breakerName(access, base));
  const plan = { ...clocked, retries: access.retries, breaker, nowMs, random };
  const attempt = await attemptUntil(plan, () => once({ base, http, signal, deadlineAt }));
  if (attempt.kind === 'ok') return attempt;
  if (attempt.fault.kind === 'interrupted') return interrupted(call);
  return failed(failureOf(attempt.fault, access.ref.provider));
}

const interrupted = ({ access, clocked }: Call): Called<never> =>
  failed(clocked.givenUp() ? { kind: 'aborted' } : failureOf({ kind: 'interrupted' }, access.ref.provider));

/** undefined: the signal fired first. The work goes on, and nobody waits for it. */
const unlessAborted = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> => {
  if (signal.aborted) return undefined;
  let stop = (): void => undefined;
  const stopped = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined);
    signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([work, stopped]).finally(() => signal.removeEventListener('abort', stop));
};

/** One tenant's failures do not shut out another's; the key itself is not kept. */
const breakerName = ({ ref, apiKey }: ModelAccess, base: URL): string =>
  createHash('sha256')
    .update(JSON.stringify([ref.provider, base.href, apiKey ?? null]))
    .digest('base64');
