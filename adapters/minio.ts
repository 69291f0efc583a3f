import { stat } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { type BucketItem, Client, type ClientOptions, RETENTION_MODES, S3Error } from 'minio';
import {
  checkKeyPrefix,
  checkObjectKey,
  type ListedObject,
  type LockedObjects,
  type ObjectStore,
  type UploadGrant,
  type UploadTargets,
} from '../domain/ports/services.ts';

export interface MinioOptions {
  /** `http(s)://host:port`. */
  readonly endpoint: string;
  /** The same store as clients reach it, if that is another address. */
  readonly publicEndpoint?: string | undefined;
  readonly bucket: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
}

/** Objects in a bucket of MinIO or any S3. The bucket is made when it is not there. */
export async function openMinioObjectStore(options: MinioOptions): Promise<ObjectStore> {
  const { bucket, region } = options;
  const client = clientOf(options);
  if (!(await client.bucketExists(bucket))) await makeBucket(client, bucket, region);
  return objectsIn(client, bucket);
}

/** The objects of a bucket that is there. */
export function objectsIn(client: Client, bucket: string): ObjectStore {
  return {
    put: async (key, bytes) => {
      const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      await client.putObject(bucket, checkObjectKey(key), body, body.length);
    },
    putFile: async (key, path) => {
      const { size } = await stat(path);
      await client.putObject(bucket, checkObjectKey(key), createReadStream(path), size);
    },
    get: async (key) => {
      const stream = await absentAsUndefined(client.getObject(bucket, checkObjectKey(key)));
      return stream === undefined ? undefined : collect(stream);
    },
    open: (key) => absentAsUndefined(client.getObject(bucket, checkObjectKey(key))),
    list: (prefix) => listed(client, bucket, checkKeyPrefix(prefix)),
    remove: async (key) => {
      await absentAsUndefined(client.removeObject(bucket, checkObjectKey(key)));
    },
    check: async () => {
      if (!(await client.bucketExists(bucket))) throw new Error(`the bucket ${bucket} does not exist`);
    },
  };
}

/** Nothing is asked of the server yet. */
export function clientOf({ endpoint, accessKey, secretKey, region }: MinioOptions): Client {
  const { hostname, port, protocol } = new URL(endpoint);
  const useSSL = protocol === 'https:';
  return new Client({
    endPoint: hostname,
    port: port === '' ? (useSSL ? 443 : 80) : Number(port),
    useSSL,
    accessKey,
    secretKey,
    region,
    pathStyle: true,
    transport: boundedHttp(useSSL ? httpsRequest : httpRequest),
  });
}

type Transport = NonNullable<ClientOptions['transport']>;

/**
 * HTTP that refuses an answer which does not say where it ends: after a connection that broke, what came of it
 * would look whole. Where its length is said, or its chunks have a last one, Node tells that it was cut short.
 */
function boundedHttp(send: typeof httpsRequest): Transport {
  const request = (options: RequestOptions, take: (answer: IncomingMessage) => void): ClientRequest => {
    const sent = send(options, (answer) => {
      if (options.method !== 'GET' || saysItsEnd(answer)) {
        take(answer);
        return;
      }
      answer.destroy();
      sent.emit('error', new Error('the object store does not say where its answer ends'));
    });
    return sent;
  };
  // The client calls it in this one of its forms.
  return { request } as Transport;
}

