/** The part of a browser's XMLHttpRequest that the client uses, on Node's fetch. */
class BrowserRequest {
  static readonly sent: number[] = [];
  status = 0;
  responseText = '';
  readonly upload: { onprogress: ((event: { readonly loaded: number }) => void) | null } = {
    onprogress: null,
  };
  onload: (() => void) | null = null;
  onerror: (() => void) | null = null;
  onabort: (() => void) | null = null;
  readonly #headers = new Headers();
  #target: { readonly method: string; readonly url: string } = { method: '', url: '' };
  #answered = new Headers();

  open(method: string, url: string): void {
    this.#target = { method, url };
  }

  setRequestHeader(name: string, value: string): void {
    this.#headers.set(name, value);
  }

  getResponseHeader(name: string): string | null {
    return this.#answered.get(name);
  }

  send(body: Blob): void {
    const { method, url } = this.#target;
    fetch(url, { method, headers: this.#headers, body }).then(
      async (response) => {
        this.upload.onprogress?.({ loaded: body.size });
        this.status = response.status;
        this.#answered = response.headers;
        this.responseText = await response.text();
        BrowserRequest.sent.push(response.status);
        this.onload?.();
      },
      () => this.onerror?.(),
    );
  }

  abort(): void {
    this.onabort?.();
  }
}

/** Runs `work` as if in a browser; it is given the statuses of what was sent that way. */
export const withBrowserRequests = async (
  work: (sent: readonly number[]) => Promise<void>,
): Promise<void> => {
  const scope = globalThis as { XMLHttpRequest?: unknown };
  BrowserRequest.sent.length = 0;
  scope.XMLHttpRequest = BrowserRequest;
  try {
    await work(BrowserRequest.sent);
  } finally {
    delete scope.XMLHttpRequest;
  }
};
