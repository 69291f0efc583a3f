import type { Http } from '../exchange.ts';
import type { Fault } from '../faults.ts';
import type { SdkFetch } from './languageModel.ts';

interface WatchedFetch {
  readonly fetch: SdkFetch;
  /** Why the SDK threw: what went wrong on the wire, or an answer that it could not read. */
  readonly faultSeen: () => Fault;
}

const NOT_SENT: Fault = { kind: 'unsuitable', detail: 'cannot be asked this with this model' };

/** A `fetch` for the AI SDK that remembers the fault, so that no error of the SDK needs to be looked into. */
export const fetchOver = (http: Http): WatchedFetch => {
  let seen: Fault = NOT_SENT;
  const fetch: SdkFetch = async (input, init) => {
    const url = input instanceof Request ? input.url : input.toString();
    const headers = Object.fromEntries(new Headers(init?.headers));
    const body = typeof init?.body === 'string' ? init.body : undefined;
    const exchange = await http({ method: 'POST', url, headers, body });
    if (exchange.kind === 'fault') {
      seen = exchange.fault;
      throw new Error('the provider gave no answer');
    }
    const { status, text } = exchange.answer;
    seen = { kind: 'malformed', status };
    return new Response(text, { status: 200, headers: { 'content-type': 'application/json' } });
  };
  return { fetch, faultSeen: () => seen };
};
