/** How much of a file has been sent. */
export interface Progress {
  readonly sentBytes: number;
  readonly totalBytes: number;
}

/** One file on its way to the place that was given for it. */
export interface Put {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly file: Blob;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** What of a browser's XMLHttpRequest is used. */
interface BrowserRequest {
  readonly status: number;
  readonly responseText: string;
  readonly upload: { onprogress: ((event: { readonly loaded: number }) => void) | null };
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getResponseHeader(name: string): string | null;
  send(body: Blob): void;
  abort(): void;
}

const browserRequest = (): BrowserRequest | undefined => {
  const { XMLHttpRequest } = globalThis as { XMLHttpRequest?: new () => BrowserRequest };
  return XMLHttpRequest === undefined ? undefined : new XMLHttpRequest();
};

/** Headers of an answer that decide what follows it. */
const KEPT_HEADERS = ['content-type', 'retry-after'];

/** A browser sends streams only over HTTP/2, and tells what was sent only by this older way. */
const putByBrowser = (
  request: BrowserRequest,
  { url, headers, file, signal, onProgress }: Put,
): Promise<Response> =>
  new Promise((resolve, reject) => {
    const end = (): void => request.abort();
    const settled = (settle: () => void) => (): void => {
      signal?.removeEventListener('abort', end);
      settle();
    };
    request.upload.onprogress = ({ loaded }) => onProgress?.({ sentBytes: loaded, totalBytes: file.size });
    request.onload = settled(() => {
      const kept = KEPT_HEADERS.flatMap((name): [string, string][] => {
        const value = request.getResponseHeader(name);
        return value === null ? [] : [[name, value]];
      });
      resolve(new Response(request.responseText, { status: request.status, headers: kept }));
    });
    request.onerror = settled(() => reject(new TypeError('the file could not be sent')));
    request.onabort = settled(() => reject(signal?.reason as Error));
    request.open('PUT', url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    signal?.addEventListener('abort', end, { once: true });
    request.send(file);
  });

/** The file's bytes, telling of each part that is taken. */
const counted = ({ file, onProgress }: Put): ReadableStream<Uint8Array> => {
  let sentBytes = 0;
  return file.stream().pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (part, controller) => {
        controller.enqueue(part);
        sentBytes += part.byteLength;
        onProgress?.({ sentBytes, totalBytes: file.size });
      },
    }),
  );
};

/** With its length: a store such as S3 takes no file of unknown length. */
const streamOf = (put: Put): object => ({
  body: counted(put),
  duplex: 'half',
  headers: { ...put.headers, 'content-length': String(put.file.size) },
});

/** Sends the file once. */
export const putFile = (put: Put, send: typeof fetch): Promise<Response> => {
  const { url, headers, file, signal, onProgress } = put;
  const method = 'PUT';
  const abort = signal === undefined ? {} : { signal };
  if (onProgress === undefined) return send(url, { method, headers, body: file, ...abort });
  const request = browserRequest();
  if (request !== undefined) return putByBrowser(request, put);
  return send(url, { method, ...streamOf(put), ...abort });
};
