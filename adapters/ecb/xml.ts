import { XMLParser } from 'fast-xml-parser';
import { z } from 'zod';
import type { FxDay } from '../../domain/fxRates/rates.ts';
import { dayOf, type RateCell } from './days.ts';

const rateCube = z.object({ currency: z.string(), rate: z.string() });
const dayCube = z.object({ time: z.string(), Cube: z.array(rateCube) });
const envelope = z.object({
  Envelope: z.object({ Cube: z.array(z.object({ Cube: z.array(dayCube) })).length(1) }),
});

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseAttributeValue: false,
  parseTagValue: false,
  removeNSPrefix: true,
  processEntities: false,
  isArray: (name) => name === 'Cube',
});

/** Days of an ECB XML file, in its order. Entities are never expanded; a file with a DOCTYPE is refused. */
export const daysOfXml = (text: string): readonly FxDay[] => {
  if (/<!DOCTYPE|<!ENTITY/i.test(text)) throw new Error('a DOCTYPE is not part of the format');
  if (!/<\/[\w:]*Envelope>\s*$/.test(text)) throw new Error('it does not end with its Envelope');
  const parsed = envelope.safeParse(parser.parse(text));
  if (!parsed.success) throw new Error('it has no Envelope with a Cube per day');
  const days = parsed.data.Envelope.Cube[0]?.Cube ?? [];
  return days.map(({ time, Cube }) => {
    const cells = Cube.map(({ currency, rate }): RateCell => [currency, rate]);
    return dayOf(time, cells, `the Cube of ${time}`);
  });
};
