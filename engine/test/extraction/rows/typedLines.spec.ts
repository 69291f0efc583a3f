import { expect } from 'chai';
import type { Json } from '../../../kernel/json.ts';
import { laidOut, type Placed } from '../../support/laidOut.ts';
import { number, text, valueOf } from '../parts/asked.ts';

const listOf = (properties: Record<string, Json>, description = ''): Json => ({
  type: 'array',
  description,
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

  describe('with whole amounts', () => {
    const figures: readonly Placed[] = [
      [60, 40, 'Guests by house'],
      [60, 60, 'Harbour'],
      [400, 60, '124'],
      [60, 80, 'Old town'],
      [400, 80, '850'],
      [60, 100, 'Wagons'],
      [400, 100, '975'],
      [60, 120, 'Lighthouse'],
      [400, 120, '310'],
      [60, 200, 'Cold dishes'],
      [60, 220, 'Smoked trout'],
      [300, 220, '110'],
      [60, 240, 'Charcuterie board'],
      [300, 240, '140'],
      [60, 260, 'Lamb tagine'],
      [300, 260, '190'],
      [60, 280, 'Total of all'],
      [300, 280, '440'],
    ];

    it('are those below the heading that says the list, without their sum', () => {
      expect(valueOf(laidOut([figures]), { dishes })).to.deep.equal({
        dishes: [
          { name: 'Smoked trout', price: 110 },
          { name: 'Charcuterie board', price: 140 },
          { name: 'Lamb tagine', price: 190 },
        ],
      });
    });

    it('are the most that stand together where no heading says the list', () => {
      const visits = listOf({ name: text, visits: number });
      expect(valueOf(laidOut([figures]), { visits })).to.deep.equal({
        visits: [
          { name: 'Harbour', visits: 124 },
          { name: 'Old town', visits: 850 },
          { name: 'Wagons', visits: 975 },
          { name: 'Lighthouse', visits: 310 },
        ],
      });
    });

    it('are no sums', () => {
      const subtotals = listOf({ house: text, subtotal: number }, 'the subtotal of each house');
      expect(valueOf(laidOut([figures]), { subtotals })).to.deep.equal({});
    });
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
