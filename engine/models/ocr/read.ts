import type { ModelUsage, OcrRequest, ReadPage } from '../../ports/modelProvider.ts';
import type { OpenCall } from '../modelCall.ts';

/** Pages as they were read, and what they cost. */
export interface Read {
  readonly pages: readonly ReadPage[];
  readonly usage: ModelUsage;
}

export interface OcrCall extends OpenCall {
  readonly request: OcrRequest;
}

export const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

/** These providers bill by the page alone. */
export const usageOfPages = (pages: number): ModelUsage => ({
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  pages,
});
