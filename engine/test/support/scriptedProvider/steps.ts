import type { IncomingHttpHeaders } from 'node:http';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import type { ScriptedAnswer, ScriptedPage, ScriptedUsage, WireName } from './wires.ts';

/** What the provider does with one request. `afterMs` waits before it begins. */
export type Step = { readonly afterMs?: number } & (
  | {
      readonly do: 'answer';
      /** A text, or a value that is written as JSON. */
      readonly with: Json;
      readonly usage?: ScriptedUsage;
      readonly finish?: ScriptedAnswer['finish'];
    }
  /** Of the OCR wires. Azure and docling-serve say `running` to so many questions first. */
  | { readonly do: 'read'; readonly pages: readonly ScriptedPage[]; readonly running?: number }
  /** Azure and docling-serve take the file, and cannot read it. */
  | { readonly do: 'read_failed' }
  | { readonly do: 'status'; readonly status: number; readonly retryAfter?: string; readonly body?: Json }
  /** Half of an answer, whole by its length. */
  | { readonly do: 'truncate' }
  /** An HTML page, with status 200. */
  | { readonly do: 'html' }
  /** An answer of another shape, as JSON. */
  | { readonly do: 'nonsense' }
  /** A byte at a time, and never the last. */
  | { readonly do: 'drip'; readonly everyMs: number }
  | { readonly do: 'flood'; readonly bytes: number }
  | { readonly do: 'hang' }
  | { readonly do: 'reset' }
  | { readonly do: 'redirect'; readonly to: string }
);

export interface ScriptedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** `{}` of a request without one. */
  readonly body: JsonObject;
  readonly wire: WireName | 'poll' | null;
  readonly model: string;
  readonly key: string;
  readonly atMs: number;
  /** The client hung up before it had its answer. */
  readonly abandoned: boolean;
}

/** Answers with a text, or with a value as JSON. */
export const answers = (value: Json, usage?: ScriptedUsage): Extract<Step, { do: 'answer' }> => ({
  do: 'answer',
  with: value,
  ...(usage !== undefined && { usage }),
});
export const reads = (...pages: readonly ScriptedPage[]): Extract<Step, { do: 'read' }> => ({
  do: 'read',
  pages,
});
export const status = (code: number, retryAfter?: string): Step => ({
  do: 'status',
  status: code,
  ...(retryAfter !== undefined && { retryAfter }),
});

export const USAGE: ScriptedUsage = { input: 120, output: 30, cached: 20 };
