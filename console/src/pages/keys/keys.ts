import type { Api } from '@quire/client';
import { keys as texts } from '../../texts/keys.ts';
import type { Tone } from '../../ui/badge.tsx';

export type Key = Awaited<ReturnType<Api['listApiKeys']>>['items'][number];

/** What is shown once. */
export type Issued = Pick<Awaited<ReturnType<Api['createApiKey']>>, 'key' | 'name' | 'key_id'>;

export type KeyState = keyof typeof texts.states;

/** How a key stands at a time: one that was rotated ends soon. */
export const stateOf = ({ revoked_at, expires_at }: Key, now: number): KeyState => {
  if (revoked_at !== null) return 'revoked';
  if (expires_at === null) return 'live';
  return Date.parse(expires_at) <= now ? 'over' : 'ending';
};

export const isLive = (key: Key, now: number): boolean => ['live', 'ending'].includes(stateOf(key, now));

/** The listed keys that were made with a key, or with one of those. */
export const madeWith = ({ key_id }: Pick<Key, 'key_id'>, items: readonly Key[]): readonly Key[] => {
  const found = new Set([key_id]);
  for (let before = 0; before < found.size;) {
    before = found.size;
    for (const key of items) if (key.made_by !== null && found.has(key.made_by)) found.add(key.key_id);
  }
  return items.filter((key) => key.key_id !== key_id && found.has(key.key_id));
};

export const TONES: Readonly<Record<KeyState, Tone>> = {
  live: 'good',
  ending: 'warn',
  over: 'neutral',
  revoked: 'neutral',
};

/** What people call a key. */
export const nameOf = ({ name, prefix, last4 }: Key): string => name ?? `${prefix}…${last4}`;

/** A number of days from a time, as the API takes it; null: never. */
export const endAfter = (days: string, now: number): string | null =>
  days === '' || days === 'never' ? null : new Date(now + Number(days) * 86_400_000).toISOString();
