import { expect } from 'chai';
import {
  deliveryIdOf,
  GIVEN_UP_AFTER_MS,
  isDue,
  isUnderWay,
  pauseAfter,
  signingSecrets,
  webhook,
  type Webhook,
  type WebhookCommand,
  webhookDelivery,
} from '../../domain/webhook.ts';
import { finding } from '../../domain/finding.ts';

const NOW = '2026-01-31T08:00:00.000Z';
const LATER = '2026-02-01T08:00:00.000Z';
const meta = {
  now: NOW,
  actor: { key_id: 'key_1', role: 'admin' },
  correlation_id: 'r',
  command_id: 'c',
} as const;
const settings = { url: 'https://a.example', events: ['*'], description: null, low_balance_credits: null };
const name = { webhook_id: 'wh_1', tenant_id: 'acme' };
const create: WebhookCommand = {
  type: 'CreateWebhook',
  data: { ...settings, ...name, secret_id: 'sec_1' },
  meta,
};
const change = (enabled: boolean): WebhookCommand => ({
  type: 'ChangeWebhook',
  data: { ...settings, enabled },
  meta,
});

/** Runs commands one after the other. Gives the types of events of the last, or its rejection. */
const last = (...commands: readonly WebhookCommand[]) => {
  let state = webhook.initialState;
  let told: readonly string[] | string = [];
  for (const command of commands) {
    const decision = webhook.decide(state, command);
    if (decision.kind === 'rejected') told = decision.rejection.code;
    else {
      told = decision.events.map(({ type }) => type);
      state = decision.events.reduce(webhook.evolve, state);
    }
  }
  return { told, webhook: state.webhook };
};

describe('a webhook', () => {
  const test: WebhookCommand = { type: 'TestWebhook', data: { delivery_id: 'msg_1' }, meta };
  const remove: WebhookCommand = { type: 'RemoveWebhook', meta };
  const told = { url: settings.url, told_since: NOW };
  const disable: WebhookCommand = {
    type: 'DisableWebhook',
    data: { ...told, reason: 'gone', failing_since: NOW },
    meta,
  };
  const abandon: WebhookCommand = { type: 'AbandonWebhook', data: name, meta };
  const rotate = (secret_id: string): WebhookCommand => ({
    type: 'RotateWebhookSecret',
    data: { secret_id, old_until: LATER },
    meta,
  });

  it('is created, changed, disabled and removed once each', () => {
    expect(last(create).told).to.deep.equal(['WebhookCreated']);
    expect(last(create, create).told).to.deep.equal([]);
    expect(last(create, change(true)).told).to.deep.equal([]);
    expect(last(create, change(false)).told).to.deep.equal(['WebhookChanged']);
    expect(last(create, disable).told).to.deep.equal(['WebhookDisabled']);
    expect(last(create, disable, disable).told).to.deep.equal([]);
    expect(last(create, disable, change(true)).webhook).to.deep.include({
      disabled_reason: null,
      enabled: true,
    });
    expect(last(create, test, test).told).to.deep.equal(['WebhookTested']);
    expect(last(create, change(false), test).told).to.equal('webhook_disabled');
    expect(last(create, remove, test).told).to.equal('webhook_not_found');
    expect(last(create, remove).told).to.deep.equal(['WebhookRemoved']);
    expect(last(create, remove, remove).told).to.deep.equal([]);
  });

  it('is disabled only for what was answered at its URL, since it is told there', () => {
    const after72h = { ...meta, now: '2026-02-03T08:00:00.000Z' };
    const moved: WebhookCommand = {
      type: 'ChangeWebhook',
      data: { ...settings, url: 'https://b.example', enabled: true },
      meta: { ...meta, now: LATER },
    };
    const failing = (data: object): WebhookCommand => ({
      type: 'DisableWebhook',
      data: { ...told, reason: 'failing', failing_since: NOW, ...data },
      meta: after72h,
    });
    expect(last(create, failing({})).told).to.deep.equal(['WebhookDisabled']);
    expect(last(create, failing({ failing_since: LATER })).told).to.deep.equal([]);
    expect(last(create, moved, disable).told, 'gone from where it was').to.deep.equal([]);
    const here = { url: 'https://b.example', told_since: LATER };
    expect(last(create, moved, failing(here)).told, 'failing from where it was').to.deep.equal([]);
    const again: WebhookCommand = { ...change(true), meta: { ...meta, now: LATER } };
    expect(last(create, disable, again, disable).told, 'before it was enabled again').to.deep.equal([]);
  });

  it('that was never created can be closed, and is not created then', () => {
    expect(last(abandon).told).to.deep.equal(['WebhookRemoved']);
    expect(last(abandon, abandon).told).to.deep.equal([]);
    expect(last(abandon, create).told).to.equal('webhook_not_found');
    expect(last(create, abandon)).to.have.nested.property('webhook.enabled', true);
    expect(last(create, remove, abandon).told).to.deep.equal([]);
  });

  it('is not there before it was created, nor after it was removed', () => {
    for (const command of [change(true), disable, rotate('sec_2'), remove])
      expect(last(command).told).to.equal('webhook_not_found');
    for (const command of [create, change(true), disable, rotate('sec_2')])
      expect(last(create, remove, command).told).to.equal('webhook_not_found');
  });

  it('has two secrets while it changes over, and never three', () => {
    const secrets = (now: string, ...commands: readonly WebhookCommand[]) =>
      signingSecrets(last(create, ...commands).webhook as Webhook, now);
    expect(secrets(NOW)).to.deep.equal(['sec_1']);
    expect(secrets(NOW, rotate('sec_2'))).to.deep.equal(['sec_2', 'sec_1']);
    expect(secrets(LATER, rotate('sec_2'))).to.deep.equal(['sec_2']);
    expect(secrets(NOW, rotate('sec_2'), rotate('sec_3'))).to.deep.equal(['sec_3', 'sec_2']);
    expect(last(create, rotate('sec_2'), rotate('sec_2')).told).to.deep.equal([]);
  });
});

