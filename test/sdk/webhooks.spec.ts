import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook, WebhookError, type VerifyOptions } from '../../sdk/src/webhooks.ts';

const newSecret = () => `whsec_${randomBytes(24).toString('base64')}`;
const SIGNED_AT = new Date('2026-03-01T12:00:00Z');
const nowMs = SIGNED_AT.getTime();
const MESSAGE = { type: 'operation.ended', operation_id: 'op_1', note: 'Grüße' };
const BODY = JSON.stringify(MESSAGE);

/** As a sender signs that uses the reference library. */
const headersOf = (secret: string, body = BODY, at = SIGNED_AT) => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': String(at.getTime() / 1000),
  'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
});

const faultOf = async (
  given: Parameters<typeof verifyWebhook>[0],
  secrets: string | readonly string[],
  options: VerifyOptions = { nowMs },
): Promise<string> => {
  try {
    await verifyWebhook(given, secrets, options);
    return 'none';
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    return error.fault;
  }
};

describe('verifyWebhook', () => {
  const secret = newSecret();
  const headers = headersOf(secret);

  it('gives the message that the reference library signed, from headers of every kind', async () => {
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    for (const given of [headers, new Headers(headers), upper, lists])
      expect(await verifyWebhook({ body: BODY, headers: given }, secret, { nowMs })).to.deep.equal(MESSAGE);
    const body = new TextEncoder().encode(BODY);
    expect(await verifyWebhook({ body, headers }, secret, { nowMs })).to.deep.equal(MESSAGE);
  });

  it('takes the old and the new secret, and both signatures, during a rotation', async () => {
    const next = newSecret();
    expect(await verifyWebhook({ body: BODY, headers }, [next, secret], { nowMs })).to.deep.equal(MESSAGE);
    const both = `${headersOf(next)['webhook-signature']} ${headers['webhook-signature']}`;
    const given = { body: BODY, headers: { ...headers, 'webhook-signature': both } };
    expect(await verifyWebhook(given, secret, { nowMs })).to.deep.equal(MESSAGE);
  });

  it('refuses another body, ID, time or secret', async () => {
    expect(await faultOf({ body: `${BODY} `, headers }, secret)).to.equal('wrong_signature');
    expect(await faultOf({ body: BODY, headers }, newSecret())).to.equal('wrong_signature');
    for (const changed of [
      { 'webhook-id': 'msg_2' },
      { 'webhook-timestamp': String(nowMs / 1000 + 1) },
      { 'webhook-signature': 'v1,AAAA v2,AAAA v1,%%% nothing' },
    ])
      expect(await faultOf({ body: BODY, headers: { ...headers, ...changed } }, secret)).to.equal(
        'wrong_signature',
      );
  });

  it('refuses what was held back, lies in the future, or has no time', async () => {
    const given = { body: BODY, headers };
    expect(await faultOf(given, secret, { nowMs: nowMs + 301_000 })).to.equal('too_old');
    expect(await faultOf(given, secret, { nowMs: nowMs - 301_000 })).to.equal('too_new');
    expect(await faultOf(given, secret, { nowMs: nowMs + 301_000, toleranceSeconds: 600 })).to.equal('none');
    expect(await faultOf(given, secret, {})).to.equal('too_old');
    const odd = { ...headers, 'webhook-timestamp': 'yesterday' };
    expect(await faultOf({ body: BODY, headers: odd }, secret)).to.equal('malformed');
  });

  it('says which header, body or secret is not usable', async () => {
    for (const name of Object.keys(headers))
      expect(await faultOf({ body: BODY, headers: { ...headers, [name]: '' } }, secret)).to.equal(
        'missing_headers',
      );
    expect(await faultOf({ body: 'no JSON', headers: headersOf(secret, 'no JSON') }, secret)).to.equal(
      'malformed',
    );
    for (const bad of ['whsec_', 'whsec_%%%', ''])
      expect(await faultOf({ body: BODY, headers }, bad), bad).to.equal('bad_secret');
  });
});
