import type { CommandMeta } from '../kernel/command.ts';
import { accept, reject, type Decider, type Decision } from '../kernel/decider.ts';
import { epochMs, shifted } from '../kernel/instants.ts';
import type { ApiKeyEvent } from './events.ts';

type Issued = Extract<ApiKeyEvent, { type: 'ApiKeyIssued' }>['data'];

/** One key. `expires_at` is the earliest of its own expiry and the end of its grace after a rotation. */
export interface ApiKeyState {
  readonly issued: Issued | null;
  readonly expires_at: string | null;
  readonly replaced_by: string | null;
  readonly revoked_at: string | null;
}

export interface IssueApiKey {
  readonly type: 'IssueApiKey';
  readonly data: Omit<Issued, 'created_at'>;
  readonly meta: CommandMeta;
}

/** On the old key's stream; the new key is issued on its own stream with `replaces`. */
export interface RotateApiKey {
  readonly type: 'RotateApiKey';
  readonly data: { readonly key_id: string; readonly replaced_by: string; readonly grace_seconds: number };
  readonly meta: CommandMeta;
}

export interface RevokeApiKey {
  readonly type: 'RevokeApiKey';
  readonly data: { readonly key_id: string };
  readonly meta: CommandMeta;
}

export type ApiKeyCommand = IssueApiKey | RotateApiKey | RevokeApiKey;

/** `key_not_found` also for a key that is not live any more: it cannot be rotated. */
export type ApiKeyRejection =
  { readonly code: 'key_not_found' } | { readonly code: 'idempotency_key_reused' };

type ApiKeyDecision = Decision<ApiKeyEvent, ApiKeyRejection>;

/** Whether a key opens anything at a moment: issued, not revoked, not expired. */
export const isLive = ({ issued, revoked_at, expires_at }: ApiKeyState, now: string): boolean =>
  issued !== null && revoked_at === null && (expires_at === null || epochMs(now) < epochMs(expires_at));

const issue = ({ issued }: ApiKeyState, { data, meta }: IssueApiKey): ApiKeyDecision => {
  if (issued === null)
    return accept<ApiKeyEvent>({ type: 'ApiKeyIssued', data: { ...data, created_at: meta.now } });
  return issued.key_hash === data.key_hash
    ? accept<ApiKeyEvent>()
    : reject({ code: 'idempotency_key_reused' });
};

/** The old key lives on for its grace, but never longer than it would have. */
const rotate = (state: ApiKeyState, { data, meta }: RotateApiKey): ApiKeyDecision => {
  if (state.issued === null) return reject({ code: 'key_not_found' });
  if (state.replaced_by === data.replaced_by) return accept<ApiKeyEvent>();
  if (!isLive(state, meta.now)) return reject({ code: 'key_not_found' });
  const { key_id, key_hash } = state.issued;
  const graceEnd = shifted(meta.now, data.grace_seconds * 1_000);
  const expires_at = earlier(graceEnd, state.expires_at);
  const { replaced_by } = data;
  return accept<ApiKeyEvent>({
    type: 'ApiKeyRotated',
    data: { key_id, key_hash, replaced_by, expires_at, rotated_at: meta.now },
  });
};

const earlier = (a: string, b: string | null): string => (b !== null && epochMs(b) < epochMs(a) ? b : a);

const revoke = ({ issued, revoked_at }: ApiKeyState, { meta }: RevokeApiKey): ApiKeyDecision => {
  if (issued === null) return reject({ code: 'key_not_found' });
  if (revoked_at !== null) return accept<ApiKeyEvent>();
  const { key_id, key_hash } = issued;
  return accept<ApiKeyEvent>({ type: 'ApiKeyRevoked', data: { key_id, key_hash, revoked_at: meta.now } });
};

const evolve = (state: ApiKeyState, event: ApiKeyEvent): ApiKeyState => {
  switch (event.type) {
    case 'ApiKeyIssued':
      return { ...state, issued: event.data, expires_at: event.data.expires_at };
    case 'ApiKeyRotated':
      return { ...state, replaced_by: event.data.replaced_by, expires_at: event.data.expires_at };
    case 'ApiKeyRevoked':
      return { ...state, revoked_at: event.data.revoked_at };
  }
};

/** One API key, from issue to revocation. */
export const apiKey: Decider<ApiKeyState, ApiKeyCommand, ApiKeyEvent, ApiKeyRejection> = {
  initialState: { issued: null, expires_at: null, replaced_by: null, revoked_at: null },
  decide: (state, command) => {
    switch (command.type) {
      case 'IssueApiKey':
        return issue(state, command);
      case 'RotateApiKey':
        return rotate(state, command);
      case 'RevokeApiKey':
        return revoke(state, command);
    }
  },
  evolve,
};
