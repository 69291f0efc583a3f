import { expect } from 'chai';
import { Registry } from 'prom-client';
import { heavySlots } from '../../src/commands/slots.ts';
import {
  heavyGauges,
  heavyRefusals,
  providerMetrics,
  rateLimitRefusals,
} from '../../src/telemetry/workMetrics.ts';

describe('metrics of heavy work, limits and providers', () => {
  it('show slots as they are, and why some were not given', async () => {
    const registry = new Registry();
    const slots = heavySlots(2, heavyRefusals(registry));
    heavyGauges(registry, slots);
    expect(await registry.metrics()).to.contain('quire_heavy_refused_total{reason="closing"} 0');
    const free = slots.take('acme');
    slots.take('acme');
    const text = await registry.metrics();
    expect(text).to.contain('quire_heavy_in_use 1').and.to.contain('quire_heavy_max 2');
    expect(text).to.contain('quire_heavy_refused_total{reason="share"} 1');
    free?.();
    expect(await registry.metrics()).to.contain('quire_heavy_in_use 0');
  });

  it('count refusals by bucket', async () => {
    const registry = new Registry();
    const onLimited = rateLimitRefusals(registry);
    onLimited('heavy');
    const text = await registry.metrics();
    expect(text).to.contain('quire_rate_limited_total{bucket="heavy"} 1');
    expect(text).to.contain('quire_rate_limited_total{bucket="general"} 0');
  });

  it('count calls and tokens by known providers; names that were made up share one', async () => {
    const registry = new Registry();
    const { onCall, onTokens } = providerMetrics(registry);
    onCall({ provider: 'openai', outcome: 'answered', seconds: 2 });
    onCall({ provider: 'gemini', outcome: 'timed_out', seconds: 60 });
    for (let n = 0; n < 50; n += 1)
      onCall({ provider: `made-up-${String(n)}`, outcome: 'aborted', seconds: 1 });
    onTokens('openai', { input_tokens: 100, output_tokens: 20, cached_input_tokens: 40, pages: null });
    const text = await registry.metrics();
    expect(text).to.contain('quire_provider_calls_total{provider="openai",outcome="answered"} 1');
    expect(text).to.contain('quire_provider_calls_total{provider="google",outcome="timed_out"} 1');
    expect(text).to.contain('quire_provider_calls_total{provider="other",outcome="aborted"} 50');
    expect(text).to.not.contain('made-up');
    expect(text).to.contain('quire_provider_seconds_sum{provider="google"} 60');
    for (const line of ['direction="input"} 100', 'direction="cached_input"} 40', 'direction="output"} 20'])
      expect(text).to.contain(`quire_llm_tokens_total{provider="openai",${line}`);
  });
});
