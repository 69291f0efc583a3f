import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SignedUpload, UploadSignatures, UploadTargets } from '../../domain/ports/uploadTargets.ts';

interface UploadUrlOptions {
  readonly secret: Uint8Array;
  /** Base of the URLs, without a slash at its end; asked for each URL, for the port may not be known before. */
  readonly baseUrl: () => string;
}

/** Everything that a signature vouches for, each member apart from the next. */
const signedText = ({ document_id, expires, content_type, max_bytes }: Omit<SignedUpload, 'signature'>) =>
  JSON.stringify(['PUT', document_id, expires, content_type, max_bytes]);

const WHOLE = /^\d{1,15}$/;

/** Upload URLs that this service answers itself: `PUT /uploads/{document_id}`, signed with HMAC-SHA-256. */
export const uploadUrls = ({ secret, baseUrl }: UploadUrlOptions): UploadTargets & UploadSignatures => {
  const signatureOf = (upload: Omit<SignedUpload, 'signature'>): Buffer =>
    createHmac('sha256', secret).update(signedText(upload)).digest();
  return {
    presign: ({ document_id, content_type, bytes, bytes_max, signed_at, expires_seconds }) => {
      const signed = {
        document_id,
        expires: String(Math.floor(Date.parse(signed_at) / 1000) + expires_seconds),
        content_type: content_type ?? '',
        max_bytes: String(bytes ?? bytes_max),
      };
      const { document_id: _, ...query } = { ...signed, signature: signatureOf(signed).toString('hex') };
      return Promise.resolve({
        url: `${baseUrl()}/uploads/${document_id}?${new URLSearchParams(query).toString()}`,
        headers: content_type === null ? {} : { 'Content-Type': content_type },
      });
    },
    check: (upload, now) => {
      const given = Buffer.from(upload.signature, 'hex');
      const due = signatureOf(upload);
      if (given.length !== due.length || !timingSafeEqual(given, due)) return { kind: 'invalid' };
      if (!WHOLE.test(upload.expires) || !WHOLE.test(upload.max_bytes)) return { kind: 'invalid' };
      if (Date.parse(now) >= Number(upload.expires) * 1000) return { kind: 'expired' };
      return { kind: 'valid', bytes_max: Number(upload.max_bytes) };
    },
  };
};
