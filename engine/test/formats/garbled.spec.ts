import { expect } from 'chai';
import { isGarbled } from '../../formats/pdf/garbled.ts';

const garbled = (text: string): boolean => isGarbled(text.split(' ').map((word) => ({ text: word })));

describe('a text layer whose letters mean nothing', () => {
  const meaningless = [
    "?@''-/ ?/&'-3 ?&'-@ )(*&^ %$#",
    'fiThff- / ff %,-0fffi0 fffffifi ff',
    '\ue001\ue002\ue003 \ue004\ue005 abc',
    '\ufffd\ufffd\ufffd\ufffd text',
  ];
  for (const text of meaningless)
    it(`is noticed: ${JSON.stringify(text)}`, () => expect(garbled(text)).to.equal(true));

  const meant = [
    'The quick brown fox',
    'Angstschweiß, Hrsg. bzgl. GmbH Nr. 7',
    '1. Introduction ............................ 12',
    'Name ______________________ Date ____________',
    '12.50 -3.00 (4.10) 99 % $1,000.00',
    'Schifffahrt www.example.com III. Kapitel',
    'П р и в е т',
    '日本語の文章です',
    '☐ ☐ ☒',
    '* * * * * *',
    '',
  ];
  for (const text of meant)
    it(`is not seen in ${JSON.stringify(text)}`, () => expect(garbled(text)).to.equal(false));
});
