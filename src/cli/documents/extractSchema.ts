import { readFile } from 'node:fs/promises';
import { type JsonObject, messageOf } from '../../../domain/kernel/json.ts';
import type { SchemaValidator } from '@quire/engine/ports/schemaValidator';
import { COMMAND_LINE } from './documentWork.ts';
import { OperatorError } from '../../operator/protocol.ts';

const BYTES_MAX = 4 * 1024 * 1024;

const fromStdin = async (): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    chunks.push(Buffer.from(chunk as Uint8Array));
    bytes += (chunk as Uint8Array).length;
    if (bytes > BYTES_MAX) throw new OperatorError('The schema on stdin is larger than 4 MiB.', 2);
  }
  return Buffer.concat(chunks).toString('utf8');
};

const textAt = (path: string): Promise<string> =>
  path === '-'
    ? fromStdin()
    : readFile(path, 'utf8').catch(() => {
        throw new OperatorError(`${path}: there is no such schema file.`, 2);
      });

/** The JSON Schema in a file, or on stdin when `path` is `-`. Throws OperatorError when it is none. */
export const extractSchema = async (
  path: string,
  schemas: SchemaValidator,
  signal: AbortSignal,
): Promise<JsonObject> => {
  const name = path === '-' ? 'The schema on stdin' : path;
  const text = await textAt(path);
  const schema = ((): unknown => {
    try {
      return JSON.parse(text.replace(/^\ufeff/, ''));
    } catch (error) {
      throw new OperatorError(`${name}: it is not JSON: ${messageOf(error)}.`, 2);
    }
  })();
  const checked = await schemas.check(schema, { signal, share: COMMAND_LINE });
  if (checked.kind !== 'ok')
    throw new OperatorError(`${name}: ${checked.detail}`, checked.kind === 'invalid_schema' ? 2 : 1);
  return schema as JsonObject;
};
