import { expect } from 'chai';
import { evaluate, expressionChecker } from '../../src/rules/expressions.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';

const INVOICE: JsonObject = {
  number: 'R-7',
  date: '2026-03-01',
  due: '2026-03-31',
  net: 100.1,
  tax: 19.02,
  total: 119.12,
  rate: 19,
  iban: 'DE02 1203 0000 0000 2020 51',
  vat_id: 'DE136695976',
  lines: [
    { amount: 0.1, quantity: 1 },
    { amount: 0.2, quantity: 2 },
    { amount: 99.8, quantity: 3 },
  ],
  'net amount': 5,
};
const FIELDS = [...Object.keys(INVOICE), 'discount'];

const outcomeOf = (expression: string, message?: string) => {
  const [outcome] = evaluate([{ name: 'c', expression, ...(message === undefined ? {} : { message }) }], {
    result: INVOICE,
    fields: FIELDS,
  });
  if (outcome === undefined) throw new Error('there is no outcome');
  return outcome;
};
const passed = (expression: string) => outcomeOf(expression).passed;

describe('expressions of checks', () => {
  it('are about the members of the result', () => {
    for (const [expression, wanted] of [
      ['total > 0', true],
      ['near(total, net + tax)', true],
      ['total * 2 == 238.24', true],
      ['10 - rate == -9', true],
      ['rate % 2 == 1', true],
      ['sum(lines.map(l, l.amount)) == net', true],
      ['sum(lines.map(l, l.amount * l.quantity)) < net', false],
      ['near(net * rate / 100, tax)', true],
      ['near(net, 100)', false],
      ['near(net, 100, 0.2)', true],
      ['lines.all(l, l.amount > 0)', true],
      ['size(lines) == 3', true],
      ['between(rate, 0, 25) && between(date, "2026-01-01", "2026-12-31")', true],
      ['in_order([date, due])', true],
      ['in_order([due, date])', false],
      ['days(date, due) <= 30', true],
      ['date < due', true],
      ['result["net amount"] == 5', true],
      ['number.startsWith("R-")', true],
      ['total > 100 ? rate == 19 : true', true],
    ] as const)
      expect(passed(expression), expression).to.equal(wanted);
  });

  it('know bank accounts and VAT IDs by their check digits', () => {
    expect(passed('is_iban(iban)')).to.equal(true);
    expect(passed('is_iban("DE02 1203 0000 0000 2020 52")')).to.equal(false);
    expect(passed('is_bic("DEUTDEFF")')).to.equal(true);
    expect(passed('is_bic("DEUT")')).to.equal(false);
    expect(passed('is_vat_id(vat_id)')).to.equal(true);
    expect(passed('is_vat_id("DE136695977")')).to.equal(false);
    expect(passed('is_vat_id(number)')).to.equal(false);
  });

  it('say what was wrong with the words of the config, and which members they name', () => {
    expect(outcomeOf('total == net', 'Net and total differ.')).to.deep.equal({
      name: 'c',
      passed: false,
      message: 'Net and total differ.',
      paths: ['/total', '/net'],
    });
  });

  it('cannot be judged if a value is missing, unless they ask whether it is', () => {
    const outcome = outcomeOf('discount < total', 'Too much discount.');
    expect(outcome.passed).to.equal(null);
    expect(outcome.message).to.equal('A value that the check names is missing.');
    expect(passed('discount == null || discount < total')).to.equal(true);
    expect(passed('is_iban(discount)')).to.equal(null);
    expect(passed('lines.all(l, l.tax > 0)')).to.equal(null);
  });

  it('fail if they have no value, and say why', () => {
    for (const expression of [
      'number * 2 == 4',
      'sum(lines) == 1',
      'in_order([number, date])',
      'total',
      'nobody > 1',
    ]) {
      const outcome = outcomeOf(expression);
      expect(outcome.passed, expression).to.equal(false);
      expect(outcome.message, expression).to.match(/cannot be evaluated|neither true nor false/);
    }
  });

  it('reach nothing but the result', () => {
    for (const expression of [
      'result.constructor == null',
      'result.__proto__ == null',
      'number.constructor == null',
      'lines.map == null',
      'globalThis == null',
      'process == null',
    ])
      expect(passed(expression), expression).to.not.equal(true);
  });

  it('are refused before anything is evaluated if they can never be judged', () => {
    // One checker for all checks of a config: no expression leaves anything to the next.
    const wrongIn = expressionChecker(FIELDS);
    for (const [expression, why] of [
      ['total >', /Unexpected token/],
      ['totel > 0', /Unknown variable: totel/],
      ['sum(lines)', /type double/],
      ['foo(total)', /found no matching overload/],
      ['"a" + 1 == "b"', /no such overload/],
      [`${'('.repeat(100)}true${')'.repeat(100)}`, /depth/i],
      [Array(400).fill('true').join(' || '), /nodes/i],
    ] as const)
      expect(wrongIn(expression), expression).to.match(why);
    for (const expression of ['total > 0', 'result.total > 0', 'total', 'lines.exists(l, l.amount > 1)'])
      expect(wrongIn(expression), expression).to.equal(undefined);
    expect(expressionChecker(undefined)('anything > 0')).to.equal(undefined);
  });
});
