import { expect } from 'chai';
import { areSynonyms } from '../../../extraction/words/alike.ts';
import { laidOut, type Placed } from '../../support/laidOut.ts';
import type { Json } from '../../../kernel/json.ts';
import { date, integer, number, said, text, valueOf } from '../parts/asked.ts';

describe('other words for the same thing', () => {
  it('stand for each other, in one language and across languages, in singular and plural', () => {
    expect(areSynonyms('tenant', 'occupant')).to.equal(true);
    expect(areSynonyms('tenants', 'mieter')).to.equal(true);
    expect(areSynonyms('tenant', 'rent')).to.equal(false);
    expect(areSynonyms('sheep', 'sheep')).to.equal(false);
  });

  it('stand for each other in the cases of Slavic languages', () => {
    expect(areSynonyms('microchip', 'mikrochipu')).to.equal(true);
    expect(areSynonyms('engine', 'silnika')).to.equal(true);
    expect(areSynonyms('chip', 'pucea')).to.equal(false);
  });

  it('are told apart from the number before a label and from what explains it in brackets', () => {
    const form = 'Harbour form\n\nI.5. Berth (place, number, side of the quay): Q-7';
    expect(said(form, { berth: text })).to.deep.equal({ berth: 'Q-7' });
  });

  it('make a label say a field', () => {
    const form = 'Harbour form\n\nOdometer: 14,220\nInception: 4 May 2031\nLast service: 3 March 2030';
    expect(said(form, { mileage: integer, valid_from: date })).to.deep.equal({
      mileage: 14220,
      valid_from: '2031-05-04',
    });
  });

  it('name nothing in a sentence: there they stand for too much else', () => {
    const prose =
      'Anyone who has taken the ferry knows that the fee of 7 coins is charged at the lower quay only.';
    expect(said(prose, { premium: integer })).to.deep.equal({});
  });
});

describe('a schema in another language than the page', () => {
  const invoice = { invoice_number: text, seller: text, due_date: date, deposit: number, currency: text };

  it('is answered from labels in Polish and in Czech', () => {
    const polish =
      'Faktura nr: FV/31/7\nSprzedawca: Piekarnia Dorn sp. z o.o.\nTermin płatności: 4.05.2031\n' +
      'Zaliczka: 120,50\nWaluta: PLN';
    expect(said(polish, invoice)).to.deep.equal({
      invoice_number: 'FV/31/7',
      seller: 'Piekarnia Dorn sp. z o.o.',
      due_date: '2031-05-04',
      deposit: 120.5,
      currency: 'PLN',
    });
    const czech = 'Číslo smlouvy: S-77\nVýpovědní doba: 3 měsíce\nDatum narození: 4. 5. 1981\nMístnost: 12B';
    const asked = { contract_no: text, notice_period: text, birth_date: date, room: text };
    expect(said(czech, asked)).to.deep.equal({
      contract_no: 'S-77',
      notice_period: '3 měsíce',
      birth_date: '1981-05-04',
      room: '12B',
    });
  });

  it('may be the Polish or Czech one itself', () => {
    const form = 'Invoice No.: QX-881\nEmployee: Ada Low\nMeter number: 55-17';
    expect(said(form, { numer_faktury: text, pracownik: text, numer_licznika: text })).to.deep.equal({
      numer_faktury: 'QX-881',
      pracownik: 'Ada Low',
      numer_licznika: '55-17',
    });
    expect(said(form, { cislo_faktury: text, zamestnanec: text, cislo_elektromeru: text })).to.deep.equal({
      cislo_faktury: 'QX-881',
      zamestnanec: 'Ada Low',
      cislo_elektromeru: '55-17',
    });
  });

  it('has the columns of its lists under heads in German, Italian and Polish', () => {
    const column = [60, 200, 330, 430];
    const rows = [
      ['Besen', '3', '4,50', '13,50'],
      ['Eimer', '2', '6,00', '12,00'],
      ['Lappen', '10', '1,00', '10,00'],
    ];
    const heads = [
      ['Beschreibung', 'Menge', 'Einzelpreis', 'Gesamt'],
      ['Descrizione', 'Quantità', 'Prezzo unitario', 'Importo'],
      ['Nazwa towaru', 'Ilość', 'Cena jedn.', 'Wartość'],
    ];
    const asked = { description: text, quantity: number, unit_price: number, line_total: number };
    for (const head of heads) {
      const page = [head, ...rows].flatMap((cells, i) =>
        cells.map((cell, j): Placed => [column[j] ?? 0, 40 + 16 * i, cell]),
      );
      const { items } = valueOf(laidOut([page]), {
        items: { type: 'array', items: { type: 'object', properties: asked } },
      }) as Record<string, Json>;
      expect(items, head[0]).to.deep.include({
        description: 'Eimer',
        quantity: 2,
        unit_price: 6,
        line_total: 12,
      });
    }
  });
});

describe('a text whose name stands left of it', () => {
  it('may be a number', () => {
    const rows: readonly (readonly [string, string])[] = [
      ['Version', '3.2'],
      ['Kept by', 'Ada Low'],
      ['Agreed by', 'Bo Renn'],
      ['Place', 'Lower Quay'],
    ];
    const form = laidOut([
      rows.flatMap(([label, value], i): Placed[] => [
        [60, 40 + 16 * i, label],
        [200, 40 + 16 * i, value],
      ]),
    ]);
    expect(valueOf(form, { version: text })).to.deep.equal({ version: '3.2' });
  });
});
