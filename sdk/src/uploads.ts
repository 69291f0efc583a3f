import type { Api } from './generated/calls.gen.ts';
import type { PresignUploadRequest, PresignUploadResponse } from './generated/types.gen.ts';
import { sendPatiently } from './patience.ts';
import { errorOf } from './problemError.ts';
import { putFile, type Progress, type Put } from './putFile.ts';
import type { Connection } from './send.ts';

/** What is said of a file beside its bytes; what is left out is taken from the file. */
export interface UploadOptions extends Partial<Omit<PresignUploadRequest, 'bytes'>> {
  readonly signal?: AbortSignal;
  /** Called as parts of the file are sent; from 0 again where the file has to be sent again. */
  readonly onProgress?: (progress: Progress) => void;
  /** The same key gives the same place for an hour. */
  readonly idempotencyKey?: string;
}

const described = (file: Blob): Omit<PresignUploadRequest, 'tenant_id'> => ({
  file_name: file instanceof File && file.name !== '' ? file.name : 'document',
  ...(file.type === '' ? {} : { content_type: file.type }),
  bytes: file.size,
});

/** Files that are sent before the calls that use them. */
export class Uploads {
  readonly #api: Api;
  readonly #connection: Connection;
  readonly #tenant: string | undefined;

  constructor(api: Api, connection: Connection, tenant: string | undefined) {
    this.#api = api;
    this.#connection = connection;
    this.#tenant = tenant;
  }

  /** Asks for a place, sends the file there, and gives its names: `file_uri` and `document_id`. */
  async send(file: Blob, options: UploadOptions = {}): Promise<PresignUploadResponse> {
    const { signal, onProgress, idempotencyKey, tenant_id = this.#tenant, ...given } = options;
    if (tenant_id === undefined) throw new TypeError('An upload needs a tenant: new Quire({ tenant }).');
    const place = await this.#api.presignUpload(
      { body: { tenant_id, ...described(file), ...given } },
      { signal, idempotencyKey },
    );
    const put: Put = { url: place.upload_url, headers: place.headers, file, signal, onProgress };
    const { fetch, patience } = this.#connection;
    const response = await sendPatiently(
      { send: () => putFile(put, fetch), isRepeatable: true, signal },
      patience,
    );
    if (!response.ok) throw await errorOf(response);
    return place;
  }

  /** Removes an upload, so that its bytes no longer count. */
  async remove(document_id: string): Promise<void> {
    await this.#api.removeUpload({ path: { document_id } });
  }
}
