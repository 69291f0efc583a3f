import type { HistoryPage } from '../../domain/kernel/history.ts';
import { canonicalJson, sha256 } from '../../domain/kernel/chain.ts';
import type { Json } from '../../domain/kernel/json.ts';
import type { SnapshotStore } from '../../domain/ports/log.ts';
import type { Snapshot } from '../../domain/kernel/recorded.ts';

/** A page as a snapshot of its own, named by its content. No account has a stream with this character. */
const pageStream = (stream: string, digest: string): string => `${stream}~${digest.slice(0, 32)}`;

/** Digests and revisions, in base64: 8 bytes each, as this machine and every other we run on orders them. */
const textOf = ({ digests, revisions }: HistoryPage): string =>
  Buffer.concat([digests, revisions].map(({ buffer }) => Buffer.from(buffer))).toString('base64');

const pageIn = (text: string): HistoryPage => {
  const bytes = Buffer.from(text, 'base64');
  const half = bytes.length / 2;
  const numbers = (from: number) =>
    new Float64Array(Uint8Array.from(bytes.subarray(from, from + half)).buffer);
  return { digests: numbers(0), revisions: numbers(half) };
};

/** Digests of the texts of pages, by page: those that were loaded or saved. */
const kept = new WeakMap<HistoryPage, string>();

/** What a snapshot says of its pages, so that no other is taken for one of them. */
export const digestsOf = (pages: readonly HistoryPage[]): readonly string[] =>
  pages.map((page) => kept.get(page) ?? sha256(textOf(page)));

/** Saves those pages of a stream that were not saved before, each as of a snapshot. */
export const savePages = async (
  store: SnapshotStore,
  snapshot: Snapshot,
  pages: readonly HistoryPage[],
): Promise<'saved' | 'too_large'> => {
  for (const page of pages) {
    if (kept.has(page)) continue;
    const text = textOf(page);
    const digest = sha256(text);
    const state = { page: text };
    const stream = pageStream(snapshot.stream, digest);
    const saved = await store.save({ ...snapshot, stream, state, state_hash: sha256(canonicalJson(state)) });
    if (saved === 'too_large') return saved;
    kept.set(page, digest);
  }
  return 'saved';
};

/** The pages that a snapshot names; undefined: one of them is not there, or is another. */
export const loadPages = async (
  store: SnapshotStore,
  stream: string,
  digests: Json | undefined,
): Promise<readonly HistoryPage[] | undefined> => {
  const pages: HistoryPage[] = [];
  for (const digest of Array.isArray(digests) ? digests : []) {
    if (typeof digest !== 'string') return undefined;
    const saved = await store.load(pageStream(stream, digest)).catch(() => undefined);
    const text = saved?.state['page'];
    if (typeof text !== 'string' || sha256(text) !== digest) return undefined;
    const page = pageIn(text);
    kept.set(page, digest);
    pages.push(page);
  }
  return pages;
};
