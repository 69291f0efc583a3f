import { expect } from 'chai';
import type { Json } from '../../../kernel/json.ts';
import { laidOut, type Placed } from '../../support/laidOut.ts';
import { number, text, valueOf } from '../parts/asked.ts';

const listOf = (properties: Record<string, Json>): Json => ({
  type: 'array',
  items: { type: 'object', properties },
});

describe('lines of one form without a header', () => {
  const menu: readonly Placed[] = [
    [60, 40, 'Cold platters'],
    [60, 60, 'Smoked trout'],
    [400, 60, '£6.80'],
    [60, 80, 'Charcuterie board'],
    [400, 80, '£8.25'],
    [60, 100, 'Hot dishes'],
    [60, 120, 'Lamb tagine'],
    [395, 120, '£13.90'],
  ];
  const dishes = listOf({ name: text, price: number });

  it('are a list of prices', () => {
    expect(valueOf(laidOut([menu]), { dishes })).to.deep.equal({
      dishes: [
        { name: 'Smoked trout', price: 6.8 },
        { name: 'Charcuterie board', price: 8.25 },
        { name: 'Lamb tagine', price: 13.9 },
      ],
    });
  });

  it('are none where they are but two', () => {
    expect(valueOf(laidOut([menu.slice(0, 5)]), { dishes })).to.deep.equal({});
  });

  it('are a programme by their times, column by column, with what stands below each', () => {
    const page: readonly Placed[] = [
      [60, 40, '09:00 Registration'],
      [320, 40, '13:00 Excursion'],
      [60, 70, '09:30 Opening address'],
      [60, 82, 'Hanna de Wit, Port Authority'],
      [320, 70, '14:00 Panel on costs'],
      [60, 110, '10:15 Dikes that measure'],
      [320, 110, '15:30 Closing remarks'],
    ];
    const sessions = listOf({ time: text, title: text, speaker: text });
    expect(valueOf(laidOut([page]), { sessions })).to.deep.equal({
      sessions: [
        { time: '09:00', title: 'Registration' },
        { time: '09:30', title: 'Opening address', speaker: 'Hanna de Wit' },
        { time: '10:15', title: 'Dikes that measure' },
        { time: '13:00', title: 'Excursion' },
        { time: '14:00', title: 'Panel on costs' },
        { time: '15:30', title: 'Closing remarks' },
      ],
    });
  });
});
