import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { writeDigested, TooManyBytes } from '../commands/uploads.ts';
import { CallerLeft, hasLeft, invalid, problem, type Problem } from './problems.ts';

/** A file on the local disk, as it was uploaded. */
export interface UploadedFile {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** The caller's name for it without folders; a hint, never trusted. */
  readonly file_name: string | null;
}

export interface Upload {
  /** undefined for a form that says where its file lies. */
  readonly file: UploadedFile | undefined;
  readonly fields: Readonly<Record<string, string>>;
  /** Removes the file. */
  readonly discard: () => Promise<void>;
}

export interface UploadLimits {
  /** A folder that exists; files in it are named at random. */
  readonly dir: string;
  readonly bytesMax: number;
}

const FIELD_BYTES_MAX = 300 * 1024;
const FIELDS_MAX = 64;
/** The document, and a schema that is sent as a file. */
const FILES_MAX = 2;
/** Most that a form may have beside its file. */
const FORM_BYTES_MAX = 2_097_152;
const FILE_NAME_MAX = 255;

/** A caller's name for a file without folders and control characters; null when nothing is left. */
export const baseName = (name: string | undefined): string | null => {
  const last = name?.split(/[\\/]/).at(-1) ?? '';
  const clean = last.replace(/[\u0000-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g, '').trim();
  return clean === '' ? null : clean.slice(0, FILE_NAME_MAX);
};

const parserFor = (request: IncomingMessage, bytesMax: number): busboy.Busboy => {
  try {
    return busboy({
      headers: request.headers,
      defParamCharset: 'utf8',
      limits: { fileSize: bytesMax, files: FILES_MAX, fields: FIELDS_MAX, fieldSize: FIELD_BYTES_MAX },
    });
  } catch {
    throw problem('unsupported_media_type', 'Send multipart/form-data with a boundary.');
  }
};

const refuseLater = (issues: Problem[], refusal: Problem) => issues.push(refusal);

interface Collected {
  readonly fields: Map<string, string>;
  readonly refusals: Problem[];
  file: Promise<Omit<UploadedFile, 'file_name'>> | undefined;
  file_name: string | null;
}

const tooLarge = (bytesMax: number): Problem =>
  problem('file_too_large', `The file has more than ${String(bytesMax)} bytes.`, { max_bytes: bytesMax });

const collectField =
  ({ fields, refusals }: Collected) =>
  (name: string, value: string, info: Pick<busboy.FieldInfo, 'nameTruncated' | 'valueTruncated'>): void => {
    if (info.nameTruncated || info.valueTruncated)
      refuseLater(refusals, problem('body_too_large', `The field ${name} is too long.`));
    else if (fields.has(name))
      refuseLater(refusals, invalid({ loc: ['body', name], msg: 'Sent twice.', type: 'duplicate' }));
    // An empty field counts as absent.
    else if (value !== '') fields.set(name, value);
  };

/** A field that is sent as a file, as some clients send JSON. */
const collectText = (collected: Collected, name: string, stream: Readable): void => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= FIELD_BYTES_MAX) chunks.push(chunk);
  });
  stream.once('end', () => {
    const value = new TextDecoder().decode(Buffer.concat(chunks));
    const info = { nameTruncated: false, valueTruncated: bytes > FIELD_BYTES_MAX };
    collectField(collected)(name, value, info);
  });
  stream.on('error', () => undefined);
};

const collectFile =
  (collected: Collected, path: string, bytesMax: number) =>
  (name: string, stream: Readable & { truncated?: boolean }, info: busboy.FileInfo): void => {
    const { refusals } = collected;
    if (name === 'schema') {
      collectText(collected, name, stream);
      return;
    }
    if (name !== 'file' || collected.file !== undefined) {
      const issue =
        name === 'file'
          ? { msg: 'Sent twice.', type: 'duplicate' }
          : { msg: 'Not a file of this form.', type: 'extra_forbidden' };
      refuseLater(refusals, invalid({ loc: ['body', name], ...issue }));
      stream.on('error', () => undefined).resume();
      return;
    }
    stream.once('limit', () => refuseLater(refusals, tooLarge(bytesMax)));
    collected.file_name = baseName(info.filename);
    collected.file = writeDigested(stream, path);
    // Awaited below; until then a failure must not count as unhandled.
    collected.file.catch(() => undefined);
  };

