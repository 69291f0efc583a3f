import { expect } from 'chai';
import { startApi, testApi, type TestApi } from '../support/testApi.ts';

const OURS = 'https://app.example.com';

describe('pages of other origins', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi({ CORS_ORIGINS: `${OURS}, https://other.example.com` });
  });
  after(() => api.stop());

  const asked = (url: string, origin: string) =>
    fetch(`${url}/v1/extract`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-api-key,idempotency-key',
      },
    });

  it('may call when their origin is named, without cookies', async () => {
    const { status, headers } = await asked(api.url, OURS);
    expect(status).to.equal(204);
    expect(headers.get('access-control-allow-origin')).to.equal(OURS);
    expect(headers.get('access-control-allow-headers')).to.include('X-API-KEY');
    expect(headers.get('access-control-allow-credentials')).to.equal(null);
    const answer = await fetch(`${api.url}/v1/billing/credit-prices`, { headers: { origin: OURS } });
    expect(answer.headers.get('access-control-allow-origin')).to.equal(OURS);
    expect(answer.headers.get('access-control-expose-headers')).to.include('X-Request-Id');
    expect(answer.headers.get('vary')).to.include('Origin');
  });

  it('are told nothing when it is not', async () => {
    for (const origin of ['https://evil.example.com', 'https://app.example.com.evil.com', 'null']) {
      expect((await asked(api.url, origin)).headers.get('access-control-allow-origin'), origin).to.equal(
        null,
      );
      const answer = await fetch(`${api.url}/health/live`, { headers: { origin } });
      expect(answer.headers.get('access-control-allow-origin'), origin).to.equal(null);
    }
  });

  it('are all kept out where nothing is named', async () => {
    const closed = await testApi();
    const { status, headers } = await asked(closed.url, OURS);
    expect(status).to.equal(405);
    expect(headers.get('access-control-allow-origin')).to.equal(null);
  });
});
