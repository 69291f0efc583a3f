/** The globals that browsers, Deno and Bun have too. */
export const WEB = {
  ...{ AbortController, AbortSignal, Blob, File, FormData, Headers, ReadableStream, Request, Response },
  ...{ TextDecoder, TextEncoder, TransformStream, URL, URLSearchParams },
  ...{ atob, btoa, clearTimeout, crypto, fetch, setTimeout },
};
