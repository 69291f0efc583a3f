import { Batches } from './batches.ts';
import type { CallInput, CallOptions } from './call.ts';
import { CALLS, LISTS, type Api, type Lists } from './generated/calls.gen.ts';
import type {
  ExtractForm,
  ExtractionResult,
  MarkdownResult,
  Operation,
  ToMarkdownForm,
} from './generated/types.gen.ts';
import { Operations } from './operations.ts';
import { PATIENCE, type Patience } from './patience.ts';
import { send, type Connection } from './send.ts';
import { Uploads } from './uploads.ts';

interface Page {
  readonly items: readonly unknown[];
  readonly total: number;
}

type OnePage = (input: CallInput, options: CallOptions) => Promise<unknown>;

interface Window {
  readonly limit?: number;
  readonly offset?: number;
}

/** All entries of a list from `query.offset` on, asked for page by page of `query.limit` entries. */
async function* entriesOf(
  page: OnePage,
  input: CallInput,
  options: CallOptions,
): AsyncGenerator<unknown, void, undefined> {
  const asked = (input.query ?? {}) as Window;
  let offset = asked.offset ?? 0;
  for (;;) {
    const { items, total } = (await page({ ...input, query: { ...asked, offset } }, options)) as Page;
    yield* items;
    offset += items.length;
    if (items.length === 0 || offset >= total) return;
  }
}

export interface QuireOptions {
  /** Address of the service, such as `https://quire.example.com`. */
  readonly url: string;
  readonly key: string;
  /** The tenant that documents are read for; a tenant's key needs it only for uploads. */
  readonly tenant?: string;
  /** Instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
  readonly patience?: Partial<Patience>;
}

/** A document: a `File` or `Blob`, or its bytes. */
export type GivenFile = Blob | Uint8Array;

/** A request to extract; `schema` is a JSON Schema, as an object or as text. */
export type ExtractRequest = Omit<ExtractForm, 'file' | 'schema'> & {
  readonly file: GivenFile;
  readonly schema?: object | string;
};

/** A request to convert to markdown. */
export type ToMarkdownRequest = Omit<ToMarkdownForm, 'file'> & { readonly file: GivenFile };

const fileOf = (file: GivenFile): Blob =>
  file instanceof Blob ? file : new File([new Uint8Array(file)], 'document');

const LATER = { Prefer: 'respond-async' } as const;

type OneCall = (input?: CallInput, options?: CallOptions) => Promise<unknown>;

const apiOn = (connection: Connection): Api => {
  const calls = Object.entries(CALLS).map(([name, call]): [string, OneCall] => [
    name,
    (input = {}, options = {}) => send(connection, call, { input, options }),
  ]);
  const named: Readonly<Record<string, OneCall>> = Object.fromEntries(calls);
  // The generated interface says of each call what the table cannot.
  return named as unknown as Api;
};

const listsOn = (api: Api): Lists => {
  const calls = api as unknown as Readonly<Record<string, OneCall>>;
  const lists = LISTS.map((name): [string, unknown] => {
    const page: OneCall = (input, options) => calls[name]?.(input, options) ?? Promise.resolve();
    return [name, (input: CallInput = {}, options: CallOptions = {}) => entriesOf(page, input, options)];
  });
  const named: Readonly<Record<string, unknown>> = Object.fromEntries(lists);
  return named as unknown as Lists;
};

/** A Quire service, as one key sees it. */
export class Quire {
  /** Every call of the service, by the name that its description gives it. */
  readonly api: Api;
  /** Every list of the service, to be iterated over. */
  readonly lists: Lists;
  readonly operations: Operations;
  readonly batches: Batches;
  readonly uploads: Uploads;
  readonly #tenant: { readonly tenant_id?: string };

  constructor({ url, key, tenant, fetch: own, patience }: QuireOptions) {
    // Not bound: a browser's fetch is called on nothing but its window.
    const fetch: typeof globalThis.fetch = own ?? ((...args) => globalThis.fetch(...args));
    const address = url.endsWith('/') ? url.slice(0, -1) : url;
    const connection: Connection = { url: address, key, fetch, patience: { ...PATIENCE, ...patience } };
    this.api = apiOn(connection);
    this.lists = listsOn(this.api);
    this.operations = new Operations(this.api);
    this.batches = new Batches(this.api, connection);
    this.uploads = new Uploads(this.api, connection, tenant);
    this.#tenant = tenant === undefined ? {} : { tenant_id: tenant };
  }

  /** Extracts data by a JSON Schema; waits for the answer. */
  async extract(request: ExtractRequest, options?: CallOptions): Promise<ExtractionResult> {
    return (await this.api.extract({ body: this.#extractForm(request) }, options)) as ExtractionResult;
  }

  /** The same as work that goes on after the answer: `operations.result()` waits for it. */
  async extractLater(request: ExtractRequest, options?: CallOptions): Promise<Operation> {
    const input = { body: this.#extractForm(request), headers: LATER };
    return (await this.api.extract(input, options)) as Operation;
  }

  /** Converts a document to markdown; waits for the answer. */
  async toMarkdown(request: ToMarkdownRequest, options?: CallOptions): Promise<MarkdownResult> {
    return (await this.api.toMarkdown({ body: this.#markdownForm(request) }, options)) as MarkdownResult;
  }

  /** The same as work that goes on after the answer. */
  async toMarkdownLater(request: ToMarkdownRequest, options?: CallOptions): Promise<Operation> {
    const input = { body: this.#markdownForm(request), headers: LATER };
    return (await this.api.toMarkdown(input, options)) as Operation;
  }

  #extractForm({ file, schema, ...rest }: ExtractRequest): ExtractForm {
    const text = typeof schema === 'object' ? JSON.stringify(schema) : schema;
    return { ...this.#tenant, ...rest, file: fileOf(file), ...(text === undefined ? {} : { schema: text }) };
  }

  #markdownForm({ file, ...rest }: ToMarkdownRequest): ToMarkdownForm {
    return { ...this.#tenant, ...rest, file: fileOf(file) };
  }
}
