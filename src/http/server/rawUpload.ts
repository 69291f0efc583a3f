import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { TooManyBytes, writeDigested } from '../../commands/uploads.ts';
import { CallerLeft, hasLeft } from './callerLeft.ts';
import { tooLarge, type Upload, type UploadLimits } from './multipart.ts';
import { problem } from '../problems.ts';

const checkHeaders = ({ headers }: IncomingMessage, bytesMax: number): void => {
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw problem('unsupported_media_type', 'Send the file as it is, without Content-Encoding.');
  if (Number(headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax);
};

/** Reads a body of plain bytes to disk. Whatever goes wrong, hang-ups included, leaves no file behind. */
export const receiveBytes = async (
  request: IncomingMessage,
  { dir, bytesMax }: UploadLimits,
): Promise<Upload> => {
  checkHeaders(request, bytesMax);
  const path = join(dir, `upload-${randomUUID()}`);
  const discard = () => rm(path, { force: true });
  try {
    // What is left unread is drained by the server after the answer; destroying it would cut the answer off.
    const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
    const file = await writeDigested(chunks, path, bytesMax);
    if (file.bytes === 0) throw problem('empty_file', 'The file has no bytes.');
    return { file: { ...file, file_name: null }, fields: {}, discard };
  } catch (error) {
    await discard();
    if (hasLeft(request)) throw new CallerLeft();
    throw error instanceof TooManyBytes ? tooLarge(bytesMax) : error;
  }
};