describe('a delivery', () => {
  const of = { ...name, delivery_id: 'msg_1' };
  const attempt = (number: number, error: 'status' | null) =>
    ({
      type: 'RecordAttempt',
      meta,
      data: {
        ...of,
        attempt: number,
        error,
        response_status: null,
        duration_ms: 1,
        attempted_at: NOW,
        next_attempt_at: error === null ? null : LATER,
      },
    }) as const;
  const resend = { type: 'ResendDelivery', data: of, meta } as const;
  const start = (number: number) =>
    ({ type: 'StartAttempt', meta, data: { ...of, attempt: number } }) as const;
  const tried = (number: number, error: 'status' | null) => [start(number), attempt(number, error)];
  const after = (...commands: readonly Parameters<typeof webhookDelivery.decide>[1][]) =>
    commands.reduce((state, command) => {
      const decision = webhookDelivery.decide(state, command);
      return decision.kind === 'accepted' ? decision.events.reduce(webhookDelivery.evolve, state) : state;
    }, webhookDelivery.initialState);

  const taken = { kind: 'rejected', rejection: { code: 'attempt_taken' } };

  it('is due until it is delivered, and again when somebody wants it', () => {
    expect(isDue(after(), NOW)).to.equal(true);
    expect(isDue(after(...tried(1, 'status')), NOW)).to.equal(false);
    expect(isDue(after(...tried(1, 'status')), LATER)).to.equal(true);
    expect(isDue(after(...tried(1, null)), LATER)).to.equal(false);
    expect(isDue(after(...tried(1, null), resend), NOW)).to.equal(true);
    expect(after(...tried(1, 'status'), resend)).to.deep.include({ attempts: 1, tries: 0 });
  });

  it('starts each attempt once, and records it once', () => {
    const one = after(...tried(1, 'status'));
    expect(webhookDelivery.decide(one, start(1))).to.deep.equal(taken);
    expect(webhookDelivery.decide(one, attempt(1, null))).to.deep.equal(taken);
    expect(webhookDelivery.decide(one, attempt(2, null)), 'never started').to.deep.equal(taken);
    expect(webhookDelivery.decide(after(...tried(1, null)), start(2)), 'delivered').to.deep.equal(taken);
    expect([one, after(...tried(1, 'status'), start(2))].map(isUnderWay)).to.deep.equal([false, true]);
  });

  it('counts both of two attempts that overlap, and is delivered when one of them was', () => {
    const both = [start(1), start(2)];
    const early = after(...both, attempt(2, null), attempt(1, 'status'));
    expect(early).to.deep.include({ attempts: 2, delivered: true, next_attempt_at: null });
    const late = after(...both, attempt(2, 'status'), attempt(1, null));
    expect(late).to.deep.include({ attempts: 2, delivered: true, next_attempt_at: null });
    const overtaken = after(...both, attempt(1, 'status'));
    expect(overtaken).to.deep.include({ attempts: 2, tries: 0, next_attempt_at: null });
    expect(isUnderWay(overtaken)).to.equal(true);
  });

  it('is wanted again once until that was done', () => {
    const wanted = after(...tried(1, null), resend);
    expect(webhookDelivery.decide(wanted, resend)).to.have.deep.property('events', []);
  });

  it('has an ID of its own for each event, webhook and type, and always the same', () => {
    const ids = [
      deliveryIdOf('e1', 'wh_1', 'balance.low'),
      deliveryIdOf('e2', 'wh_1', 'balance.low'),
      deliveryIdOf('e1', 'wh_2', 'balance.low'),
      deliveryIdOf('e1', 'wh_1', 'balance.exhausted'),
    ];
    expect(new Set(ids).size).to.equal(4);
    expect(deliveryIdOf('e1', 'wh_1', 'balance.low')).to.equal(ids[0]);
  });

  it('is tried after 5 s at first, then less and less often, at least once a day', () => {
    expect(pauseAfter(1, 0.5)).to.equal(5_000);
    expect(pauseAfter(2, 0.5)).to.equal(20_000);
    expect([pauseAfter(2, 0), pauseAfter(2, 1)]).to.deep.equal([16_000, 24_000]);
    expect(pauseAfter(1, 0)).to.equal(5_000);
    expect(pauseAfter(100, 1)).to.equal(86_400_000);
    expect(pauseAfter(1, 0.5, 60_000)).to.equal(60_000);
    expect(pauseAfter(1, 0.5, 10 * 86_400_000)).to.equal(86_400_000);
    let attempts = 0;
    for (let at = 0; at < GIVEN_UP_AFTER_MS; attempts += 1) at += pauseAfter(attempts + 1, 0.5);
    expect(attempts).to.be.within(8, 12);
  });
});

