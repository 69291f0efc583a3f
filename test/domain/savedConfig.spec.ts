import { expect } from 'chai';
import {
  type ChannelSettings,
  liveSecrets,
  savedConfig,
  type SavedConfigCommand,
} from '../../domain/savedConfig.ts';
import { meta, NOW } from '../support/money/moneyCommands.ts';
import { specFor } from '../support/specFor.ts';

const { given } = specFor(savedConfig);

const channel = (over: Partial<ChannelSettings> = {}): ChannelSettings => ({
  provider_model: 'openai/gpt-5-mini',
  api_base: null,
  max_tokens: null,
  temperature: null,
  num_retries: null,
  secret_id: null,
  api_key_last4: null,
  ...over,
});
const KEYED = channel({ secret_id: 'sec_1', api_key_last4: 'wxyz' });

type Wanted = Extract<SavedConfigCommand, { type: 'PublishConfig' }>['data'];
const publish = (over: Partial<Wanted> = {}): SavedConfigCommand => ({
  type: 'PublishConfig',
  data: {
    config_id: 'cfg-1',
    tenant_id: 'acme',
    name: null,
    schema: null,
    mode: null,
    artifact_id: null,
    llm: null,
    ocr: null,
    update: false,
    ...over,
  },
  meta,
});
const update = (over: Partial<Wanted> = {}) => publish({ update: true, ...over });
const revoke: SavedConfigCommand = { type: 'RevokeConfig', meta };
const NOT_FOUND = { code: 'config_not_found' } as const;

describe('saved configs', () => {
  it('count their versions, each complete in itself', () => {
    given()
      .when(publish({ name: 'invoices', mode: 'fast' }))
      .then(['ConfigPublished', { version: 1, name: 'invoices', mode: 'fast', published_at: NOW }]);
    given(publish({ name: 'invoices', mode: 'fast' }))
      .when(update({ mode: 'robust' }))
      .then(['ConfigPublished', { version: 2, name: null, mode: 'robust' }]);
    given(publish())
      .when(update())
      .then(['ConfigPublished', { version: 2 }]);
  });

  it('cannot be updated when they do not exist, belong to another tenant, or are revoked', () => {
    given().when(update()).thenRejected(NOT_FOUND);
    given(publish())
      .when(update({ tenant_id: 'other' }))
      .thenRejected(NOT_FOUND);
    given(publish(), revoke).when(update()).thenRejected(NOT_FOUND);
    given(publish()).when(publish()).thenRejected(NOT_FOUND);
    given(publish(), revoke).when(publish()).thenRejected(NOT_FOUND);
  });

  it('are revoked once', () => {
    given().when(revoke).thenRejected(NOT_FOUND);
    given(publish())
      .when(revoke)
      .then(['ConfigRevoked', { config_id: 'cfg-1', tenant_id: 'acme', revoked_at: NOW }]);
    given(publish(), revoke).when(revoke).thenNothing();
  });

  it('keep a key that an update leaves out, for the same model at the same address only', () => {
    const kept = (llm: ChannelSettings | null) =>
      given(publish({ llm: KEYED }), update({ llm })).state().latest?.llm?.secret_id;
    expect(kept(channel({ temperature: 1 }))).to.equal('sec_1');
    expect(kept(channel({ secret_id: 'sec_2' }))).to.equal('sec_2');
    expect(kept(channel({ provider_model: 'mistral/large' }))).to.equal(null);
    expect(kept(channel({ api_base: 'https://proxy.example' }))).to.equal(null);
    expect(kept(null)).to.equal(undefined);
  });

  it('keep a channel that an update says nothing of, with its key; null ends it', () => {
    const after = (...changes: Partial<Wanted>[]) =>
      given(publish({ llm: KEYED }), ...changes.map(update)).state().latest;
    expect(after({ llm: undefined })?.llm).to.deep.equal(KEYED);
    expect(after({ llm: undefined }, { llm: undefined })?.llm).to.deep.equal(KEYED);
    expect(after({ llm: null }, { llm: undefined })?.llm).to.equal(null);
    expect(given(publish({ llm: undefined })).state().latest?.llm).to.equal(null);
  });

  it('never give one channel the key of the other', () => {
    const { latest } = given(publish({ llm: KEYED }), update({ llm: null, ocr: channel() })).state();
    expect(latest?.ocr?.secret_id).to.equal(null);
  });

  it('need the secrets of their latest version, and none once they are revoked', () => {
    const ocr = channel({ secret_id: 'sec_9' });
    const past = [publish({ llm: KEYED, ocr }), update({ llm: channel() })];
    expect(liveSecrets(given(past[0]!).state())).to.deep.equal(['sec_1', 'sec_9']);
    expect(liveSecrets(given(...past).state())).to.deep.equal(['sec_1']);
    expect(liveSecrets(given(...past, revoke).state())).to.deep.equal([]);
    expect(liveSecrets(given().state())).to.deep.equal([]);
  });
});
