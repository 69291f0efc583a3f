import type { BareCommand, Command } from '../kernel/command.ts';
import { accept, reject, type Decider, type StreamKind } from '../kernel/decider.ts';
import type { ApiKeyEvent } from './events.ts';

/** `replaces`: the key that this one takes over from. */
export type IssueApiKey = Command<
  'IssueApiKey',
  Omit<Extract<ApiKeyEvent, { readonly type: 'ApiKeyIssued' }>['data'], 'created_at'>
>;

/** Another key takes over; this one stops at `expires_at`, or earlier if it was to. */
export type RotateApiKey = Command<
  'RotateApiKey',
  { readonly replaced_by: string; readonly expires_at: string }
>;

export type RevokeApiKey = BareCommand<'RevokeApiKey'>;

export type ApiKeyCommand = IssueApiKey | RotateApiKey | RevokeApiKey;

interface ApiKeyRejection {
  readonly code: 'key_not_found';
}

export interface ApiKeyState {
  readonly key: IssueApiKey['data'] | null;
  readonly revoked: boolean;
  readonly rotated: boolean;
  /** The key that took over; null before a rotation. */
  readonly replaced_by: string | null;
}

/** Opens anything at `now`: issued, neither revoked nor expired. */
const isLive = ({ key, revoked }: ApiKeyState, now: string): boolean =>
  key !== null && !revoked && (key.expires_at === null || Date.parse(now) < Date.parse(key.expires_at));

const earlier = (a: string | null, b: string): string => (a !== null && a < b ? a : b);

export type ApiKeyKind = StreamKind<ApiKeyState, ApiKeyCommand, ApiKeyEvent, ApiKeyRejection>;

/** A key is issued once, rotated at most once, and stays revoked. */
export const apiKey: Decider<ApiKeyKind> = {
  initialState: { key: null, revoked: false, rotated: false, replaced_by: null },
  decide: (state, command) => {
    const { key, revoked } = state;
    const { now } = command.meta;
    if (command.type === 'IssueApiKey')
      return key === null
        ? accept({ type: 'ApiKeyIssued', data: { ...command.data, created_at: now } })
        : accept();
    if (key === null) return reject({ code: 'key_not_found' });
    const { key_id, key_hash } = key;
    if (command.type === 'RevokeApiKey')
      return revoked
        ? accept()
        : accept({ type: 'ApiKeyRevoked', data: { key_id, key_hash, revoked_at: now } });
    const { replaced_by } = command.data;
    if (state.replaced_by === replaced_by) return accept();
    if (state.rotated || !isLive(state, now)) return reject({ code: 'key_not_found' });
    const expires_at = earlier(key.expires_at, command.data.expires_at);
    return accept({
      type: 'ApiKeyRotated',
      data: { key_id, key_hash, replaced_by, expires_at, rotated_at: now },
    });
  },
  evolve: (state, event) => {
    switch (event.type) {
      case 'ApiKeyIssued':
        return { ...state, key: event.data };
      case 'ApiKeyRotated':
        return {
          ...state,
          rotated: true,
          replaced_by: event.data.replaced_by,
          key: state.key === null ? null : { ...state.key, expires_at: event.data.expires_at },
        };
      case 'ApiKeyRevoked':
        return { ...state, revoked: true };
    }
  },
};