describe('what the service finds wrong with itself', () => {
  const report = (...drifting: readonly (readonly [string, number])[]) =>
    ({
      type: 'ReportDrift',
      meta,
      data: {
        tenants_checked: 3,
        drifting: drifting.map(([tenant_id, drift_credits]) => ({ tenant_id, drift_credits })),
      },
    }) as const;

  it('is written down when it changes, whatever the order that it comes in', () => {
    let state = finding.initialState;
    const told = [
      report(),
      report(['b', 1], ['a', 2]),
      report(['a', 2], ['b', 1]),
      report(['a', 3]),
      report(),
      report(),
    ].map((command) => {
      const decision = finding.decide(state, command);
      const events = decision.kind === 'accepted' ? decision.events : [];
      state = events.reduce(finding.evolve, state);
      return events.map(({ type }) => type).join();
    });
    expect(told).to.deep.equal(['', 'DriftFound', '', 'DriftFound', 'DriftGone', '']);
  });

  it('names twenty tenants and counts the others', () => {
    const many = Array.from({ length: 30 }, (_, at) => [`t${String(at).padStart(2, '0')}`, 1] as const);
    const decision = finding.decide(finding.initialState, report(...many));
    const [event] = decision.kind === 'accepted' ? decision.events : [];
    expect(event?.data).to.deep.include({ tenants_drifting: 30 });
    expect(event?.data).to.have.property('drifting').with.lengthOf(20);
  });
});
