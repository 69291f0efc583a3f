import { stat } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { Client, S3Error, type BucketItem, type ClientOptions } from 'minio';
import { checkKeyPrefix, checkObjectKey } from '../../domain/ports/objectKey.ts';
import type { ListedObject, ObjectStore } from '../../domain/ports/objectStore.ts';

export interface MinioOptions {
  /** `http(s)://host:port`. */
  readonly endpoint: string;
  /** The same store as clients reach it, where that is another address. */
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
