import { createHash, createHmac } from 'node:crypto';
import { checkObjectKey } from '../../domain/ports/objectKey.ts';
import type { UploadGrant, UploadTargets } from '../../domain/ports/uploadTargets.ts';
import type { MinioOptions } from './objectStore.ts';

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
 * Presigned PUTs to a bucket of MinIO or any S3. The type is signed where it is known, and the length
 * where the client said it: the store refuses others. Without a length the store takes any, and whoever
 * reads the object has to look.
 */
export const minioUploadTargets = (options: MinioOptions): UploadTargets => ({
  presign: (grant) =>
    Promise.resolve({
      url: presignedUrl(options, grant),
      headers: grant.content_type === null ? {} : { 'Content-Type': grant.content_type },
    }),
});
