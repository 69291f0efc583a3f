import type { CallInput, CallOptions } from './call.ts';

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
export async function* entriesOf(
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
