import { expect } from 'chai';
import { tableOf } from '../../../document/document.ts';
import { flowOf, listOf, read } from './flows.ts';

describe('rows of a table that stands on its side', () => {
  const boats = listOf({
    boat: { type: 'string' },
    length_m: { type: 'number' },
    crew: { type: 'integer' },
  });

  it('are its columns', async () => {
    const document = await flowOf(
      tableOf(
        [
          ['Boat', 'Swift', 'Petrel'],
          ['Length (m)', '7.5', '12.1'],
          ['Crew', '2', '5'],
        ],
        1,
      ),
    );
    expect(read(document, { boats }).value).to.deep.equal({
      boats: [
        { boat: 'Swift', length_m: 7.5, crew: 2 },
        { boat: 'Petrel', length_m: 12.1, crew: 5 },
      ],
    });
  });

  it('have the day that the empty corner leaves', async () => {
    const document = await flowOf(
      tableOf(
        [
          ['', '12/03/2023', '19/03/2023'],
          ['Weight (kg)', '71.2', '70.8'],
          ['Pulse', '78', '74'],
        ],
        1,
      ),
    );
    const visits = listOf({
      date: { type: 'string', format: 'date' },
      weight_kg: { type: 'number' },
      pulse: { type: 'integer' },
    });
    expect(read(document, { visits }).value).to.deep.equal({
      visits: [
        { date: '2023-03-12', weight_kg: 71.2, pulse: 78 },
        { date: '2023-03-19', weight_kg: 70.8, pulse: 74 },
      ],
    });
  });

  it('have the member that the empty corner leaves', async () => {
    const document = await flowOf(
      tableOf(
        [
          ['', '2021', '2022', '2023'],
          ['Boats built', '4', '6', '5'],
          ['Boats mended', '31', '28', '40'],
        ],
        1,
      ),
    );
    const years = listOf({
      year: { type: 'integer' },
      boats_built: { type: 'integer' },
      boats_mended: { type: 'integer' },
    });
    expect(read(document, { years }).value).to.deep.equal({
      years: [
        { year: 2021, boats_built: 4, boats_mended: 31 },
        { year: 2022, boats_built: 6, boats_mended: 28 },
        { year: 2023, boats_built: 5, boats_mended: 40 },
      ],
    });
  });
});
