import type { ModelFailure, ModelUsage } from '../ports/modelProvider.ts';

/** Why one attempt came to nothing. No part of what the provider wrote is kept. */
export type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterMs: number | null }
  /** There was no answer; `mayPass` unless it is of the certificate or the like. */
  | { readonly kind: 'connection'; readonly mayPass: boolean }
  /** An answer that is none: cut short, of a wrong type, of another shape. */
  | { readonly kind: 'malformed'; readonly status: number }
  | { readonly kind: 'redirect'; readonly status: number }
  | { readonly kind: 'too_large'; readonly status: number }
  /** The provider took the document and says that it cannot read it. */
  | { readonly kind: 'unreadable'; readonly status: number }
  /** The request cannot be put to this model. */
  | { readonly kind: 'unsuitable'; readonly detail: string }
  | { readonly kind: 'circuit_open' }
  /** By the caller, or at the deadline. */
  | { readonly kind: 'interrupted' };

export const NO_USAGE: ModelUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  pages: null,
};

const TRY_LATER = new Set([408, 425, 429]);

/** Whether another attempt may do better. An answer that is none is asked for once more, not often. */
export const mayPass = (fault: Fault, malformedBefore: number): boolean => {
  switch (fault.kind) {
    case 'status':
      return fault.status >= 500 || TRY_LATER.has(fault.status);
    case 'connection':
      return fault.mayPass;
    case 'malformed':
      return malformedBefore === 0;
    default:
      return false;
  }
};

/** Whether a fault says that the provider is down, rather than that it did not like the request. */
export const saysDown = (fault: Fault): boolean =>
  fault.kind === 'connection' ||
  fault.kind === 'interrupted' ||
  (fault.kind === 'status' && fault.status >= 500);

/** The failure that a caller is told of. Neither a key nor the provider's words can be in it. */
export const failureOf = (fault: Fault, provider: string): ModelFailure =>
  fault.kind === 'interrupted'
    ? { kind: 'timed_out', provider, detail: `${provider} did not answer in time.` }
    : {
        kind: 'provider_error',
        provider,
        provider_status: 'status' in fault ? fault.status : null,
        detail: `${provider} ${sentence(fault)}.`,
      };

const STATUS_SENTENCES: Readonly<Record<number, string>> = {
  400: 'does not accept the request',
  401: 'refuses the key',
  402: 'asks for payment: the account of the key has no credit there',
  403: 'refuses the key',
  404: 'does not know the model, or the API base is not one of its addresses',
  408: 'did not answer in time',
  413: 'finds the request too large',
  422: 'does not accept the request',
  429: 'takes no more requests for now',
  503: 'is overloaded',
  529: 'is overloaded',
};

const wordsFor = (status: number): string =>
  STATUS_SENTENCES[status] ?? (status >= 500 ? 'failed' : 'refuses the request');

function sentence(fault: Exclude<Fault, { kind: 'interrupted' }>): string {
  switch (fault.kind) {
    case 'status':
      return `${wordsFor(fault.status)} (status ${fault.status})`;
    case 'connection':
      return 'could not be reached';
    case 'malformed':
      return 'sent an answer that is cut short or has another form than it should';
    case 'redirect':
      return 'answered with a redirect, which is not followed: give the API base that it leads to';
    case 'too_large':
      return 'sent an answer that is too large';
    case 'unreadable':
      return 'could not read the document';
    case 'unsuitable':
      return fault.detail;
    case 'circuit_open':
      return 'failed several times in a row and is not asked for half a minute: try again later';
  }
}
