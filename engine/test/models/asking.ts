import { openModelProviders, type ModelProvidersOptions } from '../../models/modelProviders.ts';
import {
  modelNamed,
  type ModelAccess,
  type ModelProviders,
  type ModelRequest,
} from '../../ports/modelProvider.ts';

export const KEY = 'sk-planted-7f3e';

/** Every wait between attempts is as short as it can be. */
export const openProviders = (options: Partial<ModelProvidersOptions> = {}): ModelProviders =>
  openModelProviders({ allowPrivateNetwork: true, random: () => 0, ...options });

export const accessTo = (name: string, apiBase: string, more: Partial<ModelAccess> = {}): ModelAccess => {
  const ref = modelNamed(name);
  if (ref === undefined) throw new Error(`no model ${name}`);
  return { ref, apiKey: KEY, apiBase, owner: 'caller', retries: 2, ...more };
};

export const asking = (access: ModelAccess, more: Partial<ModelRequest> = {}): ModelRequest => ({
  access,
  system: 'Be exact.',
  turns: [{ role: 'user', text: 'What is the total?' }],
  output: { kind: 'text' },
  deadlineMs: 10_000,
  ...more,
});

export const SCHEMA = {
  type: 'object',
  properties: { total: { type: 'number', minimum: 0 }, note: { type: 'string' } },
  required: ['total'],
};

export const PDF = {
  mimeType: 'application/pdf',
  bytes: Buffer.from('%PDF-1.4 a small one'),
  fileName: 'a.pdf',
};

export const PNG = {
  mimeType: 'image/png',
  bytes: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
  fileName: null,
};
