import { expect } from 'chai';
import { places, placesStream, type TakePlace } from '../../domain/places.ts';
import { specFor } from '../support/specFor.ts';

const { given } = specFor(places);
const NOW = '2026-01-31T08:00:00.000Z';

const take = (name: string, { over = [] as readonly string[], earlier = [] as readonly string[] } = {}) =>
  ({
    type: 'TakePlace',
    data: { tenant_id: 'acme', thing: 'webhooks', name, max: 2, over: new Set(over), earlier },
    meta: { now: NOW, actor: { key_id: 'k', role: 'admin' }, correlation_id: 'r', command_id: name },
  }) as const satisfies TakePlace;

const held = (...names: readonly string[]) => names.map((name) => ({ name, taken_at: NOW }));

describe('places of a tenant', () => {
  it('are taken as long as there are any', () => {
    given(take('a'))
      .when(take('b'))
      .then(['PlaceTaken', { name: 'b', freed: [], holders: held('a', 'b') }]);
    given(take('a'), take('b')).when(take('c')).thenRejected({ code: 'no_place_free' });
  });

  it('are taken once by the same name', () => {
    given(take('a'), take('b')).when(take('a')).thenNothing();
  });

  it('are free when who had them is over, and not before', () => {
    const past = [take('a'), take('b')];
    given(...past)
      .when(take('c', { over: ['x'] }))
      .thenRejected({ code: 'no_place_free' });
    given(...past)
      .when(take('c', { over: ['a'] }))
      .then(['PlaceTaken', { freed: ['a'], holders: held('b', 'c') }]);
    expect(given(...past, take('c', { over: ['a'] })).state()).to.deep.equal({ holders: held('b', 'c') });
  });

  it('count those from before they were counted, until the first is taken', () => {
    given()
      .when(take('b', { earlier: ['a'] }))
      .then(['PlaceTaken', { freed: [], holders: held('a', 'b') }]);
    given()
      .when(take('c', { earlier: ['a', 'b', 'x'] }))
      .thenRejected({ code: 'no_place_free' });
    given(take('b'))
      .when(take('c', { earlier: ['a'] }))
      .then(['PlaceTaken', { holders: held('b', 'c') }]);
  });

  it('are in a stream of their tenant and thing, whatever the tenant is called', () => {
    expect(placesStream({ tenant_id: 'a:b', thing: 'webhooks' })).to.equal('places-a%3Ab:webhooks');
  });
});