function saysItsEnd({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Another replica may make it first. */
async function makeBucket(client: Client, bucket: string, region: string): Promise<void> {
  try {
    await client.makeBucket(bucket, region);
  } catch (error) {
    if (!(await client.bucketExists(bucket))) throw error;
  }
}

async function* listed(client: Client, bucket: string, prefix: string): AsyncIterable<ListedObject> {
  const items: AsyncIterable<BucketItem> = client.listObjectsV2(bucket, prefix, true);
  for await (const item of items)
    if (item.name !== undefined)
      yield { key: item.name, modified_at: item.lastModified.toISOString(), bytes: item.size };
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const ABSENT = new Set(['NoSuchKey', 'NotFound']);

async function absentAsUndefined<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof S3Error && ABSENT.has(error.code ?? '')) return undefined;
    throw error;
  }
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

const hmac = (key: string | Uint8Array, text: string): Buffer =>
  createHmac('sha256', key).update(text, 'utf8').digest();

/** RFC 3986, as the signature wants it: `encodeURIComponent` leaves `!'()*` as they are. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

const queryOf = (members: Readonly<Record<string, string>>): string =>
  Object.entries(members)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&');

/** Headers that are signed beside the host: a PUT with others of these is refused by the store. */
const signedHeaders = ({ content_type, bytes }: UploadGrant): Readonly<Record<string, string>> => ({
  ...(bytes !== null && { 'content-length': String(bytes) }),
  ...(content_type !== null && { 'content-type': content_type }),
});

const signingKey = ({ secretKey, region }: MinioOptions, day: string): Buffer =>
  hmac(hmac(hmac(hmac(`AWS4${secretKey}`, day), region), 's3'), 'aws4_request');

/** Signature version 4 in the query. The client of MinIO signs neither type nor length, so it is made here. */
const presignedUrl = (options: MinioOptions, grant: UploadGrant): string => {
  const base = new URL(options.publicEndpoint ?? options.endpoint);
  const time = grant.signed_at.replace(/[-:]|\.\d+/g, '');
  const day = time.slice(0, 8);
  const scope = `${day}/${options.region}/s3/aws4_request`;
  const headers: readonly (readonly [string, string])[] = Object.entries({
    ...signedHeaders(grant),
    host: base.host,
  });
  const names = headers.map(([name]) => name).join(';');
  const query = queryOf({
    'X-Amz-Algorithm': ALGORITHM,
    'X-Amz-Credential': `${options.accessKey}/${scope}`,
    'X-Amz-Date': time,
    'X-Amz-Expires': String(grant.expires_seconds),
    'X-Amz-SignedHeaders': names,
  });
  const path = `/${options.bucket}/${checkObjectKey(grant.key)}`;
  const lines = headers.map(([name, value]) => `${name}:${value}\n`).join('');
  const request = ['PUT', path, query, lines, names, 'UNSIGNED-PAYLOAD'].join('\n');
  const digest = createHash('sha256').update(request, 'utf8').digest('hex');
  const signature = hmac(signingKey(options, day), [ALGORITHM, time, scope, digest].join('\n'));
  return `${base.origin}${path}?${query}&X-Amz-Signature=${signature.toString('hex')}`;
};

/**
 * Presigned PUTs to a bucket of MinIO or any S3. The type is signed if it is known, and the length
 * if the client gave it: the store refuses others. Without a length the store takes any, and the reader
 * of the object has to check.
 */
export const minioUploadTargets = (options: MinioOptions): UploadTargets => ({
  presign: (grant) =>
    Promise.resolve({
      url: presignedUrl(options, grant),
      headers: grant.content_type === null ? {} : { 'Content-Type': grant.content_type },
    }),
});

/** A bucket as it is, which is never made here. */
export interface BucketProbe {
  readonly exists: () => Promise<boolean>;
  /** undefined when there is no such object. */
  readonly get: (key: string) => Promise<Uint8Array | undefined>;
  /** Stores an object, reads it and removes it. Throws what the store says; an object that stays is named. */
  readonly tryOut: () => Promise<void>;
  /** Does the same with a file sent to a presigned URL, as clients do. */
  readonly tryUpload: (signal: AbortSignal) => Promise<void>;
}

const BODY = new TextEncoder().encode('quire doctor was here');

export const bucketProbe = (options: MinioOptions, now: () => string): BucketProbe => {
  const client = clientOf(options);
  const objects = objectsIn(client, options.bucket);
  /** Whatever `send` did, nothing of it stays. */
  const triedOut = async (send: (key: string) => Promise<void>): Promise<void> => {
    const key = `doctor/${randomUUID()}`;
    try {
      await send(key);
      const found = await objects.get(key);
      if (found === undefined || !Buffer.from(found).equals(BODY))
        throw new Error('the object that was stored is not the one that is read');
    } finally {
      await objects.remove(key).catch((error: unknown) => {
        throw new Error(`the object ${key} could not be removed again`, { cause: error });
      });
    }
  };
  return {
    exists: () => client.bucketExists(options.bucket),
    get: (key) => objects.get(key),
    tryOut: () => triedOut((key) => objects.put(key, BODY)),
    tryUpload: (signal) =>
      triedOut(async (key) => {
        const grant = { key, content_type: 'text/plain', bytes: BODY.length, bytes_max: BODY.length };
        const target = await minioUploadTargets(options).presign({
          ...grant,
          document_id: 'doctor',
          signed_at: now(),
          expires_seconds: 60,
        });
        const answer = await fetch(target.url, {
          method: 'PUT',
          body: BODY,
          headers: target.headers,
          signal,
        });
        await answer.arrayBuffer();
        if (!answer.ok) throw new Error(`a file sent to a presigned URL is answered with ${answer.status}`);
      }),
  };
};

/** What servers answer where a bucket was made without the lock, or where they know no such thing. */
const NO_LOCK = new Set([
  'ObjectLockConfigurationNotFoundError',
  'NoSuchObjectLockConfiguration',
  'InvalidRequest',
  'MethodNotAllowed',
  'NotImplemented',
]);

/** The client's types say that this gives nothing; it gives what the bucket has. */
interface LockReader {
  getObjectLockConfig(bucket: string): Promise<{ readonly objectLockEnabled?: unknown } | undefined>;
}

const hasLock = async (client: Client, bucket: string): Promise<boolean> => {
  const reader = client as unknown as LockReader;
  try {
    return (await reader.getObjectLockConfig(bucket))?.objectLockEnabled === 'Enabled';
  } catch (error) {
    if (error instanceof S3Error && NO_LOCK.has(error.code ?? '')) return false;
    throw error;
  }
};

/** Objects of a bucket under S3 object lock, in compliance mode: not even the account's owner removes them. */
export const minioLockedObjects = (options: MinioOptions): LockedObjects => {
  const { bucket } = options;
  const client = clientOf(options);
  return {
    refusal: async () =>
      (await hasLock(client, bucket))
        ? null
        : `The bucket ${bucket} has no object lock, so seals in it could be removed. A lock is ` +
          'given to a bucket when it is made (mc mb --with-lock): name such a bucket with ' +
          'S3_BUCKET, or leave seals out of the object store.',
    putLocked: async (key, bytes, until) => {
      const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const { versionId } = await client.putObject(bucket, checkObjectKey(key), body, body.length);
      await client.putObjectRetention(bucket, key, {
        mode: RETENTION_MODES.COMPLIANCE,
        retainUntilDate: until,
        versionId: typeof versionId === 'string' ? versionId : '',
      });
    },
  };
};