const received = async (
  request: IncomingMessage,
  collected: Collected,
  { path, bytesMax }: { readonly path: string; readonly bytesMax: number },
): Promise<void> => {
  const { 'content-length': length = 0, 'content-encoding': encoding = 'identity' } = request.headers;
  if (encoding !== 'identity') throw problem('unsupported_media_type', 'Send the form uncompressed.');
  if (Number(length) > bytesMax + FORM_BYTES_MAX) throw tooLarge(bytesMax);
  const parser = parserFor(request, bytesMax);
  parser.on('field', collectField(collected));
  parser.on('file', collectFile(collected, path, bytesMax));
  parser.once('filesLimit', () =>
    refuseLater(
      collected.refusals,
      invalid({ loc: ['body', 'file'], msg: 'Sent twice.', type: 'duplicate' }),
    ),
  );
  parser.once('fieldsLimit', () =>
    refuseLater(collected.refusals, problem('body_too_large', 'The form has too many fields.')),
  );
  await parsed(request, parser, {
    bytesMax: bytesMax + FORM_BYTES_MAX,
    tooMany: () => tooLarge(bytesMax),
  });
};

const brokenForm = (): Problem =>
  invalid({ loc: ['body'], msg: 'The form is broken or ends before its last boundary.', type: 'multipart' });

/**
 * Not a pipeline, for that would destroy the connection that the answer needs. A form without a length is
 * read up to `bytesMax` and no further.
 */
const parsed = (
  request: IncomingMessage,
  parser: busboy.Busboy,
  { bytesMax, tooMany }: { readonly bytesMax: number; readonly tooMany: () => Problem },
): Promise<void> =>
  new Promise((resolve, reject) => {
    let bytes = 0;
    // More than once: a parser that is destroyed fails again.
    const fail = (reason: Problem) => {
      request.off('data', count);
      request.unpipe(parser);
      request.resume();
      reject(reason);
      if (!parser.destroyed) parser.destroy();
    };
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) fail(tooMany());
    };
    parser.on('error', () => fail(brokenForm()));
    parser.once('close', resolve);
    request.once('close', () => {
      if (!request.complete) fail(brokenForm());
    });
    request.on('data', count);
    request.pipe(parser);
  });

/** The field that may stand for the file: where it lies instead. */
const INSTEAD = 'source_url';

const fileIn = async (collected: Collected): Promise<UploadedFile | undefined> => {
  const stored = await collected.file;
  const [refusal] = collected.refusals;
  if (refusal !== undefined) throw refusal;
  if (stored === undefined && collected.fields.has(INSTEAD)) return undefined;
  if (stored === undefined) throw problem('missing_file', 'The form has no part named file.');
  if (stored.bytes === 0) throw problem('empty_file', 'The file has no bytes.');
  return { ...stored, file_name: collected.file_name };
};

/**
 * Reads a multipart form with one `file`, or with the field that says where it lies. Whatever goes wrong, hang-ups
 * included, leaves no file behind.
 */
export const receiveUpload = async (
  request: IncomingMessage,
  { dir, bytesMax }: UploadLimits,
): Promise<Upload> => {
  if (hasLeft(request)) throw new CallerLeft();
  const path = join(dir, `upload-${randomUUID()}`);
  const discard = () => rm(path, { force: true });
  const collected: Collected = { fields: new Map(), refusals: [], file: undefined, file_name: null };
  try {
    await received(request, collected, { path, bytesMax });
    const file = await fileIn(collected);
    return { file, fields: Object.fromEntries(collected.fields), discard };
  } catch (error) {
    await collected.file?.catch(() => undefined);
    await discard();
    throw error;
  }
};

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
    // The server drains the unread rest after the answer; destroying it would cut the answer off.
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
